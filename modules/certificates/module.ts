import { packCache } from '#certificates/packs.ts'
import { openPress, type Press } from '#certificates/press.ts'
import { bind } from '#http/core/operation.ts'
import type { Identity } from '#parts/chain.ts'
import type { Core, Module } from '#parts/module.ts'
import type { Config } from '#settings/config.ts'
import { networkOf } from '#verifier/network.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { certificateRoutes } from './routes.ts'

/** Documents as PDF, for print. */
export const certificatesModule: Module = {
  name: 'certificates',
  tables: [],
  resources: [certificateRoutes],
  open({ config, identity }: Pick<Core, 'config' | 'identity'>) {
    const press = openCertificates(config, identity)
    return {
      serve: (deps) => ({ resources: bind([certificateRoutes], { ...deps, press }) }),
      close: () => press?.close(),
    }
  },
}

/**
 * @returns The part that prints certificates. `undefined` for documents that count without a
 * template of their issuer, because those of `docreg` name an office that does not exist.
 * @throws {CertificateError} when a template is wrong.
 */
export function openCertificates(
  { certificatePacks, certificateTemplates, liveChains }: Config,
  { registry }: Pick<Identity, 'registry'>,
): Press | undefined {
  const network = networkOf(parseRegistry(registry).chainId, liveChains)
  if (certificateTemplates === undefined && network !== 'test') return undefined
  return openPress(certificatePacks ?? packCache({}), certificateTemplates)
}
