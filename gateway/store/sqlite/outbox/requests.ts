import type { Hex } from '#document/hex.ts'
import type { Intent, RevisionIntent } from '#promise/intent.ts'
import type { Payload } from '#promise/payload.ts'
import type { Outbox, Withdrawn } from '#promise/ports.ts'
import type { Database } from '../../drivers/sqlite/database.ts'
import { createInsertDocument } from '../document-index.ts'
import { createClaimSuccession } from '../successions.ts'
import type { BlockWriter } from './blocks.ts'
import type { Opposites } from './opposites.ts'
import { blockOf, INTENT_COLUMNS, type Row, standingOf } from './rows.ts'

/** What requests do to the outbox. */
export type Requests = Outbox & {
  /** `add`, for use within a write. */
  insert(
    intent: Intent,
    promised: boolean,
    payload?: Payload,
    changedBlock?: number,
  ): boolean | 'has_successor'
  /** `withdraw`, for use within a write. */
  delete(intents: readonly Intent[]): Withdrawn
}

type FindRow = (kind: Intent['kind'], documentHash: Hex) => Row | undefined

export function createRequests(
  database: Database,
  blocks: BlockWriter,
  opposites: Opposites,
): Requests {
  const { sqlite, write } = database
  const promise = sqlite.prepare(
    'UPDATE intent SET promised = 1 WHERE document_hash = ? AND kind = ?',
  )
  const select = sqlite.prepare(
    `SELECT ${INTENT_COLUMNS} FROM intent WHERE document_hash = ? AND kind = ?`,
  )
  const findRow: FindRow = (kind, documentHash) => select.get(documentHash, kind) as Row | undefined
  const insert = createInsert(database)
  const repeat = createRepeat(database, blocks, findRow)
  const documents = createInsertDocument(database)
  const claimSuccession = createClaimSuccession(database)
  const withdraw = createWithdraw(database)

  const insertAndPromise: Requests['insert'] = (intent, promised, payload, changedBlock = 0) => {
    if (opposites.isWaiting(intent)) return false
    const { documentHash } = intent
    const { entry } = payload ?? {}
    const { supersedes, supersededRoot } = entry ?? {}
    if (supersedes && !claimSuccession(supersedes, documentHash, supersededRoot))
      return 'has_successor'
    if (intent.kind !== 'issue') repeat(intent, changedBlock)
    const inserted = insert(intent, payload)
    const isNew = payload?.isNew && inserted
    if (entry) documents[isNew ? 'insertNew' : 'insert']({ documentHash, entry, blockNumber: null })
    if (promised) promise.run(intent.documentHash, intent.kind)
    return intent.kind !== 'issue' || inserted
  }

  const find = (kind: Intent['kind'], documentHash: Hex) => {
    const row = findRow(kind, documentHash)
    return row && standingOf(row)
  }

  return {
    insert: insertAndPromise,
    delete: withdraw,
    add: (intent, promised = false, payload, changedBlock) =>
      write(() => insertAndPromise(intent, promised, payload, changedBlock)),
    promise: (kind, documentHash) =>
      write(() => {
        promise.run(documentHash, kind)
        return find(kind, documentHash)
      }),
    find: async (kind, documentHash) => find(kind, documentHash),
    withdraw: (intents) => write(() => withdraw(intents)),
  }
}

/** @returns A function that inserts an intent, unless it is there; `true` if it inserted one. */
function createInsert({ sqlite }: Database): (intent: Intent, payload?: Payload) => boolean {
  const insert = sqlite.prepare(`
    INSERT INTO intent
      (kind, document_hash, root, valid_until, manifest, reason, tenant, inserted, sealed)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)

  return (intent, payload) => {
    const { kind, documentHash, root = null, tenant = null } = intent
    const validUntil = kind === 'issue' ? intent.validUntil : null
    const manifest = kind === 'issue' ? (intent.manifest ?? null) : null
    const reason = kind === 'revoke' ? intent.reason : null
    const inserted = payload?.inserted ? 1 : 0
    const sealed = payload?.sealed ?? null
    const key = [kind, documentHash, root] as const
    return insert.run(...key, validUntil, manifest, reason, tenant, inserted, sealed).changes > 0
  }
}

/**
 * @returns A function that puts a revision back in the queue that was undone on the chain: it is
 *   anchored in the block of the last change that the caller saw, or before.
 */
function createRepeat(
  { sqlite }: Database,
  blocks: BlockWriter,
  findRow: FindRow,
): (intent: RevisionIntent, changedBlock: number) => void {
  // The transaction hash stays: an intent that a transaction has carried is never withdrawn.
  const requeue = sqlite.prepare(`
    UPDATE intent SET reason = ?, block_number = NULL, block_hash = '0x'
    WHERE document_hash = ? AND kind = ? AND block_number <= ?`)

  return (intent, changedBlock) => {
    const { kind, documentHash } = intent
    const reason = intent.kind === 'revoke' ? intent.reason : null
    const before = findRow(kind, documentHash)
    const { changes } = requeue.run(reason, documentHash, kind, changedBlock)
    if (before && changes > 0) blocks.deleteEmpty([blockOf(before)])
  }
}

function createWithdraw({ sqlite }: Database): Requests['delete'] {
  const remove = sqlite.prepare(`
    DELETE FROM intent
    WHERE document_hash = ? AND kind = ? AND transaction_hash IS NULL AND promised = 0
    AND block_number IS NULL
    RETURNING inserted`)

  return (intents) => {
    const deleted = intents.flatMap((intent) => {
      const row = remove.get(intent.documentHash, intent.kind)
      return row ? [{ intent, inserted: row.inserted === 1 }] : []
    })
    return {
      intents: deleted.map(({ intent }) => intent),
      inserted: deleted.filter(({ inserted }) => inserted).map(({ intent }) => intent.documentHash),
    }
  }
}
