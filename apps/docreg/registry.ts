import type { Hex } from '#document/hex.ts'
import { isRegistryId, parseChain, type RegistryId } from '#document/registry-id.ts'
import { DEPLOYMENTS, type KnownRegistry, knownRegistries } from './deployments.ts'
import { UsageError } from './errors.ts'

/** A registry, and the hash of its code (keccak256) if known. */
export type TrustedRegistry = {
  registry: RegistryId
  codeHash?: Hex
  /** The block in which it was deployed, if known. */
  deployedIn?: number
}

/**
 * The registry to trust. It never comes from a document, an address or a QR code.
 *
 * @param given A CAIP-10 account ID (`eip155:<chainId>:<address>`); a chain (`eip155:<chainId>`)
 * for which `deployments/` has one registry; `undefined` if it has only one for all chains.
 * @param deployments A folder with a slash at its end.
 * @throws {UsageError} when it names none, or several.
 */
export function trustedRegistry(
  given: string | undefined,
  deployments = DEPLOYMENTS,
): TrustedRegistry {
  const registry = given?.toLowerCase()
  if (isRegistryId(registry)) {
    const known = knownRegistries(deployments).find((one) => one.registry === registry)
    return known ? trusted(known) : { registry }
  }
  const chainId = registry === undefined ? undefined : parseChain(registry)
  if (registry !== undefined && chainId === undefined)
    throw new UsageError(
      '--registry must be eip155:<chainId>:<address>, or eip155:<chainId> for a known deployment',
    )
  const known = knownRegistries(deployments, chainId)
  const [only] = known
  if (known.length > 1) {
    const names = known.map((one) => one.registry).join(', ')
    throw new UsageError(
      `--registry: several registries are known on this chain; name one of ${names}`,
    )
  }
  if (only) return trusted(only)
  throw new UsageError(
    chainId === undefined
      ? '--registry is required: the registry that you trust, eip155:<chainId>:<address>. Ask the issuer, not the document'
      : `--registry: no deployment on chain ${chainId} is known; name its address, eip155:${chainId}:<address>`,
  )
}

function trusted({ registry, codeHash, block }: KnownRegistry): TrustedRegistry {
  return { registry, codeHash, ...(Number.isSafeInteger(block) && { deployedIn: block }) }
}
