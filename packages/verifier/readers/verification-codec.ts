import { decodeAnyUtf8 } from '../../document/bytes.ts'
import { FormatError } from '../../document/errors.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
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
import { type RpcLog, readHex } from './rpc-codec.ts'

// A hand-written ABI codec for the calls and events behind a verdict, because a general codec is
// larger than the rest of the verifier (docs/design.md).
// test/packages/verifier/verification-codec.test.ts compares it with ethers and the contract's ABI.

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

/** The number of bytes in a word. */
const WORD = 32
/** The number of hexadecimal digits in a word. */
export const DIGITS = 2 * WORD
/** The offsets of the parts of a `Verification`, in words from its beginning. */
const RECORD = 4
const ACCOUNT = RECORD + 9
const REVOKER = ACCOUNT + 7
const ISSUER_OFFSET = REVOKER + 7
const ISSUER = ISSUER_OFFSET + 1
/** The number of the issuer's words before its strings. */
const ISSUER_HEAD = 7

/** @returns The calldata of `verificationOf`, or of `verificationInBatch`. */
export function encodeVerificationCall(key: DocumentKey): Hex {
  const { issuerId, documentHash, batch } = key
  const issuer = toWord(issuerId)
  return batch
    ? joined(IN_BATCH, issuer, batch.root, documentHash, ...tailOf(batch))
    : joined(OF, issuer, documentHash)
}

/** @returns The calldata of `verificationsOf`. @param keys Documents that were issued alone. */
export function encodeVerificationsCall(keys: readonly DocumentKey[]): Hex {
  const items = keys.flatMap(({ issuerId, documentHash }) => [toWord(issuerId), documentHash])
  return joined(OF_MANY, toWord(WORD), toWord(keys.length), ...items)
}

/** @returns The expiry, the offset and length of the proof, and the proof. */
function tailOf({ validUntil, proof }: BatchPath): Hex[] {
  const length = proof.length / WORD
  return [toWord(validUntil), toWord(5 * WORD), toWord(length), toHex(proof)]
}

/** @returns The calldata of a call. */
export function joined(selector: string, ...words: Hex[]): Hex {
  return `0x${selector}${words.map((hex) => hex.slice(2)).join('')}`
}

/** @returns A number as 32 bytes. */
export function toWord(value: number): Hex {
  return `0x${value.toString(16).padStart(DIGITS, '0')}`
}

/** A reading, with the chain id that the answer claims. */
type Verification = { chainId: number; reading: ChainReading }

/**
 * @param data The result of the call.
 * @param issuerId The id in the call, because the answer does not repeat it.
 * @throws {FormatError} unless it is exactly what Solidity encodes.
 */
export function decodeVerification(data: unknown, issuerId: number): Verification {
  const words = readWords(data)
  if (uint(words, 0, 53) !== WORD) throw misplaced()
  return createVerificationReader()(words.slice(DIGITS), issuerId)
}

/**
 * @param data The result of the call for many documents.
 * @param issuerIds The ids in the call, in the same order.
 * @returns As many verifications, in the same order. They must follow one another: a list whose
 * offsets are in another order or repeated is refused. Verifications of one issuer or account share
 * its objects.
 * @throws {FormatError} unless it is exactly what Solidity encodes.
 */
export function decodeVerifications(data: unknown, issuerIds: readonly number[]): Verification[] {
  const words = readWords(data)
  const count = issuerIds.length
  if (uint(words, 0, 53) !== WORD || uint(words, 1, 53) !== count) throw misplaced()
  // Offsets are counted from the word after the length.
  const list = words.slice(2 * DIGITS)
  const bounds = [...issuerIds.map((_, i) => 2 * uint(list, i, 53)), list.length]
  if (bounds[0] !== count * DIGITS) throw misplaced()
  const read = createVerificationReader()
  return issuerIds.map((issuerId, i) => read(list.slice(bounds[i], bounds[i + 1]), issuerId))
}

/**
 * @returns A function that reads the words of one whole verification. Repeated parts are decoded
 * once, because documents that are verified together mostly have one issuer and one account.
 */
function createVerificationReader(): (words: string, issuerId: number) => Verification {
  const account = once(readAccount)
  const revoker = once(readRevoker)
  const issuer = once(readIssuer)
  return (words, issuerId) => {
    const at = (index: number, bits: number) => uint(words, index, bits)
    if (at(ISSUER_OFFSET, 53) !== ISSUER * WORD) throw misplaced()
    const status = REGISTRY_STATUSES[at(3, 8)]
    if (status === undefined) throw malformed('the answer has an unknown status')
    return {
      chainId: at(0, 53),
      reading: {
        blockNumber: at(1, 53),
        blockTime: at(2, 53),
        status,
        record: readRecordAt(words, RECORD),
        account: account(part(words, ACCOUNT, REVOKER)),
        revoker: revoker(part(words, REVOKER, ISSUER_OFFSET)),
        issuer: { id: issuerId, ...issuer(part(words, ISSUER)) },
      },
    }
  }
}

/** @returns A version of `decode` that reuses its last result when it gets the same words again. */
function once<T>(decode: (words: string) => T): (words: string) => T {
  let last: { words: string; value: T } | undefined
  return (words) => {
    if (last?.words !== words) last = { words, value: decode(words) }
    return last.value
  }
}

/** @param from The first word. */
export function readRecordAt(words: string, from: number): RegistryRecord {
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

function readAccount(words: string): RegistryAccount {
  return {
    account: address(words, 0),
    accountIndex: uint(words, 1, 16),
    permissions: uint(words, 2, 8),
    addedBlock: uint(words, 3, 40),
    changedBlock: uint(words, 4, 40),
    retiredBlock: uint(words, 5, 40),
    distrustedFrom: uint(words, 6, 40),
  }
}

/** @returns `null` if all of it is zero. */
function readRevoker(words: string): RegistryAccount | null {
  return isZero(words) ? null : readAccount(words)
}

/** @param words The words up to the end of the verification. */
function readIssuer(words: string): Omit<RegistryIssuer, 'id'> {
  const nameAt = ISSUER_HEAD * WORD
  const name = readString(words, nameAt)
  const uriAt = nameAt + name.size
  const uri = readString(words, uriAt)
  const laidOut =
    uint(words, 0, 53) === nameAt &&
    uint(words, 1, 53) === uriAt &&
    words.length === 2 * (uriAt + uri.size)
  if (!laidOut) throw misplaced()
  return {
    name: name.text,
    uri: uri.text,
    documentCount: uint(words, 2, 40),
    batchCount: uint(words, 3, 40),
    accountCount: uint(words, 4, 16),
    changedBlock: uint(words, 5, 40),
    closedBlock: uint(words, 6, 40),
  }
}

/** @throws {FormatError} when it is neither a `DocumentIssued` nor a `BatchIssued`. */
export function decodeIssued({
  topics,
  data,
}: Pick<RpcLog, 'topics' | 'data'>): Pick<IssuedEvent, 'issuerId' | 'account' | 'validUntil'> {
  const [topic, , issuer] = topics
  const ofBatch = topic === BATCH_ISSUED_TOPIC
  if (topics.length !== 3 || !(ofBatch || topic === ISSUED_TOPIC))
    throw malformed('the answer contains an event that was not requested')
  const count = ofBatch ? 3 : 2
  const words = readWords(data)
  if (words.length !== count * DIGITS) throw malformed(`the event must have ${count} words of data`)
  // The expiry of a document, the size of a batch.
  const limit = uint(words, 1, 40)
  return {
    issuerId: uint(readWords(issuer), 0, 32),
    account: address(words, 0),
    validUntil: ofBatch ? null : limit,
  }
}

/** @returns The digits of an answer, {@link DIGITS} for each word. */
export function readWords(data: unknown): string {
  return readHex(data).slice(2)
}

/** @param from The first word. @param to The word after the last; absent = to the end. */
function part(words: string, from: number, to = Number.POSITIVE_INFINITY): string {
  return words.slice(from * DIGITS, to * DIGITS)
}

function isZero(digits: string): boolean {
  return /^0*$/.test(digits)
}

/** @param bits At most 53, so that the number is exact. */
export function uint(words: string, index: number, bits: number): number {
  const digits = part(words, index, index + 1)
  if (digits.length < DIGITS) throw malformed('the answer is too short')
  const value = Number(`0x${digits}`)
  if (value >= 2 ** bits) throw malformed(`a number has more than ${bits} bits`)
  return value
}

/** @param index The number of the word. */
export function address(words: string, index: number): Hex {
  const digits = part(words, index, index + 1)
  if (digits.length < DIGITS) throw malformed('the answer is too short')
  if (!isZero(digits.slice(0, -40))) throw malformed('an address has more than 160 bits')
  return `0x${digits.slice(-40)}`
}

/**
 * @param start The start in bytes, a multiple of 32. @returns The text, and the bytes that it takes
 * with length and padding.
 */
function readString(words: string, start: number): { text: string; size: number } {
  const length = uint(words, start / WORD, 53)
  const size = WORD + Math.ceil(length / WORD) * WORD
  const padded = words.slice(2 * (start + WORD), 2 * (start + size))
  if (padded.length !== 2 * (size - WORD)) throw malformed('the answer is too short')
  if (!isZero(padded.slice(2 * length))) throw malformed('the padding of a string is not zero')
  return { text: decodeAnyUtf8(fromHex(`0x${padded.slice(0, 2 * length)}`)), size }
}

function misplaced(): FormatError {
  return malformed('the answer is not ABI-encoded as expected')
}

function malformed(message: string): FormatError {
  return new FormatError('abi_malformed', message)
}
