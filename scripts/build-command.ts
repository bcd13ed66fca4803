import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ENTRY = fileURLToPath(new URL('../cli/docreg.ts', import.meta.url))
/** A process of its own. */
const WORKER = fileURLToPath(new URL('../certificates/worker.ts', import.meta.url))

/**
 * What a package leaves out, since it needs Hardhat and the contracts: `cli/registry/checkout.ts`
 * says so when the import fails.
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
 * Makes one JavaScript file of the command, and one of its worker in `../certificates/`: Node does
 * not run TypeScript of installed packages.
 *
 * @param outfile Must be in a folder beside `deployments/`, as `cli/` is; packages resolve from
 * there.
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
