import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const ENTRY = fileURLToPath(new URL('../cli/docreg.ts', import.meta.url))

/**
 * Makes one JavaScript file of the command: Node does not run TypeScript of installed packages.
 *
 * @param outfile Must be in a folder beside `deployments/`, as `cli/` is; packages resolve from
 * there.
 */
export async function buildCommand(outfile: string): Promise<void> {
  await build({
    entryPoints: [ENTRY],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  })
}
