import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ENTRY = fileURLToPath(new URL('../cli/docreg.ts', import.meta.url))
/** The worker runs in its own process. */
const WORKER = fileURLToPath(new URL('../certificates/worker.ts', import.meta.url))

/**
 * Modules that a package omits, because they need Hardhat and the contracts.
 * `cli/registry/checkout.ts` reports this when the import fails.
 */
const WITHOUT_CHECKOUT: Plugin = {
  name: 'without-checkout',
  setup({ onResolve }) {
    onResolve({ filter: /registry\/(deploy|check|roles|costs)\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './checkout-only.js', external: true } : undefined,
    )
  },
}

/**
 * Makes one JavaScript file of the command, and one of its worker in `../certificates/`, because
 * Node does not run TypeScript of installed packages.
 *
 * @param outfile Must be in a folder next to `deployments/`, like `cli/`. Packages are resolved
 * from there.
 */
export async function buildCommand(outfile: string): Promise<void> {
  await bundle(ENTRY, outfile)
  await bundle(WORKER, join(dirname(outfile), '..', 'certificates', 'worker.js'))
}

async function bundle(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    plugins: [WITHOUT_CHECKOUT],
  })
}
