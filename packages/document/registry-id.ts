import { FormatError } from './errors.ts'
import type { Hex } from './hex.ts'

/** A registry by chain and address, as a lower-case CAIP-10 account ID of namespace eip155. */
export type RegistryId = `eip155:${number}:${Hex}`

const REGISTRY_ID = /^eip155:([1-9][0-9]{0,31}):(0x[0-9a-f]{40})$/
/** A CAIP-2 chain ID of namespace eip155. */
const CHAIN = /^eip155:([1-9][0-9]{0,31})$/

/**
 * @example
 * ```ts
 * isRegistryId(registry) // => true
 * isRegistryId('0x00') // => false
 * ```
 */
export function isRegistryId(value: unknown): value is RegistryId {
  return typeof value === 'string' && REGISTRY_ID.test(value)
}

/**
 * @throws {FormatError} `registry_malformed` when it is not a lower-case CAIP-10 account ID of
 * namespace eip155.
 *
 * @example
 * ```ts
 * parseRegistryId(`eip155:1:0x${'ab'.repeat(20)}`).chainId // => 1
 * ```
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

/**
 * @param address An address with or without its EIP-55 checksum.
 *
 * @example
 * ```ts
 * formatRegistryId(1, `0x${'Ab'.repeat(20)}`) // => `eip155:1:0x${'ab'.repeat(20)}`
 * ```
 */
export function formatRegistryId(chainId: number, address: string): RegistryId {
  return `eip155:${chainId}:${address.toLowerCase() as Hex}`
}

/** @returns The id of a chain (`eip155:<chainId>`); `undefined` for every other text. */
export function parseChain(text: string): number | undefined {
  const [, chainId] = CHAIN.exec(text) ?? []
  return chainId === undefined ? undefined : Number(chainId)
}

/** @returns The CAIP-10 account ID of an account on a chain. */
export function formatAccount(chainId: number, account: string): string {
  return `${formatChain(chainId)}:${account}`
}

/** @returns The CAIP-2 chain ID of a chain. */
export function formatChain(chainId: number): string {
  return `eip155:${chainId}`
}
