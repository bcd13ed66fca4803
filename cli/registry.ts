import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Hex } from '../document/hex.ts'
import {
  formatRegistryId,
  isRegistryId,
  parseChain,
  type RegistryId,
} from '../document/registry-id.ts'
import { UsageError } from './errors.ts'

/** The deployments shipped with this program: one file per chain, from the deploy command. */
const DEPLOYMENTS = new URL('../deployments/', import.meta.url)

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
 * @param given CAIP-10 (`eip155:<chainId>:<address>`); a chain (`eip155:<chainId>`), whose registry
 * is in `deployments/`; `undefined` when there is only one deployment to trust.
 * @param deployments The folder, with a slash at its end.
 * @throws {UsageError} when it names none.
 */
export function trustedRegistry(
  given: string | undefined,
  deployments = DEPLOYMENTS,
): TrustedRegistry {
  const registry = given?.toLowerCase()
  if (isRegistryId(registry)) return { registry }
  const chainId = registry === undefined ? onlyChain(deployments) : parseChain(registry)
  if (chainId !== undefined) return deployed(chainId, deployments)
  throw new UsageError(
    '--registry must be eip155:<chainId>:<address>, or eip155:<chainId> of a known deployment',
  )
}

function onlyChain(deployments: URL): number {
  const chains = existsSync(deployments)
    ? readdirSync(deployments).filter((name) => /^[1-9][0-9]*\.json$/.test(name))
    : []
  const [chain] = chains
  if (chain === undefined || chains.length > 1)
    throw new UsageError(
      '--registry is required: the registry that you trust, eip155:<chainId>:<address>. Ask the issuer, not the document',
    )
  return Number(chain.replace('.json', ''))
}

function deployed(chainId: number, deployments: URL): TrustedRegistry {
  const file = new URL(`${chainId}.json`, deployments)
  if (!existsSync(file))
    throw new UsageError(
      `--registry: no deployment on chain ${chainId} is known; name its address, eip155:${chainId}:<address>`,
    )
  const { address, codeHash, block } = JSON.parse(readFileSync(file, 'utf8'))
  return {
    registry: formatRegistryId(chainId, String(address)),
    codeHash,
    ...(Number.isSafeInteger(block) && { deployedIn: block }),
  }
}
