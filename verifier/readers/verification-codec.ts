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

// Contract ABI by hand, of the calls and the events that a verdict is made of: a general codec is
// larger than the rest of the verifier (docs/design.md). test/unit/verification-codec.test.ts holds
// it against ethers' and the contract's ABI.

/** `verificationOf(uint32,bytes32)` */
const OF = 'b896c9c5'
/** `verificationsOf((uint32,bytes32)[])` */
const OF_MANY = '62820a34'
/** `verificationInBatch(uint32,bytes32,bytes32,uint40,bytes32[])` */
const IN_BATCH = '10ab29b9'
/** `DocumentIssued(bytes32,uint32,address,uint40)` */
export const ISSUED_TOPIC: Hex =
  '0x65379667103851f94eb447586081bd8dcf5f93dbd7e9c7235a99ca62c54430b1'
/** `BatchIssued(bytes32,uint32,address,uint40,bytes32)` */
export const BATCH_ISSUED_TOPIC: Hex =
  '0x5519b623694c63284c5b47a2235ef49988400428f635d7008b61f6b5c9fe7bb9'

const WORD = 32
/** Where the parts of a `Verification` are, in words from its beginning. */
const RECORD = 4
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

/** @returns The calldata of `verificationsOf`. @param keys Of documents that were issued alone. */
export function encodeVerificationsCall(keys: readonly DocumentKey[]): Hex {
  const items = keys.flatMap(({ issuerId, documentHash }) => [toWord(issuerId), documentHash])
  return joined(OF_MANY, toWord(WORD), toWord(keys.length), ...items)
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

/** A reading, and the chain that it is of by its own word. */
export type Verification = { chainId: number; reading: ChainReading }

/**
 * @param data What a node returned for the call.
 * @param issuerId As in the call: the answer does not repeat it.
 * @throws {FormatError} when it is not, to the byte, what Solidity encodes.
 */
export function decodeVerification(data: unknown, issuerId: number): Verification {
  const words = readBytes(data)
  if (uint(words, 0, 53) !== WORD) throw misplaced()
  const { size, ...verification } = readVerification(words.subarray(WORD), issuerId)
  if (words.length !== WORD + size) throw misplaced()
  return verification
}

/**
 * @param data What a node returned for the call of many.
 * @param issuerIds As in the call, in its order.
 * @returns As many, in the same order. They are laid out one after the other: a list whose offsets
 *   name them in another order, or one of them twice, is refused.
 * @throws {FormatError} when it is not, to the byte, what Solidity encodes.
 */
export function decodeVerifications(data: unknown, issuerIds: readonly number[]): Verification[] {
  const words = readBytes(data)
  const count = issuerIds.length
  if (uint(words, 0, 53) !== WORD || uint(words, 1, 53) !== count) throw misplaced()
  // Offsets are counted from the word after the length.
  const list = words.subarray(2 * WORD)
  let end = count * WORD
  const verifications = issuerIds.map((issuerId, i) => {
    if (uint(list, i, 53) !== end) throw misplaced()
    const { size, ...verification } = readVerification(list.subarray(end), issuerId)
    end += size
    return verification
  })
  if (list.length !== end) throw misplaced()
  return verifications
}

/** @param words From its beginning. @returns The bytes that it takes, too. */
function readVerification(words: Uint8Array, issuerId: number): Verification & { size: number } {
  const at = (index: number, bits: number) => uint(words, index, bits)
  if (at(ISSUER_OFFSET, 53) !== ISSUER * WORD) throw misplaced()
  const status = REGISTRY_STATUSES[at(3, 8)]
  if (status === undefined) throw malformed('no such status')
  const { size, ...issuer } = readIssuer(words)
  return {
    chainId: at(0, 53),
    reading: {
      blockNumber: at(1, 53),
      blockTime: at(2, 53),
      status,
      record: readRecordAt(words, RECORD),
      account: readAccount(words, ACCOUNT),
      revoker: readRevoker(words),
      issuer: { id: issuerId, ...issuer },
    },
    size: ISSUER * WORD + size,
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

/** The last part. @returns The bytes that it takes, too. */
function readIssuer(words: Uint8Array): Omit<RegistryIssuer, 'id'> & { size: number } {
  const at = (index: number, bits: number) => uint(words, ISSUER + index, bits)
  const nameAt = ISSUER_HEAD * WORD
  const name = readString(words, ISSUER * WORD + nameAt)
  const uriAt = nameAt + name.size
  const uri = readString(words, ISSUER * WORD + uriAt)
  if (at(0, 53) !== nameAt || at(1, 53) !== uriAt) throw misplaced()
  return {
    name: name.text,
    uri: uri.text,
    documentCount: at(2, 40),
    batchCount: at(3, 40),
    accountCount: at(4, 16),
    changedBlock: at(5, 40),
    closedBlock: at(6, 40),
    size: uriAt + uri.size,
  }
}

/** @throws {FormatError} when it is neither a `DocumentIssued` nor a `BatchIssued`. */
export function decodeIssued({
  topics,
  data,
}: Pick<RpcLog, 'topics' | 'data'>): Pick<IssuedEvent, 'issuerId' | 'account' | 'validUntil'> {
  const [topic, , issuer] = topics
  const ofBatch = topic === BATCH_ISSUED_TOPIC
  if (topics.length !== 3 || !(ofBatch || topic === ISSUED_TOPIC)) throw malformed('another event')
  const count = ofBatch ? 3 : 2
  if (data.length !== count * WORD) throw malformed(`not ${count} words of data`)
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
  const limit = 2 ** bits
  const end = (index + 1) * WORD
  if (words.length < end) throw malformed('too short')
  let value = 0
  for (let i = end - WORD; i < end; i++) {
    value = value * 256 + (words[i] as number)
    // At once: a larger number would not be exact.
    if (value >= limit) throw malformed(`over ${bits} bits`)
  }
  return value
}

/** @param index In words. */
export function address(words: Uint8Array, index: number): Hex {
  const bytes = word(words, index)
  if (bytes.subarray(0, 12).some((byte) => byte !== 0)) throw malformed('over 160 bits')
  return toHex(bytes.subarray(12))
}

/** @param start A multiple of 32. @returns The text, and the bytes that it takes with length and padding. */
function readString(words: Uint8Array, start: number): { text: string; size: number } {
  const length = uint(words, start / WORD, 53)
  const size = WORD + Math.ceil(length / WORD) * WORD
  const padded = words.subarray(start + WORD, start + size)
  if (padded.length !== size - WORD) throw malformed('too short')
  if (padded.subarray(length).some((byte) => byte !== 0)) throw malformed('padding is not zero')
  return { text: decodeUtf8(padded.subarray(0, length)), size }
}

function misplaced(): FormatError {
  return malformed('not laid out as Solidity does')
}

function malformed(message: string): FormatError {
  return new FormatError('abi_malformed', message)
}
