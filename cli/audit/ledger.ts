import { createRows, type Rows, sortRows } from '../../document/batch/rows.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import type { AdminEvent, IssuedLog } from './registry-events.ts'

// What an issuer issued, as events or a kept list say: rows of bytes, so that memory does not
// depend on the garbage collector. 83 bytes a document.

const HASH = 32
const [TRANSACTION, BLOCK, VALID_UNTIL, ACCOUNT, WIDTH] = [32, 64, 70, 76, 80] as const

/** What is known of a document from its last event. */
export type LedgerEntry = {
  documentHash: Hex
  /** `null` for one that comes from a list without events. */
  event: { block: number; transactionHash: Hex; account: Hex; validUntil: number } | null
}

export type LedgerBatch = {
  root: Hex
  /** The sha-256 of its manifest's root block, if known. */
  manifest: Hex | null
  event: { block: number; transactionHash: Hex; account: Hex; size: number } | null
}

export type Ledger = {
  /** How many lines were added, repeated ones included. */
  readonly length: number
  addLog(log: IssuedLog): void
  addDocument(documentHash: Hex): void
  addBatch(root: Hex, manifest: Hex | null): void
  addAdminEvent(event: AdminEvent): void
  readonly adminEvents: readonly AdminEvent[]
  readonly batches: ReadonlyMap<Hex, LedgerBatch>
  /** @returns The documents by their hash, each once, with its last event. */
  documents(): { length: number; at(index: number): LedgerEntry; hashAt(index: number): Hex }
}

/** Documents and batches; more are refused, since a node could invent events without end. */
export const MAX_LEDGER = 5_000_000

/** @throws {RangeError} for more than {@link MAX_LEDGER} lines. */
export function createLedger(): Ledger {
  const rows = createRows(WIDTH)
  const batches = new Map<Hex, LedgerBatch>()
  const adminEvents: AdminEvent[] = []
  const accounts: Hex[] = []
  const accountIndex = new Map<Hex, number>()
  let lines = 0
  const count = () => {
    if (++lines > MAX_LEDGER) throw new RangeError(`more than ${MAX_LEDGER} lines`)
  }
  const indexOf = (account: Hex): number => {
    const known = accountIndex.get(account)
    if (known !== undefined) return known
    accountIndex.set(account, accounts.length)
    return accounts.push(account) - 1
  }
  const push = (documentHash: Hex, event?: NonNullable<LedgerEntry['event']>) => {
    count()
    const row = new Uint8Array(WIDTH)
    row.set(fromHex(documentHash))
    if (event) {
      row.set(fromHex(event.transactionHash), TRANSACTION)
      const view = new DataView(row.buffer)
      writeNumber(view, BLOCK, event.block)
      writeNumber(view, VALID_UNTIL, event.validUntil)
      view.setUint32(ACCOUNT, indexOf(event.account) + 1)
    }
    rows.push(row)
  }

  return {
    get length() {
      return lines
    },
    adminEvents,
    batches,
    addLog({ kind, key, ...log }: IssuedLog) {
      if (kind === 'document') {
        push(key, log as NonNullable<LedgerEntry['event']>)
        return
      }
      count()
      const { manifest, ...event } = log as typeof log & { manifest: Hex; size: number }
      batches.set(key, { root: key, manifest, event })
    },
    addDocument: (documentHash) => push(documentHash),
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
    documents() {
      const order = lastOfEach(rows)
      const rowAt = (index: number) => rows.at(order[index] as number)
      return {
        length: order.length,
        hashAt: (index) => toHex(rowAt(index).subarray(0, HASH)),
        at: (index) => entryOf(rowAt(index), accounts),
      }
    },
  }
}

/** @param accounts By the index that a row holds, less one; 0 in a row means no event. */
function entryOf(row: Uint8Array, accounts: readonly Hex[]): LedgerEntry {
  const view = new DataView(row.buffer, row.byteOffset)
  const documentHash = toHex(row.subarray(0, HASH))
  const account = accounts[view.getUint32(ACCOUNT) - 1]
  if (account === undefined) return { documentHash, event: null }
  const event = {
    block: readNumber(view, BLOCK),
    transactionHash: toHex(row.subarray(TRANSACTION, BLOCK)),
    account,
    validUntil: readNumber(view, VALID_UNTIL),
  }
  return { documentHash, event }
}

/** @returns The row of each hash that came last, by hash; one with an event before one without. */
function lastOfEach(rows: Rows): Uint32Array {
  const hasEvent = (index: number) =>
    rows
      .at(index)
      .subarray(ACCOUNT)
      .some((byte) => byte !== 0)
  const order = sortRows({
    ...rows,
    length: rows.length,
    compare: (a, b) => rows.compare(a, b, HASH),
  })
  let count = 0
  for (const row of order) {
    const last = order[count - 1]
    const isRepeat = count > 0 && rows.compare(last as number, row, HASH) === 0
    if (!isRepeat) order[count++] = row
    else if (hasEvent(row)) order[count - 1] = row
  }
  return order.slice(0, count)
}

/** 48 bits. */
function writeNumber(view: DataView, at: number, value: number): void {
  view.setUint16(at, Math.floor(value / 2 ** 32))
  view.setUint32(at + 2, value % 2 ** 32)
}

function readNumber(view: DataView, at: number): number {
  return view.getUint16(at) * 2 ** 32 + view.getUint32(at + 2)
}
