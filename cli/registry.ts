import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Hex } from '../document/hex.ts'
import { parseRegistry } from '../verifier/readers/chain.ts'
import { UsageError } from './errors.ts'

/** What came with this program: one file a chain, as the deploy command writes them. */
const DEPLOYMENTS = new URL('../deployments/', import.meta.url)

/** A registry, and the hash of its code (keccak256) where it is known. */
export type TrustedRegistry = { registry: string; codeHash?: Hex }

/**
 * The registry to trust. It never comes from a document, an address or a QR code.
 *
 * @param given CAIP-10 (`eip155:<chainId>:<address>`); a chain (`eip155:<chainId>`), whose registry is in `deployments/`;
 * `undefined` when there is only one deployment to trust.
 * @throws {UsageError} when it names none.
 */
export function trustedRegistry(given: string | undefined): TrustedRegistry {
  const registry = given?.toLowerCase() ?? onlyChain()
  const chain = /^eip155:([1-9][0-9]*)$/.exec(registry)
  if (chain) return deployed(Number(chain[1]))
  try {
    parseRegistry(registry)
    return { registry }
  } catch {
    throw new UsageError(
      '--registry must be eip155:<chainId>:<address>, or eip155:<chainId> of a known deployment',
    )
  }
}

function onlyChain(): string {
  const chains = existsSync(DEPLOYMENTS)
    ? readdirSync(DEPLOYMENTS).filter((name) =>
        /^[1-9][0-9]*\.json$/.test(name),
      )
    : []
  const [chain] = chains
  if (chain === undefined || chains.length > 1)
    throw new UsageError(
      '--registry is required: the registry that you trust, eip155:<chainId>:<address>. Ask the issuer, not the document',
    )
  return `eip155:${chain.replace('.json', '')}`
}

function deployed(chainId: number): TrustedRegistry {
  const file = new URL(`${chainId}.json`, DEPLOYMENTS)
  if (!existsSync(file))
    throw new UsageError(
      `--registry: no deployment on chain ${chainId} is known; name its address, eip155:${chainId}:<address>`,
    )
  const { address, codeHash } = JSON.parse(readFileSync(file, 'utf8'))
  return {
    registry: `eip155:${chainId}:${String(address).toLowerCase()}`,
    codeHash,
  }
}
