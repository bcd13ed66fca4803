import { fromHex } from '#document/hex.ts'
import type { Standing } from '#promise/anchoring.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import { type IssueIntent, keyOf, keyOfIntent, type RevisionIntent } from '#promise/intent.ts'
import type { Outbox } from '#promise/ports.ts'
import { addActs, addRevisionActs } from '../acts.ts'
import { type Database, lockOutcomes } from '../database.ts'
import { insertDocuments } from '../documents.ts'
import {
  INTENT_COLUMNS,
  IS_KEY,
  intentOf,
  KEY,
  type KeyOfIntent,
  keysOf,
  opposite,
  SEALED_UNLESS_ERASED,
  standingOf,
} from '../intents.ts'
import { followChanges, WAITING_CHANNEL } from '../outcomes.ts'
import { insertPayloads } from '../payloads.ts'
import { bytesOf, each, hexOf, notify, statement, type Work } from '../sql.ts'
import { claimSuccession } from '../successions.ts'
import { insertItems } from '../tables.ts'
import { deleteEmptyBlocks, placeOf } from './settle.ts'

/** A document or batch to issue, with what is written together with it. */
export type NewIssue = {
  intent: IssueIntent
  /** See `Payload`. */
  sealed?: Uint8Array | undefined
  entry?: IndexEntry | undefined
  /** Goes into the table of payloads, unless it is there or was erased. */
  bytes?: Uint8Array
}

/** Whether the intent is new, and whether its payload was inserted in the table of payloads. */
export type AddedIssue = { isNew: boolean; stored: boolean }

export type Requests = Outbox & {
  /** Adds an intent to issue, together with others. */
  addIssue(issue: NewIssue): Promise<AddedIssue | 'has_successor'>
}

export function createRequests(database: Database): Requests {
  const addTogether = database.together<NewIssue, AddedIssue>({
    work: insertIssues,
    idOf: ({ intent }) => intent.documentHash,
  })
  const revise = database.together<NewRevision, boolean>({
    work: insertRevisions,
    idOf: ({ intent }) => intent.documentHash,
  })
  const addIssue: Requests['addIssue'] = (issue) =>
    issue.entry?.supersedes ? database.write(() => insertSuccessor(issue)) : addTogether(issue)

  return {
    addIssue,
    async add(intent, { payload = {}, changedBlock = 0 } = {}) {
      if (intent.kind !== 'issue') return revise({ intent, changedBlock })
      const added = await addIssue({ intent, ...payload })
      return added === 'has_successor' ? added : added.isNew
    },
    find: createFind(database),
  }
}

const ISSUE_COLUMNS = 'document_hash, root, valid_until, manifest, tenant'
const INSERT_ISSUE = statement(
  (sql) => `
    ${insertItems(sql, 'intent', ISSUE_COLUMNS, {
      computed: {
        kind: "'issue'",
        sealed: SEALED_UNLESS_ERASED,
      },
      more: { sealed: 'bytes' },
    })} WHERE true ORDER BY place
    ON CONFLICT DO NOTHING ${sql.added('document_hash')}`,
)

/**
 * Inserts intents to issue, or repeats them.
 *
 * @param issues Of different documents.
 * @returns For each, in order.
 */
export function* insertIssues(issues: readonly NewIssue[]): Work<AddedIssue[]> {
  const stored = yield* insertPayloads(
    issues.flatMap(({ intent, bytes }) =>
      bytes ? [{ hash: fromHex(intent.documentHash), bytes }] : [],
    ),
  )
  const rows = yield* each(
    INSERT_ISSUE,
    issues.map(({ intent, sealed = null }) => ({
      document_hash: fromHex(intent.documentHash),
      root: bytesOf(intent.root),
      valid_until: intent.validUntil,
      manifest: bytesOf(intent.manifest),
      tenant: intent.tenant ?? null,
      sealed,
    })),
  )
  const added = new Set(rows.map(({ document_hash }) => hexOf(document_hash)))
  yield* insertDocuments(
    issues.flatMap(({ intent: { documentHash, actor }, entry }) =>
      entry ? [{ documentHash, entry, blockNumber: null, actor }] : [],
    ),
  )
  if (added.size > 0) yield* notify(WAITING_CHANNEL)
  return issues.map(({ intent: { documentHash } }) => ({
    isNew: added.has(documentHash),
    stored: stored.has(documentHash),
  }))
}

function* insertSuccessor(issue: NewIssue): Work<AddedIssue | 'has_successor'> {
  const { supersedes, supersededRoot } = issue.entry ?? {}
  const { documentHash, actor, tenant } = issue.intent
  const isClaimed =
    supersedes === undefined || (yield* claimSuccession(supersedes, documentHash, supersededRoot))
  if (!isClaimed) return 'has_successor'
  const [added] = yield* insertIssues([issue])
  if (supersedes !== undefined && added?.isNew)
    yield* addActs([{ kind: 'supersede', hash: supersedes, actor, tenant }])
  return added as AddedIssue
}

/** `changedBlock`: see `Outbox`. */
type NewRevision = { intent: RevisionIntent; changedBlock: number }

const SELECT_BLOCKED = statement(
  (sql) => `
    SELECT item.kind AS kind, item.hash AS hash FROM ${sql.items(KEY)} JOIN intent
      ON intent.document_hash = item.hash AND intent.kind = ${opposite('item.kind')}
      AND intent.block_number IS NULL`,
)
const INSERT_REVISION = statement(
  (sql) => `
    ${insertItems(sql, 'intent', 'kind, document_hash, root, reason, tenant')} WHERE true
    ORDER BY place
    ON CONFLICT DO NOTHING`,
)

const reasonOf = (intent: RevisionIntent) => (intent.kind === 'revoke' ? intent.reason : null)

/**
 * Inserts revisions, or queues those again that were undone on the chain.
 *
 * @param revisions Of different documents.
 * @returns For each, in order: `false` when its opposite waits.
 */
function* insertRevisions(revisions: readonly NewRevision[]): Work<boolean[]> {
  yield* lockOutcomes()
  const blocked = yield* each(SELECT_BLOCKED, keysOf(revisions.map(({ intent }) => intent)))
  const isBlocked = new Set(blocked.map(({ kind, hash }) => `${kind} ${hexOf(hash)}`))
  const free = revisions.filter(({ intent }) => !isBlocked.has(keyOfIntent(intent)))
  yield* addRevisionActs(free)
  yield* requeueUndone(free)
  yield* each(
    INSERT_REVISION,
    free.map(({ intent }) => ({
      kind: intent.kind,
      document_hash: fromHex(intent.documentHash),
      root: bytesOf(intent.root),
      reason: reasonOf(intent),
      tenant: intent.tenant ?? null,
    })),
  )
  yield* notify(WAITING_CHANNEL)
  return revisions.map(({ intent }) => !isBlocked.has(keyOfIntent(intent)))
}

const CHANGED = { ...KEY, changed: 'integer' } as const
const SELECT_UNDONE = statement(
  (sql) => `
    SELECT ${INTENT_COLUMNS} FROM ${sql.items(CHANGED)} JOIN intent ON ${IS_KEY}
    WHERE intent.block_number <= item.changed ${sql.forUpdate('intent')}`,
)
const REQUEUE_UNDONE = statement(
  (sql) => `
    UPDATE intent SET reason = item.reason, block_number = NULL,
      block_hash = ${sql.value('none', 'bytes')}
    FROM ${sql.items({ ...KEY, reason: 'integer' })} WHERE ${IS_KEY}`,
)

function* requeueUndone(revisions: readonly NewRevision[]): Work<void> {
  const rows = yield* each(
    SELECT_UNDONE,
    revisions.map(({ intent: { kind, documentHash }, changedBlock }) => ({
      kind,
      hash: fromHex(documentHash),
      changed: changedBlock,
    })),
  )
  if (rows.length === 0) return
  const undone = new Set(rows.map((row) => keyOfIntent(intentOf(row))))
  yield* each(
    REQUEUE_UNDONE,
    revisions
      .filter(({ intent }) => undone.has(keyOfIntent(intent)))
      .map(({ intent }) => ({
        kind: intent.kind,
        hash: fromHex(intent.documentHash),
        reason: reasonOf(intent),
      })),
    { none: new Uint8Array() },
  )
  const changes = rows.map((row) => ({ intent: intentOf(row), before: placeOf(row), after: null }))
  yield* deleteEmptyBlocks(changes.flatMap(({ before }) => before ?? []))
  yield* followChanges(changes)
}

const SELECT = statement(
  (sql) => `SELECT ${INTENT_COLUMNS} FROM ${sql.items(KEY)} JOIN intent ON ${IS_KEY}`,
)

function createFind(database: Database): Outbox['find'] {
  const find = database.together<KeyOfIntent, Standing | undefined>({
    *work(keys) {
      const rows = yield* each(SELECT, keysOf(keys))
      const found = new Map(
        rows.map(standingOf).map((standing) => [keyOfIntent(standing.intent), standing]),
      )
      return keys.map(({ kind, documentHash }) => found.get(keyOf(kind, documentHash)))
    },
    reads: true,
  })
  return (kind, documentHash) => find({ kind, documentHash })
}
