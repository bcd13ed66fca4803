import { decodeUtf8 } from '../../document/bytes.ts'
import { FormatError } from '../../document/errors.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import {
  type ChainReading,
  type IssuedEvent,
  REGISTRY_STATUSES,
  type RegistryRecord,
} from '../ports.ts'
import { type RpcLog, readBytes } from './rpc-codec.ts'

// Contract ABI by hand, of the one call and the one event that a verdict is made of: a general codec is larger than the rest of
// the verifier (docs/design.md). test/unit/verification-codec.test.ts holds it against ethers' and the contract's ABI.

/** `verificationOf(bytes32)` */
const SELECTOR = 'd1e30da4'
/** `DocumentIssued(bytes32,uint32,address,uint40)` */
export const ISSUED_TOPIC: Hex =
  '0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1'

const WORD = 32
/** Words of a `Verification` before its strings. */
const HEAD = 16

/** @param documentHash 32 bytes. @returns The calldata of `verificationOf`. */
export function encodeVerificationCall(documentHash: Hex): Hex {
  return `0x${SELECTOR}${documentHash.slice(2)}`
}

/**
 * @param data What a node returned for `verificationOf`.
 * @throws {FormatError} when it is not, to the byte, what Solidity encodes.
 */
export function decodeVerification(data: unknown): {
  chainId: number
  reading: ChainReading
} {
  const words = readBytes(data)
  const at = (index: number, bits: number) => uint(words, 1 + index, bits)
  const nameAt = HEAD * WORD
  const name = readString(words, nameAt)
  const uri = readString(words, nameAt + name.size)
  const laidOut =
    uint(words, 0, 53) === WORD &&
    at(13, 53) === nameAt &&
    at(14, 53) === nameAt + name.size &&
    words.length === WORD + nameAt + name.size + uri.size
  if (!laidOut) throw malformed('not laid out as Solidity does')
  at(15, 40)
  const status = REGISTRY_STATUSES[at(3, 8)]
  if (status === undefined) throw malformed('no such status')
  return {
    chainId: at(0, 53),
    reading: {
      blockNumber: at(1, 53),
      blockTime: at(2, 53),
      status,
      record: {
        issuerId: at(4, 32),
        accountIndex: at(5, 16),
        anchoredBlock: at(6, 40),
        anchoredAt: at(7, 40),
        validUntil: at(8, 40),
        revokedBlock: at(9, 40),
        revokedAt: at(10, 40),
        reason: at(11, 8),
      } satisfies RegistryRecord,
      issuer: {
        account: address(words, 1 + 12),
        name: name.text,
        uri: uri.text,
      },
    },
  }
}

/** @throws {FormatError} when it is not a `DocumentIssued`. */
export function decodeIssued({
  topics,
  data,
}: Pick<RpcLog, 'topics' | 'data'>): Pick<
  IssuedEvent,
  'issuerId' | 'account' | 'validUntil'
> {
  const [topic, , issuer] = topics
  if (topics.length !== 3 || topic !== ISSUED_TOPIC)
    throw malformed('another event')
  if (data.length !== 2 * WORD) throw malformed('not two words of data')
  return {
    issuerId: uint(readBytes(issuer), 0, 32),
    account: address(data, 0),
    validUntil: uint(data, 1, 40),
  }
}

function word(words: Uint8Array, index: number): Uint8Array {
  const bytes = words.subarray(index * WORD, (index + 1) * WORD)
  if (bytes.length !== WORD) throw malformed('too short')
  return bytes
}

/** @param bits At most 53, so that the number is exact. */
function uint(words: Uint8Array, index: number, bits: number): number {
  const value = BigInt(toHex(word(words, index)))
  if (value >> BigInt(bits) !== 0n) throw malformed(`over ${bits} bits`)
  return Number(value)
}

function address(words: Uint8Array, index: number): Hex {
  const bytes = word(words, index)
  if (bytes.subarray(0, 12).some((byte) => byte !== 0))
    throw malformed('over 160 bits')
  return toHex(bytes.subarray(12))
}

/** @param offset Bytes from the beginning of the tuple. @returns The text, and the bytes that it takes with length and padding. */
function readString(
  words: Uint8Array,
  offset: number,
): { text: string; size: number } {
  const start = WORD + offset
  const length = uint(words, start / WORD, 53)
  const size = WORD + Math.ceil(length / WORD) * WORD
  const padded = words.subarray(start + WORD, start + size)
  if (padded.length !== size - WORD) throw malformed('too short')
  if (padded.subarray(length).some((byte) => byte !== 0))
    throw malformed('padding is not zero')
  return { text: decodeUtf8(padded.subarray(0, length)), size }
}

function malformed(message: string): FormatError {
  return new FormatError('abi_malformed', message)
}
