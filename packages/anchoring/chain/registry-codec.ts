import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryRecord } from '#verifier/ports.ts'

// ABI encoding of the four calls with whole lists. They consist only of 32-byte words, and the
// general codec of ethers takes many times as long (docs/performance.md).
// test/packages/anchoring/chain/registry-codec.test.ts compares the results.

const ISSUE_MANY = selectorOf('issueMany')
const REVOKE_MANY = selectorOf('revokeMany')
const RELEASE_MANY = selectorOf('releaseMany')
const RECORDS_OF = selectorOf('recordsOf')
/** The number of bytes in a word. */
const WORD = 32
/** The number of hexadecimal digits in a word. */
const DIGITS = 2 * WORD
/** The fields of the contract's `Record` in order, one word each, with their widths in bits. */
const FIELDS = [
  ['accountIndex', 16],
  ['anchoredBlock', 40],
  ['anchoredAt', 40],
  ['validUntil', 40],
  ['revokerIndex', 16],
  ['revokedBlock', 40],
  ['revokedAt', 40],
  ['reason', 8],
  ['setAside', 1],
] as const satisfies [keyof RegistryRecord, bits: number][]

/** @returns The calldata of `issueMany(uint32, bytes32[], uint40[])`. */
export function encodeIssueMany(
  issuerId: number,
  documentHashes: readonly Hex[],
  expiries: readonly number[],
): Hex {
  const first = 3 * WORD
  const second = first + WORD * (1 + documentHashes.length)
  return `${ISSUE_MANY}${word(issuerId)}${word(first)}${word(second)}${array(documentHashes)}${word(expiries.length)}${expiries.map(word).join('')}`
}

/** @returns The calldata of `revokeMany(uint32, bytes32[], uint8)`. */
export function encodeRevokeMany(
  issuerId: number,
  documentHashes: readonly Hex[],
  reason: number,
): Hex {
  return `${REVOKE_MANY}${word(issuerId)}${word(3 * WORD)}${word(reason)}${array(documentHashes)}`
}

/** @returns The calldata of `releaseMany(uint32, bytes32[])`. */
export function encodeReleaseMany(issuerId: number, documentHashes: readonly Hex[]): Hex {
  return `${RELEASE_MANY}${word(issuerId)}${word(2 * WORD)}${array(documentHashes)}`
}

/** @returns The calldata of `recordsOf(uint32, bytes32[])`. */
export function encodeRecordsOf(issuerId: number, documentHashes: readonly Hex[]): Hex {
  return `${RECORDS_OF}${word(issuerId)}${word(2 * WORD)}${array(documentHashes)}`
}

/**
 * @param result The result of `recordsOf` for `count` hashes.
 * @throws {RangeError} when the result is malformed.
 */
export function decodeRecords(result: string, count: number): RegistryRecord[] {
  const head = `0x${word(WORD)}${word(count)}`
  const size = FIELDS.length * DIGITS
  if (!result.startsWith(head) || result.length !== head.length + count * size)
    throw new RangeError(`the answer must have ${count} records`)
  return Array.from({ length: count }, (_, i) => decodeRecord(result, head.length + i * size))
}

function decodeRecord(result: string, start: number): RegistryRecord {
  const entries = FIELDS.map(([field, bits], i) => {
    const at = start + i * DIGITS
    const value = Number(`0x${result.slice(at, at + DIGITS)}`)
    if (!(value < 2 ** bits)) throw new RangeError(`${field} has more than ${bits} bits`)
    return [field, bits === 1 ? value === 1 : value]
  })
  return Object.fromEntries(entries)
}

function selectorOf(name: string): Hex {
  const selector = registryAbi.getFunction(name)?.selector
  if (selector === undefined) throw new TypeError(`the ABI has no function ${name}`)
  return selector as Hex
}

function array(words: readonly Hex[]): string {
  return `${word(words.length)}${words.map((hex) => hex.slice(2)).join('')}`
}

function word(value: number): string {
  return value.toString(16).padStart(DIGITS, '0')
}
