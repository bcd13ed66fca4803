import { decodeUtf8 } from '../../document/bytes.ts'
import { FormatError } from '../../document/errors.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import {
  type BatchPath,
  type ChainReading,
  type DocumentKey,
  type IssuedEvent,
  REGISTRY_STATUSES,
  type RegistryAccount,
  type RegistryIssuer,
  type RegistryRecord,
} from '../ports.ts'
import { type RpcLog, readBytes } from './rpc-codec.ts'

// Contract ABI by hand, of the one call and the one event that a verdict is made of: a general codec is larger than the rest of
// the verifier (docs/design.md). test/unit/verification-codec.test.ts holds it against ethers' and the contract's ABI.

/** `verificationOf(uint32,bytes32)` */
const OF = 'b896c9c5'
/** `verificationInBatch(uint32,bytes32,bytes32,uint40,bytes32[])` */
const IN_BATCH = '10ab29b9'
/** `DocumentIssued(bytes32,uint32,address,uint40)` */
export const ISSUED_TOPIC: Hex =
  '0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1'
/** `BatchIssued(bytes32,uint32,address,uint40,bytes32)` */
export const BATCH_ISSUED_TOPIC: Hex =
  '0x5519b623694c63284c5b47a2235ef49988400428f635d7008b61f6b5c9fe7bb9'

const WORD = 32
/** Where the parts of a `Verification` are, in words from the beginning of the answer. */
const TUPLE = 1
const RECORD = TUPLE + 4
const ACCOUNT = RECORD + 9
const REVOKER = ACCOUNT + 7
const ISSUER_OFFSET = REVOKER + 7
const ISSUER = ISSUER_OFFSET + 1
/** Words of the issuer before its strings. */
const ISSUER_HEAD = 7

/** @returns The calldata of `verificationOf`, or of `verificationInBatch`. */
export function encodeVerificationCall(key: DocumentKey): Hex {
  const { issuerId, documentHash, batch } = key
  const issuer = toWord(issuerId)
  return batch
    ? joined(IN_BATCH, issuer, batch.root, documentHash, ...tailOf(batch))
    : joined(OF, issuer, documentHash)
}

/** The expiry, where the proof begins, how long it is, and the proof. */
function tailOf({ validUntil, proof }: BatchPath): Hex[] {
  const length = proof.length / WORD
  return [toWord(validUntil), toWord(5 * WORD), toWord(length), toHex(proof)]
}

/** @returns Calldata. */
export function joined(selector: string, ...words: Hex[]): Hex {
  return `0x${selector}${words.map((hex) => hex.slice(2)).join('')}`
}

/** @returns A number as 32 bytes. */
export function toWord(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`
}

/**
 * @param data What a node returned for the call.
 * @param issuerId As in the call: the answer does not repeat it.
 * @throws {FormatError} when it is not, to the byte, what Solidity encodes.
 */
export function decodeVerification(
  data: unknown,
  issuerId: number,
): { chainId: number; reading: ChainReading } {
  const words = readBytes(data)
  const at = (index: number, bits: number) => uint(words, index, bits)
  if (at(0, 53) !== WORD || at(ISSUER_OFFSET, 53) !== (ISSUER - TUPLE) * WORD)
    throw malformed('not laid out as Solidity does')
  const status = REGISTRY_STATUSES[at(TUPLE + 3, 8)]
  if (status === undefined) throw malformed('no such status')
  return {
    chainId: at(TUPLE, 53),
    reading: {
      blockNumber: at(TUPLE + 1, 53),
      blockTime: at(TUPLE + 2, 53),
      status,
      record: readRecordAt(words, RECORD),
      account: readAccount(words, ACCOUNT),
      revoker: readRevoker(words),
      issuer: { id: issuerId, ...readIssuer(words) },
    },
  }
}

/** @param from In words. */
export function readRecordAt(words: Uint8Array, from: number): RegistryRecord {
  const at = (index: number, bits: number) => uint(words, from + index, bits)
  return {
    accountIndex: at(0, 16),
    anchoredBlock: at(1, 40),
    anchoredAt: at(2, 40),
    validUntil: at(3, 40),
    revokerIndex: at(4, 16),
    revokedBlock: at(5, 40),
    revokedAt: at(6, 40),
    reason: at(7, 8),
    setAside: at(8, 1) === 1,
  }
}

function readAccount(words: Uint8Array, from: number): RegistryAccount {
  const at = (index: number, bits: number) => uint(words, from + index, bits)
  return {
    account: address(words, from),
    accountIndex: at(1, 16),
    permissions: at(2, 8),
    addedBlock: at(3, 40),
    changedBlock: at(4, 40),
    retiredBlock: at(5, 40),
    distrustedFrom: at(6, 40),
  }
}

/** @returns `null` where all of it is zero. */
function readRevoker(words: Uint8Array): RegistryAccount | null {
  const part = words.subarray(REVOKER * WORD, ISSUER_OFFSET * WORD)
  return part.some((byte) => byte !== 0) ? readAccount(words, REVOKER) : null
}

/** The last part, which ends where the answer does. */
function readIssuer(words: Uint8Array): Omit<RegistryIssuer, 'id'> {
  const at = (index: number, bits: number) => uint(words, ISSUER + index, bits)
  const nameAt = ISSUER_HEAD * WORD
  const name = readString(words, ISSUER * WORD + nameAt)
  const uriAt = nameAt + name.size
  const uri = readString(words, ISSUER * WORD + uriAt)
  const laidOut =
    at(0, 53) === nameAt &&
    at(1, 53) === uriAt &&
    words.length === ISSUER * WORD + uriAt + uri.size
  if (!laidOut) throw malformed('not laid out as Solidity does')
  return {
    name: name.text,
    uri: uri.text,
    documentCount: at(2, 40),
    batchCount: at(3, 40),
    accountCount: at(4, 16),
    changedBlock: at(5, 40),
    closedBlock: at(6, 40),
  }
}

/** @throws {FormatError} when it is neither a `DocumentIssued` nor a `BatchIssued`. */
export function decodeIssued({
  topics,
  data,
}: Pick<RpcLog, 'topics' | 'data'>): Pick<
  IssuedEvent,
  'issuerId' | 'account' | 'validUntil'
> {
  const [topic, , issuer] = topics
  const ofBatch = topic === BATCH_ISSUED_TOPIC
  if (topics.length !== 3 || !(ofBatch || topic === ISSUED_TOPIC))
    throw malformed('another event')
  const count = ofBatch ? 3 : 2
  if (data.length !== count * WORD)
    throw malformed(`not ${count} words of data`)
  // The expiry of a document, the size of a batch.
  const limit = uint(data, 1, 40)
  return {
    issuerId: uint(readBytes(issuer), 0, 32),
    account: address(data, 0),
    validUntil: ofBatch ? null : limit,
  }
}

function word(words: Uint8Array, index: number): Uint8Array {
  const bytes = words.subarray(index * WORD, (index + 1) * WORD)
  if (bytes.length !== WORD) throw malformed('too short')
  return bytes
}

/** @param bits At most 53, so that the number is exact. */
export function uint(words: Uint8Array, index: number, bits: number): number {
  const value = BigInt(toHex(word(words, index)))
  if (value >> BigInt(bits) !== 0n) throw malformed(`over ${bits} bits`)
  return Number(value)
}

/** @param index In words. */
export function address(words: Uint8Array, index: number): Hex {
  const bytes = word(words, index)
  if (bytes.subarray(0, 12).some((byte) => byte !== 0))
    throw malformed('over 160 bits')
  return toHex(bytes.subarray(12))
}

/** @param start A multiple of 32. @returns The text, and the bytes that it takes with length and padding. */
function readString(
  words: Uint8Array,
  start: number,
): { text: string; size: number } {
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
