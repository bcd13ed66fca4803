import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Modules that a package omits, because they need Hardhat and the contracts.
 * `apps/docreg/registry/checkout.ts` reports this when the import fails.
 */
const WITHOUT_CHECKOUT: Plugin = {
  name: 'without-checkout',
  setup({ onResolve }) {
    onResolve({ filter: /registry\/(deploy|check|roles|costs)\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './checkout-only.js', external: true } : undefined,
    )
  },
}

/** The command imports the verifier from its package, and its version from its own manifest. */
const WITHOUT_LIBRARY: Plugin = {
  name: 'without-library',
  setup({ onResolve }) {
    onResolve({ filter: /^#(client|document|verifier)\// }, ({ path }) => ({
      path: path.replace('#', 'document-registry/internal/').replace(/\.ts$/, '.js'),
      external: true,
    }))
    onResolve({ filter: /^(\.\.\/){2}package\.json$/ }, ({ path }) => ({ path, external: true }))
  },
}

/**
 * Makes one JavaScript file of the command, `apps/docreg/docreg.js`, and one of its worker,
 * `packages/certificates/worker.js`, because Node does not run TypeScript of installed packages.
 */
export async function buildCommand(folder: string): Promise<void> {
  for (const file of ['apps/docreg/docreg', 'packages/certificates/worker'])
    await build({
      absWorkingDir: root,
      entryPoints: [`${file}.ts`],
      outfile: join(folder, `${file}.js`),
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20.19',
      logLevel: 'error',
      plugins: [WITHOUT_CHECKOUT, WITHOUT_LIBRARY],
    })
}
