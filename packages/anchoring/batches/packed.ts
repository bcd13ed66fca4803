import { encodeUtf8 } from '#document/bytes.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { PUBLIC_ID_LENGTH } from '#document/public-id.ts'
import type { DraftDocument } from '#promise/batch-log.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import type { Block, SealedDocument } from './seal-batch.ts'

// Packs groups for the way between threads. A few arrays, each with its own buffer, are moved at
// once, while an object for each block or document would be copied member by member.

const HASH = 32

/** Blocks, one after another. */
export type PackedBlocks = {
  /** The hashes, 32 bytes each. */
  hashes: Uint8Array
  bytes: Uint8Array
  /** The end of each block in `bytes`. */
  ends: Uint32Array
}

export function packBlocks(blocks: readonly Block[]): PackedBlocks {
  const ends = new Uint32Array(blocks.length)
  const hashes = new Uint8Array(HASH * blocks.length)
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + block.bytes.length, 0))
  let at = 0
  blocks.forEach((block, i) => {
    hashes.set(block.hash, HASH * i)
    bytes.set(block.bytes, at)
    at += block.bytes.length
    ends[i] = at
  })
  return { hashes, bytes, ends }
}

/** @returns The blocks as views of the packed bytes. */
export function unpackBlocks({ hashes, bytes, ends }: PackedBlocks): Block[] {
  let at = 0
  return Array.from(ends, (end, i) => {
    const block = { hash: rowAt(hashes, HASH, i), bytes: bytes.subarray(at, end) }
    at = end
    return block
  })
}

/**
 * The bytes of an index entry. The tenant is not part of them, because all documents of a batch
 * belong to one.
 */
export const ENTRY_BYTES = 28

/** @param out A view of at least 28 bytes. */
export function writeEntry(entry: IndexEntry, out: DataView): void {
  out.setInt32(0, entry.issuedOn)
  out.setFloat64(4, entry.validUntil)
  out.setBigInt64(12, entry.subject)
  out.setBigInt64(20, entry.category)
}

/**
 * @param at The start of the entry in `bytes`.
 * @param tenant The batch's tenant.
 */
function readEntry(bytes: DataView, at: number, tenant: string | null): IndexEntry {
  return {
    issuedOn: bytes.getInt32(at),
    validUntil: bytes.getFloat64(at + 4),
    subject: bytes.getBigInt64(at + 12),
    category: bytes.getBigInt64(at + 20),
    tenant,
  }
}

/** Documents of a batch, one after another. */
export type PackedDocuments = {
  /** The place of the first document in the batch, from 0. */
  first: number
  /** The documentHashes, 32 bytes each. */
  hashes: Uint8Array
  /** The hashes of their batch blocks, 32 bytes each. */
  batchBlocks: Uint8Array
  /** The publicIds in ASCII, 77 bytes each. */
  publicIds: Uint8Array
  /** The index entries, 28 bytes each. */
  entries: Uint8Array
  /** The tenant of all these documents. */
  tenant: string | null
}

/** @param copyEntry Writes the entry of the document at a place, from 0, to `out`. */
export function packDocuments(
  documents: readonly SealedDocument[],
  tenant: string | null,
  copyEntry: (place: number, out: Uint8Array) => void,
): PackedDocuments {
  const first = (documents[0]?.line ?? 1) - 1
  const newRows = (width: number) => new Uint8Array(width * documents.length)
  const [hashes, batchBlocks] = [newRows(HASH), newRows(HASH)]
  const [publicIds, entries] = [newRows(PUBLIC_ID_LENGTH), newRows(ENTRY_BYTES)]
  documents.forEach(({ documentHash, batchBlock, publicId }, i) => {
    hashes.set(fromHex(documentHash), HASH * i)
    batchBlocks.set(fromHex(batchBlock), HASH * i)
    publicIds.set(encodeUtf8(publicId), PUBLIC_ID_LENGTH * i)
    copyEntry(first + i, rowAt(entries, ENTRY_BYTES, i))
  })
  return { first, hashes, batchBlocks, publicIds, entries, tenant }
}

/** @returns The documents for the index. */
export function unpackDocuments(packed: PackedDocuments): DraftDocument[] {
  const { hashes, batchBlocks, entries, tenant } = packed
  const view = new DataView(entries.buffer, entries.byteOffset, entries.length)
  return Array.from({ length: hashes.length / HASH }, (_, i) => ({
    documentHash: toHex(rowAt(hashes, HASH, i)),
    entry: {
      ...readEntry(view, ENTRY_BYTES * i, tenant),
      batchBlock: toHex(rowAt(batchBlocks, HASH, i)),
    },
  }))
}

/** A document of a batch, for the answer. */
type IssuedLine = { publicId: string; documentHash: Hex } | { isErased: true }

/** The documents of a batch until the request is answered. */
export type Issued = {
  /** @param erased The documents that have been erased. */
  set(documents: PackedDocuments, erased: ReadonlySet<Hex>): void
  /** @param place The place in the upload, from 0. */
  at(place: number): IssuedLine
}

/** Uses 110 bytes of memory per document. */
export function createIssued(size: number): Issued {
  const hashes = Buffer.alloc(HASH * size)
  const publicIds = Buffer.alloc(PUBLIC_ID_LENGTH * size)
  const isErased = new Uint8Array(size)
  const hashAt = (place: number): Hex =>
    `0x${hashes.toString('hex', HASH * place, HASH * (place + 1))}`

  return {
    set(documents, erased) {
      const { first } = documents
      hashes.set(documents.hashes, HASH * first)
      publicIds.set(documents.publicIds, PUBLIC_ID_LENGTH * first)
      if (erased.size === 0) return
      const end = first + documents.hashes.length / HASH
      for (let place = first; place < end; place++)
        if (erased.has(hashAt(place))) isErased[place] = 1
    },
    at(place) {
      if (isErased[place]) return { isErased: true }
      const [start, end] = [PUBLIC_ID_LENGTH * place, PUBLIC_ID_LENGTH * (place + 1)]
      return { publicId: publicIds.toString('latin1', start, end), documentHash: hashAt(place) }
    },
  }
}

const rowAt = (rows: Uint8Array, width: number, i: number) =>
  rows.subarray(width * i, width * (i + 1))
