import { keccak_256 } from '@noble/hashes/sha3.js'
import { FormatError } from '../../document/errors.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { readBigQuantity, readBytes } from '../readers/rpc-codec.ts'
import { invalid } from './invalid.ts'
import { decodeRlp, encodeRlp } from './rlp.ts'

/** The fields of a block's header that a verifier needs. */
export type Header = {
  blockNumber: number
  blockHash: Hex
  /** Seconds of the Unix epoch. */
  blockTime: number
  /** 32 bytes. */
  stateRoot: Uint8Array
}

const STATE_ROOT = 3
const NUMBER = 8
const TIMESTAMP = 11
/** The number of fields in every header. Forks append more, which are hashed but not read. */
const FIELDS = 15
/**
 * The maximum size in bytes. Real headers have some hundred, those with the signatures of many
 * validators some thousand.
 */
const MAX_HEADER = 64 * 1024

/**
 * @param rlp The bytes that Ethereum hashes, at most 64 KiB; fields that later forks append are
 * accepted.
 * @throws {FormatError} when it is not a header.
 */
export function decodeHeader(rlp: Hex): Header {
  const bytes = fromHex(rlp)
  // The header is decoded before its hash is known to be trusted, and millions of items would take
  // gigabytes.
  if (bytes.length > MAX_HEADER) throw invalid('the block header is too long')
  const fields = decodeRlp(bytes)
  if (fields instanceof Uint8Array || fields.length < FIELDS) throw invalid('invalid block header')
  const { [STATE_ROOT]: root, [NUMBER]: number, [TIMESTAMP]: time } = fields
  if (!(root instanceof Uint8Array) || root.length !== 32) throw invalid('invalid block header')
  return {
    blockNumber: integer(number),
    blockHash: toHex(keccak_256(bytes)),
    blockTime: integer(time),
    stateRoot: root,
  }
}

/** Reads a big-endian number without leading zeros, of at most 48 bits. */
function integer(item: unknown): number {
  if (!(item instanceof Uint8Array) || item.length > 6 || item[0] === 0)
    throw invalid('invalid number in the block header')
  return item.reduce((sum, byte) => sum * 256 + byte, 0)
}

const HEADER = [
  'parentHash',
  'sha3Uncles',
  'miner',
  'stateRoot',
  'transactionsRoot',
  'receiptsRoot',
  'logsBloom',
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'extraData',
  'mixHash',
  'nonce',
  // The fields of London, Shanghai, Cancun (three), Prague, and Amsterdam (EIP-7928, EIP-7843).
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
  'blockAccessListHash',
  'slotNumber',
] as const
const QUANTITIES: readonly string[] = [
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
  'slotNumber',
]

/**
 * @param block A result of `eth_getBlockByNumber`.
 * @returns The RLP of its header; `undefined` when its hash is not that of the block, because the
 * header has unknown fields or the node omits some.
 */
export function encodeHeader(block: Record<string, unknown>): Hex | undefined {
  try {
    const present = HEADER.filter((name) => typeof block[name] === 'string')
    const rlp = encodeRlp(present.map((name) => encodeField(name, block[name])))
    return toHex(keccak_256(rlp)) === block.hash ? toHex(rlp) : undefined
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

function encodeField(name: string, value: unknown): Uint8Array {
  if (!QUANTITIES.includes(name)) return readBytes(value)
  const number = readBigQuantity(value)
  if (number === 0n) return new Uint8Array()
  const digits = number.toString(16)
  return fromHex(`0x${digits.length % 2 === 0 ? '' : '0'}${digits}`)
}
