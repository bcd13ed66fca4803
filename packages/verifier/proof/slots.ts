import { keccak_256 } from '@noble/hashes/sha3.js'
import { concatBytes } from '@noble/hashes/utils.js'
import { encodeEntry } from '../../document/batch/entry.ts'
import { isProofLength, NODE, rootOf } from '../../document/batch/tree.ts'
import { decodeAnyUtf8, encodeUtf8, equalBytes } from '../../document/bytes.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { ChainError } from '../errors.ts'
import type {
  BatchPath,
  ChainReading,
  DocumentKey,
  RegistryAccount,
  RegistryIssuer,
  RegistryRecord,
} from '../ports.ts'
import {
  emptyIssuer,
  isReleased,
  NO_ACCOUNT,
  type RevisedSlot,
  recordInBatch,
  registryStatusOf,
} from '../status.ts'

// The slots that a verdict reads; see docs/contract.md, "Storage". They never change.

/** The ERC-7201 position of `document-registry.storage`: a mapping of issuers. */
const NAMESPACES = 0xd37714e65ec23c3d624f4c79df96da73f7311a8284370e5d3340a0f60e8b5200n
/** The slots of an issuer, counted from its first one. */
const [STATE, RECORDS, BATCHES, ACCOUNTS, ACCOUNTS_OF, PROPOSAL, NAME, URI] = [
  0n,
  1n,
  2n,
  3n,
  4n,
  5n,
  6n,
  7n,
] as const

/** A slot or its value, with 256 bits. */
type Word = bigint

/** Returns the value of a slot. */
type ReadSlot = (slot: Hex) => Uint8Array

/** A proof's data about a document, without the block. */
type Proven = Pick<ChainReading, 'status' | 'record' | 'account' | 'revoker' | 'issuer'>

/**
 * @param block The block whose state `readSlot` reads.
 * @returns The result of `verificationOf` or `verificationInBatch` in that state.
 */
export function readVerification(
  key: DocumentKey,
  readSlot: ReadSlot,
  { blockTime }: { blockTime: number },
): Proven {
  const words = new Map<Word, Word>()
  // Each slot is read once, because the same account may have issued, revoked and released.
  const read = (slot: Word) => {
    const word = words.get(slot) ?? BigInt(toHex(readSlot(toSlot(slot))))
    words.set(slot, word)
    return word
  }
  const { issuerId } = key
  const namespace = at(BigInt(issuerId), NAMESPACES)
  const record = readRecord(namespace, key, read)
  if (record.anchoredBlock === 0)
    return {
      status: 'not_issued',
      record,
      account: NO_ACCOUNT,
      revoker: null,
      issuer: emptyIssuer(issuerId),
    }
  const account = readAccount(namespace, record.accountIndex, read)
  const revoker =
    record.revokedBlock === 0 ? null : readAccount(namespace, record.revokerIndex, read)
  const state = unpackState(read(namespace + STATE))
  return {
    status: registryStatusOf({ record, account, revoker, blockTime }),
    record,
    account,
    revoker,
    issuer: {
      id: issuerId,
      name: readText(namespace + NAME, readSlot),
      uri: readText(namespace + URI, readSlot),
      ...state,
    },
  }
}

/**
 * @returns The slots whose values decide which others are read, if a reading does not say it. For a
 * document in a batch these are the slots with the accounts that released, and the slots of texts
 * that are not UTF-8.
 */
export function decidingSlotsOf(
  { issuerId, documentHash, batch }: DocumentKey,
  { record, issuer }: Pick<Proven, 'record' | 'issuer'>,
): Hex[] {
  if (record.anchoredBlock === 0) return []
  const slots = slotsOfIssuer(issuerId)
  const isReplaced = [issuer.name, issuer.uri].some((text) => text.includes('\ufffd'))
  return [
    ...(batch ? [slots.batch(batch.root), slots.record(documentHash)] : []),
    ...(isReplaced ? [slots.name, slots.uri] : []),
  ]
}

/**
 * @param deciding The values of {@link decidingSlotsOf}.
 * @returns The slots that {@link readVerification} reads for this record, in its order.
 */
export function slotsOf(
  { issuerId, documentHash, batch }: DocumentKey,
  { record, account, revoker, issuer }: Proven,
  deciding: ReadonlyMap<Hex, Word> = new Map(),
): Hex[] {
  const namespace = at(BigInt(issuerId), NAMESPACES)
  const own = at(BigInt(documentHash), namespace + RECORDS)
  const anchored = batch ? at(BigInt(batch.root), namespace + BATCHES) : own
  if (record.anchoredBlock === 0) return [toSlot(anchored)]
  const revised = batch ? [anchored, own] : []
  const releasers = revised
    .map((slot) => unpackRecord(deciding.get(toSlot(slot)) ?? 0n))
    .filter(isReleased)
  const slots = [
    anchored,
    ...revised,
    ...releasers.map(({ revokerIndex }) => at(BigInt(revokerIndex), namespace + ACCOUNTS_OF)),
    ...slotsOfAccount(namespace, account),
    ...(revoker ? slotsOfAccount(namespace, revoker) : []),
    namespace + STATE,
    ...slotsOfText(namespace + NAME, issuer.name, deciding),
    ...slotsOfText(namespace + URI, issuer.uri, deciding),
  ]
  return Array.from(new Set(slots), toSlot)
}

/** @returns The slots with the data of an issuer in the registry. */
export function slotsOfIssuer(issuerId: number): {
  state: Hex
  proposal: Hex
  /** The first slot of a text; see {@link furtherSlotsOf}. */
  name: Hex
  uri: Hex
  record(documentHash: Hex): Hex
  batch(root: Hex): Hex
  signer(accountIndex: number): Hex
  account(address: Hex): Hex
} {
  const namespace = at(BigInt(issuerId), NAMESPACES)
  const inMapping = (mapping: Word, key: Word) => toSlot(at(key, mapping))
  return {
    state: toSlot(namespace + STATE),
    proposal: toSlot(namespace + PROPOSAL),
    name: toSlot(namespace + NAME),
    uri: toSlot(namespace + URI),
    account: (address) => inMapping(namespace + ACCOUNTS, BigInt(address)),
    record: (hash) => inMapping(namespace + RECORDS, BigInt(hash)),
    batch: (root) => inMapping(namespace + BATCHES, BigInt(root)),
    signer: (index) => inMapping(namespace + ACCOUNTS_OF, BigInt(index)),
  }
}

function slotsOfAccount(namespace: Word, { account, accountIndex }: RegistryAccount): Word[] {
  return [
    at(BigInt(accountIndex), namespace + ACCOUNTS_OF),
    at(BigInt(account), namespace + ACCOUNTS),
  ]
}

function slotsOfText(slot: Word, text: string, deciding: ReadonlyMap<Hex, Word>): Word[] {
  const word = deciding.get(toSlot(slot))
  const length = word === undefined ? encodeUtf8(text).length : lengthOfText(word)
  return [slot, ...partsOfText(slot, length)]
}

/** @param word The value of its first slot. @returns 0 for a text that fits in it. */
function lengthOfText(word: Word): number {
  const isShort = word % 2n === 0n
  return isShort ? 0 : bits(word >> 1n, 0, 16)
}

/**
 * @param length The length in bytes. @returns The slots of a text that is too long for its first
 * slot.
 */
function partsOfText(slot: Word, length: number): Word[] {
  const first = BigInt(toHex(keccak_256(toBytes(slot))))
  const count = length < 32 ? 0 : Math.ceil(length / 32)
  return Array.from({ length: count }, (_, i) => first + BigInt(i))
}

/** @returns The slots of a text besides its first. @param word The value of the first. */
export function furtherSlotsOf(slot: Hex, word: Word): Hex[] {
  return partsOfText(BigInt(slot), lengthOfText(word)).map(toSlot)
}

/** The position of a key in a mapping. */
function at(key: Word, mapping: Word): Word {
  return BigInt(toHex(keccak_256(concatBytes(toBytes(key), toBytes(mapping)))))
}

/** Everything is packed from the lowest bit (contracts/types). */
export function unpackRecord(word: Word): RegistryRecord {
  return {
    accountIndex: bits(word, 0, 16),
    anchoredBlock: bits(word, 16, 40),
    anchoredAt: bits(word, 56, 40),
    validUntil: bits(word, 96, 40),
    revokerIndex: bits(word, 136, 16),
    revokedBlock: bits(word, 152, 40),
    revokedAt: bits(word, 192, 40),
    reason: bits(word, 232, 8),
    setAside: bits(word, 240, 1) === 1,
  }
}

export function unpackState(word: Word): Omit<RegistryIssuer, 'id' | 'name' | 'uri'> {
  return {
    documentCount: bits(word, 0, 40),
    batchCount: bits(word, 40, 40),
    accountCount: bits(word, 80, 16),
    changedBlock: bits(word, 96, 40),
    closedBlock: bits(word, 136, 40),
  }
}

/** @returns The document's record; all zero if it is not proven to be in its batch. */
function readRecord(
  namespace: Word,
  { documentHash, batch: path }: DocumentKey,
  read: (slot: Word) => Word,
): RegistryRecord {
  const readOwn = () => unpackRecord(read(at(BigInt(documentHash), namespace + RECORDS)))
  if (!path) return readOwn()
  // In the slot of a batch, the size is in place of the expiry.
  const batch = unpackRecord(read(at(BigInt(path.root), namespace + BATCHES)))
  const proven =
    batch.anchoredBlock !== 0 &&
    isProofLength(path.proof.length / NODE, batch.validUntil) &&
    leadsToRoot(documentHash, path)
  if (!proven) return unpackRecord(0n)
  const own = readOwn()
  // The meaning of a release depends on who made it.
  const revised = (record: RegistryRecord): RevisedSlot => ({
    record,
    revoker: isReleased(record) ? readSigner(namespace, record.revokerIndex, read) : null,
  })
  const ofBatch = revised(batch)
  return recordInBatch(revised(own), ofBatch, path.validUntil).record
}

function leadsToRoot(documentHash: Hex, { root, validUntil, proof }: BatchPath): boolean {
  const entry = encodeEntry({ documentHash: fromHex(documentHash), validUntil })
  return equalBytes(rootOf(entry, proof), fromHex(root))
}

/** An account has two slots: one by its index, with the address, and one by its address. */
function readAccount(
  namespace: Word,
  accountIndex: number,
  read: (slot: Word) => Word,
): RegistryAccount {
  const signer = readSigner(namespace, accountIndex, read)
  const held = read(at(BigInt(signer.account), namespace + ACCOUNTS))
  return { ...signer, accountIndex, ...unpackHeld(held) }
}

function readSigner(namespace: Word, accountIndex: number, read: (slot: Word) => Word) {
  return unpackSigner(read(at(BigInt(accountIndex), namespace + ACCOUNTS_OF)))
}

/** @param word The slot of an account by its address. */
export function unpackHeld(
  word: Word,
): Pick<RegistryAccount, 'permissions' | 'addedBlock' | 'changedBlock' | 'retiredBlock'> {
  return {
    permissions: bits(word, 16, 8),
    addedBlock: bits(word, 24, 40),
    changedBlock: bits(word, 64, 40),
    retiredBlock: bits(word, 104, 40),
  }
}

/** @returns The proposed account, and when it may accept; `null` for no proposal. */
export function unpackProposal(word: Word): { account: Hex; acceptFrom: number } | null {
  if (BigInt.asUintN(160, word) === 0n) return null
  const { account, distrustedFrom: acceptFrom } = unpackSigner(word)
  return { account, acceptFrom }
}

/** @throws {ChainError} `no_registry` for the slot of an account that does not exist. */
export function unpackSigner(word: Word): Pick<RegistryAccount, 'account' | 'distrustedFrom'> {
  const address = BigInt.asUintN(160, word)
  if (address === 0n) throw notOfRegistry('the slot does not hold an account')
  return {
    account: `0x${address.toString(16).padStart(40, '0')}`,
    distrustedFrom: bits(word, 160, 40),
  }
}

/**
 * Reads a Solidity string. Up to 31 bytes are in the slot itself, with twice the length in the last
 * byte; a longer text begins at keccak256(slot).
 */
export function readText(slot: Word, readSlot: ReadSlot): string {
  const word = readSlot(toSlot(slot))
  const last = word[31] ?? 0
  const isShort = last % 2 === 0
  const length = isShort ? last / 2 : Number(BigInt(toHex(word)) / 2n)
  if (isShort !== length < 32) throw notOfRegistry('the slot does not hold a string')
  if (isShort) return decodeAnyUtf8(word.subarray(0, length))
  const first = BigInt(toHex(keccak_256(toBytes(slot))))
  const parts: Uint8Array[] = []
  for (let i = 0; i * 32 < length; i++) parts.push(readSlot(toSlot(first + BigInt(i))))
  return decodeAnyUtf8(concatBytes(...parts).subarray(0, length))
}

/** This is also the error for a `verificationOf` result that cannot be decoded. */
function notOfRegistry(message: string): ChainError {
  return new ChainError('no_registry', message)
}

/** @param width At most 53 bits, so that the number is exact. */
function bits(word: Word, from: number, width: number): number {
  return Number(BigInt.asUintN(width, word >> BigInt(from)))
}

/** @returns The key of a slot in the storage trie, 32 bytes. */
export function trieKeyOf(slot: Hex): Uint8Array {
  return keccak_256(fromHex(slot))
}

function toSlot(word: Word): Hex {
  return `0x${BigInt.asUintN(256, word).toString(16).padStart(64, '0')}`
}

function toBytes(word: Word): Uint8Array {
  return fromHex(toSlot(word))
}
