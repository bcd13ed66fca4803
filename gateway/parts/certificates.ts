import { packCache } from '#certificates/packs.ts'
import { openPress, type Press } from '#certificates/press.ts'
import type { Config } from '#settings/config.ts'
import { networkOf } from '#verifier/network.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import type { Identity } from './chain.ts'

/**
 * @returns The part that prints certificates. `undefined` for documents that count without a
 * template of their issuer, because those of `docreg` name an office that does not exist.
 * @throws {CertificateError} when a template is wrong.
 */
export function openCertificates(
  { certificatePacks, certificateTemplates, liveChains }: Config,
  { registry }: Identity,
): Press | undefined {
  const network = networkOf(parseRegistry(registry).chainId, liveChains)
  if (certificateTemplates === undefined && network !== 'test') return undefined
  return openPress(certificatePacks ?? packCache({}), certificateTemplates)
}
