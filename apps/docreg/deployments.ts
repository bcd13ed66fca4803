import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, type RegistryId } from '#document/registry-id.ts'
import { InputError } from './errors.ts'

/** The records next to this program, `<chainId>/<address>.json`, written by the deploy command. */
export const DEPLOYMENTS = new URL('../../deployments/', import.meta.url)

/** A registry that was deployed. */
export type KnownRegistry = {
  chainId: number
  /** The address in lower case. */
  address: Hex
  registry: RegistryId
  /** The keccak256 of its code. */
  codeHash: Hex
  /** The block in which it was created. */
  block: number
}

/**
 * @param folder A folder with a slash at its end.
 * @returns The recorded registries of a chain; if absent, of all chains.
 * @throws {InputError} `unreadable`, naming a damaged record.
 */
export function knownRegistries(folder: URL, chainId?: number): KnownRegistry[] {
  const chains = namesIn(folder, /^[1-9][0-9]*$/).map(Number)
  return chains
    .filter((chain) => chainId === undefined || chain === chainId)
    .flatMap((chain) => {
      const ofChain = new URL(`${chain}/`, folder)
      return namesIn(ofChain, /^0x[0-9a-f]{40}\.json$/).map((name) => {
        const address = name.replace('.json', '') as Hex
        const { codeHash, block } = readRecord(new URL(name, ofChain))
        const registry = formatRegistryId(chain, address)
        return { chainId: chain, address, registry, codeHash, block }
      })
    })
}

function readRecord(file: URL): Pick<KnownRegistry, 'codeHash' | 'block'> {
  let record: unknown
  try {
    record = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // This is then treated as any other text that is not a record.
  }
  const { codeHash, block } = (record ?? {}) as Record<string, unknown>
  if (!/^0x[0-9a-f]{64}$/.test(`${codeHash}`) || !Number.isSafeInteger(block))
    throw new InputError('unreadable', `${fileURLToPath(file)} is not a deployment record`)
  return { codeHash: codeHash as Hex, block: block as number }
}

function namesIn(folder: URL, pattern: RegExp): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => pattern.test(name)) : []
}

/** @returns The only recorded registry of a chain, or why there is not exactly one. */
export function onlyKnownRegistry(
  chainId: number,
): KnownRegistry | { address?: undefined; problem: string } {
  const known = knownRegistries(DEPLOYMENTS, chainId)
  const [only] = known
  if (!only) return { problem: `deployments/ has no registry of chain ${chainId}` }
  if (known.length === 1) return only
  const addresses = known.map(({ address }) => address).join(', ')
  return { problem: `deployments/ has several registries on chain ${chainId}: ${addresses}` }
}
