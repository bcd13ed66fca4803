import { FormatError } from '../../document/errors.ts'
import { fromHex, type Hex } from '../../document/hex.ts'

// Values of Ethereum's JSON-RPC, strictly in the form of its specification
// (ethereum/execution-apis). Every function throws a FormatError `rpc_malformed` for anything else,
// because a lenient reader would take `null` for a zero, and zeros have a meaning.

/** @returns A quantity: hexadecimal without leading zeros. */
export function toQuantity(value: number): Hex {
  return `0x${value.toString(16)}`
}

/** @returns A quantity of at most 2^53 - 1. */
export function readQuantity(value: unknown): number {
  const number = Number(readBigQuantity(value))
  if (!Number.isSafeInteger(number)) throw malformed('the quantity is too large')
  return number
}

/** @returns A quantity of at most 256 bits. */
export function readBigQuantity(value: unknown): bigint {
  return BigInt(matching(/^0x(?:0|[1-9a-f][0-9a-f]{0,63})$/, value))
}

/** @returns A hash, or another word of 32 bytes. */
export function readHash(value: unknown): Hex {
  return matching(/^0x[0-9a-f]{64}$/, value)
}

/**
 * @returns An address in lower case. The input may have an EIP-55 checksum, which is not checked.
 */
export function readAddress(value: unknown): Hex {
  return matching(/^0x[0-9a-fA-F]{40}$/, value).toLowerCase() as Hex
}

/** @returns Bytes of any length, as hexadecimal text. */
export function readHex(value: unknown): Hex {
  const hex = matching(/^0x[0-9a-f]*$/, value)
  if (hex.length % 2 !== 0) throw malformed('the data has an odd number of hexadecimal digits')
  return hex
}

/** @returns Bytes of any length. */
export function readBytes(value: unknown): Uint8Array {
  return fromHex(readHex(value))
}

/** @returns A JSON object with unchecked members. */
export function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('an object is expected')
  return value as Record<string, unknown>
}

/** @returns The results of `readItem` for the items of a JSON array. */
export function readList<T>(value: unknown, readItem: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw malformed('an array is expected')
  return value.map((item) => readItem(item))
}

/** A log of a block. */
export type RpcLog = {
  address: Hex
  topics: Hex[]
  data: Hex
  transactionHash: Hex
  blockHash: Hex
  logIndex: number
}

export function readLog(value: unknown): RpcLog {
  const log = readObject(value)
  return {
    address: readAddress(log.address),
    topics: readList(log.topics, readHash),
    data: readHex(log.data),
    transactionHash: readHash(log.transactionHash),
    blockHash: readHash(log.blockHash),
    logIndex: readQuantity(log.logIndex),
  }
}

function matching(pattern: RegExp, value: unknown): Hex {
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed('invalid JSON-RPC value')
  return value as Hex
}

function malformed(message: string): FormatError {
  return new FormatError('rpc_malformed', message)
}
