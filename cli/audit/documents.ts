import { decodeEntry, ENTRY } from '../../document/batch/entry.ts'
import { createRows } from '../../document/batch/rows.ts'
import { type Hex, toHex } from '../../document/hex.ts'
import { bitOf, type DocumentFinding } from './findings.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'

/** Where a document was listed, before its record is known. */
export type TableEntry = LedgerEntry & {
  /** The batch that it is in, counted from 0; `null` = issued alone. */
  batch: number | null
  /** Of a document in a batch, as its manifest has it. */
  validUntil: number | null
}

/** All documents of an audit: those issued alone by their hash, then those of batches. */
export type DocumentTable = {
  readonly length: number
  /** How many were issued alone. */
  readonly alone: number
  at(index: number): TableEntry
  hashAt(index: number): Hex
  /** @returns The index of the first entry. */
  addChunk(batch: number, chunk: Uint8Array): number
  /** @returns The index of a document; `undefined` when it is not listed. */
  find(documentHash: Hex, batch: number | null): number | undefined
  mark(index: number, finding: DocumentFinding): void
  marksOf(index: number): number
  /** The category of a document, where its publicId is known. */
  setCategory(index: number, category: string): void
  categoryOf(index: number): string | null
}

const BATCH = ENTRY

export function createDocumentTable(ledger: Ledger): DocumentTable {
  const singles = ledger.documents()
  const alone = singles.length
  // An entry of a manifest, and the number of its batch.
  const rows = createRows(ENTRY + 4)
  const marks: number[] = new Array(alone).fill(0)
  const categories = new Map<number, string>()
  const names = new Map<string, string>()
  let places: Map<string, number> | undefined

  const batchOf = (index: number) => {
    const row = rows.at(index - alone)
    return new DataView(row.buffer, row.byteOffset).getUint32(BATCH)
  }
  const hashAt = (index: number) =>
    index < alone ? singles.hashAt(index) : toHex(rows.at(index - alone).subarray(0, 32))

  function findAlone(documentHash: Hex): number | undefined {
    let [from, to] = [0, alone]
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      const hash = singles.hashAt(middle)
      if (hash === documentHash) return middle
      if (hash < documentHash) from = middle + 1
      else to = middle
    }
    return undefined
  }

  /** Made when it is first needed: only publicIds of batches are looked up so. */
  function findInBatch(documentHash: Hex, batch: number): number | undefined {
    places ??= new Map(
      Array.from({ length: rows.length }, (_, i) => {
        const index = alone + i
        return [`${batchOf(index)} ${hashAt(index)}`, index]
      }),
    )
    return places.get(`${batch} ${documentHash}`)
  }

  return {
    alone,
    get length() {
      return alone + rows.length
    },
    hashAt,
    at(index) {
      if (index < alone) return { ...singles.at(index), batch: null, validUntil: null }
      const { documentHash, validUntil } = decodeEntry(rows.at(index - alone).subarray(0, ENTRY))
      return { documentHash: toHex(documentHash), event: null, batch: batchOf(index), validUntil }
    },
    addChunk(batch, chunk) {
      const first = alone + rows.length
      const row = new Uint8Array(ENTRY + 4)
      new DataView(row.buffer).setUint32(BATCH, batch)
      for (let at = 0; at < chunk.length; at += ENTRY) {
        row.set(chunk.subarray(at, at + ENTRY))
        rows.push(row)
        marks.push(0)
      }
      places = undefined
      return first
    },
    find: (documentHash, batch) =>
      batch === null ? findAlone(documentHash) : findInBatch(documentHash, batch),
    mark(index, finding) {
      marks[index] = (marks[index] ?? 0) | bitOf(finding)
    },
    marksOf: (index) => marks[index] ?? 0,
    setCategory(index, category) {
      // Most documents share a few: one string each.
      if (!names.has(category)) names.set(category, category)
      categories.set(index, names.get(category) as string)
    },
    categoryOf: (index) => categories.get(index) ?? null,
  }
}
