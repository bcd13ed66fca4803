import type { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex } from '#document/hex.ts'
import { createDocumentTable, type DocumentTable } from './documents.ts'
import type { AdminEvent, IssuedLog } from './registry-events.ts'

/** A batch according to its last event or a kept list. */
export type LedgerBatch = {
  root: Hex
  /** The sha-256 of its manifest's root block, if known. */
  manifest: Hex | null
  event: { block: number; transactionHash: Hex; account: Hex; size: number } | null
}

/**
 * The documents and batches of an issuer, according to events or a kept list. Documents are on
 * disk, batches in memory.
 */
export type Ledger = {
  /** The number of lines that were added, including repeated ones. */
  readonly length: number
  /** The database with the documents. */
  readonly scratch: DatabaseSync
  addLog(log: IssuedLog): void
  addDocument(documentHash: Hex): void
  addBatch(root: Hex, manifest: Hex | null): void
  addAdminEvent(event: AdminEvent): void
  readonly adminEvents: readonly AdminEvent[]
  readonly batches: ReadonlyMap<Hex, LedgerBatch>
  /**
   * @returns The documents so far, each once and with its last event. A table that was returned
   * before can no longer be used.
   */
  documents(): DocumentTable
}

/** The maximum number of documents and batches, because a node could invent events without end. */
export const MAX_LEDGER = 5_000_000

/** @throws {RangeError} for more than {@link MAX_LEDGER} lines. */
export function createLedger(scratch: DatabaseSync): Ledger {
  scratch.exec(`CREATE TABLE events (
    hash BLOB NOT NULL, transaction_hash BLOB, block INTEGER, account BLOB, valid_until INTEGER)`)
  const insert = scratch.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?)')
  const batches = new Map<Hex, LedgerBatch>()
  const adminEvents: AdminEvent[] = []
  let lines = 0
  const count = () => {
    if (++lines > MAX_LEDGER) throw new RangeError(`more than ${MAX_LEDGER} lines`)
  }

  return {
    get length() {
      return lines
    },
    scratch,
    adminEvents,
    batches,
    addLog(log) {
      count()
      if (log.kind === 'document') {
        const { key, transactionHash, block, account, validUntil } = log
        insert.run(fromHex(key), fromHex(transactionHash), block, fromHex(account), validUntil)
        return
      }
      const { kind: _, key, manifest, ...event } = log
      batches.set(key, { root: key, manifest, event })
    },
    addDocument(documentHash) {
      count()
      insert.run(fromHex(documentHash), null, null, null, null)
    },
    addBatch(root, manifest) {
      count()
      const known = batches.get(root)
      batches.set(root, {
        root,
        manifest: manifest ?? known?.manifest ?? null,
        event: known?.event ?? null,
      })
    },
    addAdminEvent(event) {
      if (adminEvents.push(event) > MAX_LEDGER)
        throw new RangeError(`more than ${MAX_LEDGER} lines`)
    },
    documents: () => createDocumentTable(scratch),
  }
}
