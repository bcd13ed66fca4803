import { FormatError } from '../../document/errors.ts'
import type { Hex } from '../../document/hex.ts'
import type { RegistryAccount, RegistryRecord } from '../ports.ts'
import type { IssuerCounts } from '../proof/completeness.ts'
import {
  address,
  DIGITS,
  joined,
  readRecordAt,
  readWords,
  toWord,
  uint,
} from './verification-codec.ts'

// A hand-written ABI codec for the views that list an issuer's documents.

/** `recordsOf(uint32,bytes32[])` */
const RECORDS_OF = '93995d9f'
/** `batchOf(uint32,bytes32)` */
const BATCH_OF = '6acead9c'
/** `issuerOf(uint32)` */
const ISSUER_OF = '00bd3f44'
/** `accountAt(uint32,uint16)` */
const ACCOUNT_AT = '0dae4c0c'

const WORD = 32
const WORDS_A_RECORD = 9

export function encodeRecordsCall(issuerId: number, documentHashes: readonly Hex[]): Hex {
  return joined(
    RECORDS_OF,
    toWord(issuerId),
    toWord(2 * WORD),
    toWord(documentHashes.length),
    ...documentHashes,
  )
}

export function encodeBatchCall(issuerId: number, root: Hex): Hex {
  return joined(BATCH_OF, toWord(issuerId), root)
}

export function encodeIssuerCall(issuerId: number): Hex {
  return joined(ISSUER_OF, toWord(issuerId))
}

export function encodeAccountCall(issuerId: number, accountIndex: number): Hex {
  return joined(ACCOUNT_AT, toWord(issuerId), toWord(accountIndex))
}

/** @throws {FormatError} `abi_malformed` or `rpc_malformed`, as all decoders here. */
export function decodeRecords(data: unknown, count: number): RegistryRecord[] {
  const words = readWords(data)
  const laidOut =
    words.length === (2 + count * WORDS_A_RECORD) * DIGITS &&
    uint(words, 0, 53) === WORD &&
    uint(words, 1, 53) === count
  if (!laidOut) throw malformed()
  return Array.from({ length: count }, (_, i) => readRecordAt(words, 2 + i * WORDS_A_RECORD))
}

/** @returns A batch's record; the size takes the place of the expiry. */
export function decodeBatch(data: unknown): RegistryRecord {
  const words = readWords(data)
  if (words.length !== WORDS_A_RECORD * DIGITS) throw malformed()
  return readRecordAt(words, 0)
}

/** @returns The counts of an issuer; ignores its name and URI. */
export function decodeCounts(data: unknown): IssuerCounts {
  const words = readWords(data)
  if (uint(words, 0, 53) !== WORD) throw malformed()
  return {
    documentCount: uint(words, 3, 40),
    batchCount: uint(words, 4, 40),
    accountCount: uint(words, 5, 16),
  }
}

export function decodeSigner(data: unknown): Pick<RegistryAccount, 'account' | 'distrustedFrom'> {
  const words = readWords(data)
  if (words.length !== 7 * DIGITS) throw malformed()
  return { account: address(words, 0), distrustedFrom: uint(words, 6, 40) }
}

function malformed(): FormatError {
  return new FormatError('abi_malformed', 'the answer is not ABI-encoded as expected')
}
