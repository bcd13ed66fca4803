import { FormatError } from './errors.ts'
import type { Hex } from './hex.ts'

/** CAIP-10 of eip155, lower case: `eip155:<chainId>:<address>`. */
export const REGISTRY_ID = /^eip155:([1-9][0-9]{0,31}):(0x[0-9a-f]{40})$/

/** @throws {FormatError} `registry_malformed` when it is not a CAIP-10 account of eip155 in lower case. */
export function parseRegistryId(registry: string): {
  chainId: number
  address: Hex
} {
  const match = REGISTRY_ID.exec(registry)
  if (!match)
    throw new FormatError('registry_malformed', 'registry: not CAIP-10 of eip155, lower case')
  return { chainId: Number(match[1]), address: match[2] as Hex }
}
