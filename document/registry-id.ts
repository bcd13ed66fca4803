import { FormatError } from './errors.ts'
import type { Hex } from './hex.ts'

/** A registry by chain and address, as CAIP-10 of eip155 in lower case. */
export type RegistryId = `eip155:${number}:${Hex}`

const REGISTRY_ID = /^eip155:([1-9][0-9]{0,31}):(0x[0-9a-f]{40})$/
/** CAIP-2 of eip155. */
const CHAIN = /^eip155:([1-9][0-9]{0,31})$/

export function isRegistryId(value: unknown): value is RegistryId {
  return typeof value === 'string' && REGISTRY_ID.test(value)
}

/**
 * @throws {FormatError} `registry_malformed` when it is not a CAIP-10 account of eip155 in lower
 * case.
 */
export function parseRegistryId(text: string): {
  registry: RegistryId
  chainId: number
  address: Hex
} {
  const match = REGISTRY_ID.exec(text)
  if (!match)
    throw new FormatError(
      'registry_malformed',
      'registry must be a lower-case CAIP-10 account ID, eip155:<chainId>:<address>',
    )
  const [registry, chainId, address] = match
  return { registry: registry as RegistryId, chainId: Number(chainId), address: address as Hex }
}

/** @param address With the checksum of EIP-55 or without it. */
export function formatRegistryId(chainId: number, address: string): RegistryId {
  return `eip155:${chainId}:${address.toLowerCase() as Hex}`
}

/** @returns The number of a chain (`eip155:<chainId>`); `undefined` for every other text. */
export function parseChain(text: string): number | undefined {
  const [, chainId] = CHAIN.exec(text) ?? []
  return chainId === undefined ? undefined : Number(chainId)
}

/** @returns An account on a chain, CAIP-10. */
export function formatAccount(chainId: number, account: string): string {
  return `${formatChain(chainId)}:${account}`
}

/** @returns A chain, CAIP-2. */
export function formatChain(chainId: number): string {
  return `eip155:${chainId}`
}
