import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { decodeEntry, ENTRY } from '#document/batch/entry.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { RegistryRecord } from '#verifier/ports.ts'
import { unpackRecord } from '#verifier/proof/slots.ts'
import { bitOf, type DocumentFinding } from './findings.ts'

/** A document of an audit. */
export type TableEntry = {
  documentHash: Hex
  /** Its last event; `null` for a document from a manifest, or from a list without events. */
  event: { block: number; transactionHash: Hex; account: Hex; validUntil: number } | null
  /** The batch of the document, counted from 0; `null` = issued alone. */
  batch: number | null
  /** For a document in a batch, the expiry in its manifest. */
  validUntil: number | null
  /** The record of the document itself, once it is proven. */
  own: RegistryRecord
  /** The bits of its findings. */
  marks: number
  /** Its category, if its publicId is known. */
  category: string | null
}

/**
 * All documents of an audit, on disk: first those issued alone, by their hash, then those of
 * batches.
 */
export type DocumentTable = {
  readonly length: number
  /** The number of documents that were issued alone. */
  readonly alone: number
  at(index: number): TableEntry
  hashAt(index: number): Hex
  /** @returns All documents by their index. They may be changed meanwhile. */
  entries(): Generator<TableEntry & { index: number }>
  /** @returns All documents by the block of {@link DocumentTable.setBlock}. */
  byBlock(): Generator<TableEntry>
  /** @returns The index of the first entry. */
  addChunk(batch: number, chunk: Uint8Array): number
  /** @returns The index of a document; `undefined` when it is not listed. */
  find(documentHash: Hex, batch: number | null): number | undefined
  /** @param word The value of its slot. */
  setOwn(index: number, word: bigint): void
  /** @param block The block in which it was anchored. */
  setBlock(index: number, block: number): void
  mark(index: number, finding: DocumentFinding): void
  setCategory(index: number, category: string): void
}

/** The number of entries in memory at a time. */
const PAGE = 1_000

const SCHEMA = `
  DROP TABLE IF EXISTS documents;
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    batch INTEGER,
    transaction_hash BLOB,
    block INTEGER,
    account BLOB,
    valid_until INTEGER,
    word BLOB NOT NULL DEFAULT (zeroblob(32)),
    anchored INTEGER NOT NULL DEFAULT 0,
    marks INTEGER NOT NULL DEFAULT 0,
    category TEXT
  );
`
/** The last event of each hash. SQLite takes the other columns from the row with the maximum. */
const FROM_EVENTS = `
  INSERT INTO documents (hash, transaction_hash, block, account, valid_until)
  SELECT hash, transaction_hash, block, account, valid_until
  FROM (
    SELECT *, max(CASE WHEN block IS NULL THEN 0 ELSE rowid END) FROM events GROUP BY hash
  ) ORDER BY hash
`

/** @param scratch The database with the events of a ledger. */
export function createDocumentTable(scratch: DatabaseSync): DocumentTable {
  scratch.exec(SCHEMA)
  const alone = Number(scratch.prepare(FROM_EVENTS).run().changes)
  let length = alone
  let isIndexed = false
  // SQLite counts rows from 1.
  const one = scratch.prepare('SELECT * FROM documents WHERE id = ? + 1')
  const hash = scratch.prepare('SELECT hash FROM documents WHERE id = ? + 1')
  const page = scratch.prepare('SELECT * FROM documents WHERE id > ? ORDER BY id LIMIT ?')
  const add = scratch.prepare('INSERT INTO documents (hash, batch, valid_until) VALUES (?, ?, ?)')
  const setOwn = scratch.prepare('UPDATE documents SET word = ? WHERE id = ? + 1')
  const setBlock = scratch.prepare('UPDATE documents SET anchored = ? WHERE id = ? + 1')
  const mark = scratch.prepare('UPDATE documents SET marks = marks | ? WHERE id = ? + 1')
  const setCategory = scratch.prepare('UPDATE documents SET category = ? WHERE id = ? + 1')
  const found = (row: Row | undefined, index: number): Row => {
    if (row === undefined) throw new RangeError(`there is no document ${index}`)
    return row
  }

  return {
    alone,
    get length() {
      return length
    },
    at: (index) => entryOf(found(one.get(index), index)),
    hashAt: (index) => toHex(found(hash.get(index), index).hash as Uint8Array),
    *entries() {
      for (let next = 0; next < length; next += PAGE)
        for (const [i, row] of page.all(next, PAGE).entries())
          yield { ...entryOf(row), index: next + i }
    },
    *byBlock() {
      const sorted = scratch.prepare('SELECT * FROM documents ORDER BY anchored, id')
      for (const row of sorted.iterate()) yield entryOf(row)
    },
    addChunk(batch, chunk) {
      const first = length
      for (let at = 0; at < chunk.length; at += ENTRY) {
        const { documentHash, validUntil } = decodeEntry(chunk.subarray(at, at + ENTRY))
        add.run(documentHash, batch, validUntil)
        length++
      }
      return first
    },
    find(documentHash, batch) {
      // The index is created when it is first needed, because only publicIds are looked up this
      // way.
      if (!isIndexed) scratch.exec('CREATE INDEX documents_by_hash ON documents (hash, batch)')
      isIndexed = true
      const row = scratch
        .prepare('SELECT id FROM documents WHERE hash = ? AND batch IS ?')
        .get(fromHex(documentHash), batch)
      return row && (row.id as number) - 1
    },
    setOwn: (index, word) => void setOwn.run(wordBytes(word), index),
    setBlock: (index, block) => void setBlock.run(block, index),
    mark: (index, finding) => void mark.run(bitOf(finding), index),
    setCategory: (index, category) => void setCategory.run(category, index),
  }
}

type Row = Record<string, SQLOutputValue>

function entryOf(row: Row): TableEntry {
  const batch = row.batch as number | null
  const validUntil = row.valid_until as number | null
  const hasEvent = row.transaction_hash !== null
  return {
    documentHash: toHex(row.hash as Uint8Array),
    event: hasEvent
      ? {
          block: row.block as number,
          transactionHash: toHex(row.transaction_hash as Uint8Array),
          account: toHex(row.account as Uint8Array),
          validUntil: validUntil ?? 0,
        }
      : null,
    batch,
    validUntil: batch === null ? null : validUntil,
    own: unpackRecord(BigInt(toHex(row.word as Uint8Array))),
    marks: row.marks as number,
    category: row.category as string | null,
  }
}

function wordBytes(word: bigint): Uint8Array {
  return fromHex(`0x${word.toString(16).padStart(64, '0')}`)
}
