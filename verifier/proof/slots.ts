import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { decodeUtf8 } from '../../document/bytes.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { ChainError } from '../errors.ts'
import type { ChainReading, RegistryRecord } from '../ports.ts'

// Where the registry keeps what a verdict reads: docs/contract.md, "Storage". It never changes.

/** The ERC-7201 position of `document-registry.storage`. */
const BASE = 0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200n
const ACCOUNTS_OF = BASE + 2n
const ISSUERS = BASE + 3n

/** A slot, or what is in one: 256 bits. */
type Word = bigint

/** RFC 5280 reason code. */
const SUPERSEDED = 4

/** Gives what is in a slot. */
export type ReadSlot = (slot: Hex) => Uint8Array

/** @param block The block whose state `readSlot` reads. @returns What `verificationOf` answers in that state. */
export function readVerification(
  documentHash: Hex,
  readSlot: ReadSlot,
  block: { blockNumber: number; blockTime: number },
): Pick<ChainReading, 'status' | 'record' | 'issuer'> {
  const read = (slot: Word) => BigInt(toHex(readSlot(toSlot(slot))))
  const record = unpackRecord(read(at(BigInt(documentHash), BASE)))
  const { issuerId, accountIndex } = record
  if (issuerId === 0)
    return {
      status: 'not_issued',
      record,
      issuer: { account: toAddress(0n), name: '', uri: '' },
    }
  const account = read(
    at(BigInt(accountIndex), at(BigInt(issuerId), ACCOUNTS_OF)),
  )
  const issuer = at(BigInt(issuerId), ISSUERS)
  return {
    status: statusOf(record, Number(account >> 160n), block.blockTime),
    record,
    issuer: {
      account: toAddress(bits(account, 0, 160)),
      name: readText(issuer, readSlot),
      uri: readText(issuer + 1n, readSlot),
    },
  }
}

/** @returns The slots that {@link readVerification} reads, in its order, when it finds this record and issuer. */
export function slotsOf(
  documentHash: Hex,
  { record, issuer }: Pick<ChainReading, 'record' | 'issuer'>,
): Hex[] {
  const { issuerId, accountIndex } = record
  const own = at(BigInt(documentHash), BASE)
  if (issuerId === 0) return [toSlot(own)]
  const name = at(BigInt(issuerId), ISSUERS)
  return [
    own,
    at(BigInt(accountIndex), at(BigInt(issuerId), ACCOUNTS_OF)),
    ...slotsOfText(name, issuer.name),
    ...slotsOfText(name + 1n, issuer.uri),
  ].map(toSlot)
}

function slotsOfText(slot: Word, text: string): Word[] {
  const length = new TextEncoder().encode(text).length
  const first = BigInt(toHex(keccak_256(toBytes(slot))))
  const count = length < 32 ? 0 : Math.ceil(length / 32)
  return [slot, ...Array.from({ length: count }, (_, i) => first + BigInt(i))]
}

/** The position of a key in a mapping. */
function at(key: Word, mapping: Word): Word {
  return BigInt(toHex(keccak_256(concatBytes(toBytes(key), toBytes(mapping)))))
}

/** A record is packed from the lowest bit. */
function unpackRecord(word: Word): RegistryRecord {
  const part = (from: number, width: number) => Number(bits(word, from, width))
  return {
    issuerId: part(0, 32),
    accountIndex: part(32, 16),
    anchoredBlock: part(48, 40),
    anchoredAt: part(88, 40),
    validUntil: part(128, 40),
    revokedBlock: part(168, 40),
    revokedAt: part(208, 40),
    reason: part(248, 8),
  }
}

/** As `DocumentRegistry._status`. */
function statusOf(
  record: RegistryRecord,
  distrustedFrom: number,
  blockTime: number,
): ChainReading['status'] {
  const { anchoredBlock, validUntil, revokedBlock, reason } = record
  if (revokedBlock !== 0)
    return reason === SUPERSEDED ? 'superseded' : 'revoked'
  if (distrustedFrom !== 0 && anchoredBlock >= distrustedFrom)
    return 'distrusted'
  return validUntil !== 0 && blockTime >= validUntil ? 'expired' : 'valid'
}

/** A Solidity string: up to 31 bytes in the slot itself, its length twice in the last byte; a longer one from keccak256(slot) on. */
function readText(slot: Word, readSlot: ReadSlot): string {
  const word = readSlot(toSlot(slot))
  const last = word[31] ?? 0
  const isShort = last % 2 === 0
  const length = isShort ? last / 2 : Number(BigInt(toHex(word)) / 2n)
  if (isShort !== length < 32) throw notOfRegistry()
  if (isShort) return toText(word.subarray(0, length))
  const first = BigInt(toHex(keccak_256(toBytes(slot))))
  const parts: Uint8Array[] = []
  for (let i = 0; i * 32 < length; i++)
    parts.push(readSlot(toSlot(first + BigInt(i))))
  return toText(concatBytes(...parts).subarray(0, length))
}

function toText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    throw notOfRegistry(cause)
  }
}

/** As for an answer to `verificationOf` that does not decode. */
function notOfRegistry(cause?: unknown): ChainError {
  return new ChainError('no_registry', 'no text in the place of one', cause)
}

function bits(word: Word, from: number, width: number): bigint {
  return (word >> BigInt(from)) & ((1n << BigInt(width)) - 1n)
}

function toSlot(word: Word): Hex {
  return `0x${BigInt.asUintN(256, word).toString(16).padStart(64, '0')}`
}

function toBytes(word: Word): Uint8Array {
  return fromHex(toSlot(word))
}

function toAddress(account: bigint): Hex {
  return `0x${account.toString(16).padStart(40, '0')}`
}
