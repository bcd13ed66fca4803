// The command as plain JavaScript, dist/docreg.js: Node does not run TypeScript of installed packages. `npm pack` makes it.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (name: string) =>
  fileURLToPath(new URL(`../${name}`, import.meta.url))

/** Where the package's `bin` points. */
export const COMMAND = path('dist/docreg.js')

/** @returns When it is written. */
export async function buildCommand(): Promise<void> {
  await build({
    entryPoints: [path('cli/docreg.ts')],
    outfile: COMMAND,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // It finds its WebAssembly beside itself, and is only loaded for pictures.
    external: ['zxing-wasm'],
    legalComments: 'none',
    logLevel: 'error',
  })
}

if (import.meta.main) await buildCommand()
