import { fromHex, type Hex } from '#document/hex.ts'
import type { Standing } from '#promise/anchoring.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import {
  type Intent,
  type IntentKey,
  type IssueIntent,
  keyOf,
  keyOfIntent,
  type RevisionIntent,
} from '#promise/intent.ts'
import type { Outbox, Withdrawn } from '#promise/ports.ts'
import { addActs, addRevisionActs, dropActs } from '../acts.ts'
import { type Database, holds, type LeasedAccount, lockOutcomes } from '../database.ts'
import { insertDocuments } from '../documents.ts'
import {
  deleteBy,
  INTENT_COLUMNS,
  IS_KEY,
  intentOf,
  KEY,
  type KeyOfIntent,
  keysOf,
  opposite,
  SEALED_UNLESS_ERASED,
  standingOf,
  waitsForIssue,
} from '../intents.ts'
import { followChanges, followGone, OUTBOX_CHANNEL } from '../outcomes.ts'
import { insertPayloads } from '../payloads.ts'
import { bytesOf, each, hexOf, isSet, notify, statement, type Work } from '../sql.ts'
import { claimSuccession } from '../successions.ts'
import { insertItems } from '../tables.ts'
import { deleteEmptyBlocks, placeOf } from './settle.ts'

/** A document or batch to issue, with what is written together with it. */
export type NewIssue = {
  intent: IssueIntent
  promised: boolean
  /** Whether it inserted its payload in a store elsewhere. */
  inserted?: boolean
  /** See `Payload`. */
  sealed?: Uint8Array | undefined
  entry?: IndexEntry | undefined
  /** Goes into the table of payloads, unless it is there or was erased. */
  bytes?: Uint8Array
}

/**
 * Whether the intent is new, and whether its payload was inserted in the table of payloads.
 * `standing`: of a new intent that has an account.
 */
export type AddedIssue = { isNew: boolean; stored: boolean; standing?: Standing }

export type Requests = Outbox & {
  /** Adds an intent to issue, together with others. */
  addIssue(issue: NewIssue): Promise<AddedIssue | 'has_successor'>
}

/** @returns The account that new intents get, while its lease lasts. */
export type Owner = () => LeasedAccount | undefined

export function createRequests(
  database: Database,
  fresh: Fresh,
  owner: Owner = () => undefined,
): Requests {
  const addTogether = database.together<NewIssue, AddedIssue>({
    work: (issues) => insertIssues(issues, owner()),
    idOf: ({ intent }) => intent.documentHash,
  })
  const revise = database.together<NewRevision, boolean>({
    work: (revisions) => insertRevisions(revisions, owner()),
    idOf: ({ intent }) => intent.documentHash,
  })
  const addIssue: Requests['addIssue'] = async (issue) => {
    if (issue.entry?.supersedes) return database.write(() => insertSuccessor(issue, owner()))
    return fresh.during(() => addTogether(issue))
  }

  return {
    addIssue,
    async add(intent, promised = false, payload = { inserted: false }, changedBlock = 0) {
      if (intent.kind !== 'issue') return revise({ intent, promised, changedBlock })
      const { inserted, sealed, entry } = payload
      const added = await addIssue({ intent, promised, inserted, sealed, entry })
      return added === 'has_successor' ? added : added.isNew
    },
    ...createStandings(database, fresh),
    withdraw: (intents) => database.write(() => deleteUnpromised(intents)),
  }
}

const ISSUE_COLUMNS = 'document_hash, root, valid_until, manifest, tenant, promised, inserted'
const INSERT_ISSUE = statement(
  (sql) => `
    ${insertItems(sql, 'intent', ISSUE_COLUMNS, {
      computed: {
        kind: "'issue'",
        account: sql.value('account', 'bytes'),
        sealed: SEALED_UNLESS_ERASED,
      },
      more: { sealed: 'bytes' },
    })} WHERE true ORDER BY place
    ON CONFLICT DO NOTHING ${sql.added('document_hash')}`,
)
const PROMISE = statement(
  (sql) => `
    UPDATE intent SET promised = true FROM ${sql.items(KEY)} WHERE ${IS_KEY}
    RETURNING ${INTENT_COLUMNS}`,
)

/**
 * Inserts intents to issue, or repeats them.
 *
 * @param issues Of different documents.
 * @param owner The account that new ones get, while its lease lasts.
 * @returns For each, in order.
 */
export function* insertIssues(
  issues: readonly NewIssue[],
  owner?: LeasedAccount,
): Work<AddedIssue[]> {
  const account = yield* accountOf(owner)
  // Before the intents: a withdrawal must not take a payload away from under a new intent.
  const stored = yield* insertPayloads(
    issues.flatMap(({ intent, bytes }) =>
      bytes ? [{ hash: fromHex(intent.documentHash), bytes }] : [],
    ),
  )
  const rows = yield* each(
    INSERT_ISSUE,
    issues.map(({ intent, promised, inserted = false, sealed = null }) => ({
      document_hash: fromHex(intent.documentHash),
      root: bytesOf(intent.root),
      valid_until: intent.validUntil,
      manifest: bytesOf(intent.manifest),
      tenant: intent.tenant ?? null,
      promised,
      inserted: inserted || stored.has(intent.documentHash),
      sealed,
    })),
    { account },
  )
  const added = new Set(rows.map(({ document_hash }) => hexOf(document_hash)))
  const again = issues.filter(({ intent }) => !added.has(intent.documentHash))
  yield* each(PROMISE, keysOf(again.filter(({ promised }) => promised).map(({ intent }) => intent)))
  yield* insertDocuments(
    issues.flatMap(({ intent: { documentHash, actor }, entry }) =>
      entry ? [{ documentHash, entry, blockNumber: null, actor }] : [],
    ),
  )
  if (account === null && added.size > 0) yield* notify(OUTBOX_CHANNEL)
  return issues.map(({ intent, promised }) => {
    const isNew = added.has(intent.documentHash)
    return {
      isNew,
      stored: stored.has(intent.documentHash),
      ...(isNew && owner && account && { standing: pendingOf(intent, promised, owner.account) }),
    }
  })
}

function pendingOf(intent: Intent, promised: boolean, account: Hex): Standing {
  return { intent, promised, account, outcome: { status: 'pending', transactionHash: null } }
}

function* insertSuccessor(
  issue: NewIssue,
  owner?: LeasedAccount,
): Work<AddedIssue | 'has_successor'> {
  const { supersedes, supersededRoot } = issue.entry ?? {}
  const { documentHash, actor, tenant } = issue.intent
  const isClaimed =
    supersedes === undefined || (yield* claimSuccession(supersedes, documentHash, supersededRoot))
  if (!isClaimed) return 'has_successor'
  const [added] = yield* insertIssues([issue], owner)
  if (supersedes !== undefined && added?.isNew)
    yield* addActs([{ kind: 'supersede', hash: supersedes, actor, tenant }])
  return added as AddedIssue
}

function* accountOf(owner: LeasedAccount | undefined): Work<Uint8Array | null> {
  return owner && (yield* holds(owner.lease)) ? fromHex(owner.account) : null
}

/** `changedBlock`: see `Outbox`. */
type NewRevision = { intent: RevisionIntent; promised: boolean; changedBlock: number }

const SELECT_BLOCKED = statement(
  (sql) => `
    SELECT item.kind AS kind, item.hash AS hash FROM ${sql.items(KEY)} JOIN intent
      ON intent.document_hash = item.hash AND intent.kind = ${opposite('item.kind')}
      AND intent.block_number IS NULL`,
)
const INSERT_REVISION = statement(
  (sql) => `
    ${insertItems(sql, 'intent', 'kind, document_hash, root, reason, tenant, promised', {
      computed: {
        account: `CASE WHEN NOT ${waitsForIssue('item', sql.value('account', 'bytes'))}
          THEN ${sql.value('account', 'bytes')} END`,
      },
    })} WHERE true ORDER BY place
    ON CONFLICT (document_hash, kind)
      DO UPDATE SET promised = intent.promised OR excluded.promised`,
)

const reasonOf = (intent: RevisionIntent) => (intent.kind === 'revoke' ? intent.reason : null)

/**
 * Inserts revisions, or queues those again that were undone on the chain.
 *
 * @param revisions Of different documents.
 * @param owner The account that new ones get, while its lease lasts; not those that have to wait for
 * a document that another account issues.
 * @returns For each, in order: `false` when its opposite waits.
 */
function* insertRevisions(
  revisions: readonly NewRevision[],
  owner?: LeasedAccount,
): Work<boolean[]> {
  yield* lockOutcomes()
  const blocked = yield* each(SELECT_BLOCKED, keysOf(revisions.map(({ intent }) => intent)))
  const isBlocked = new Set(blocked.map(({ kind, hash }) => `${kind} ${hexOf(hash)}`))
  const free = revisions.filter(({ intent }) => !isBlocked.has(keyOfIntent(intent)))
  yield* addRevisionActs(free)
  yield* requeueUndone(free)
  yield* each(
    INSERT_REVISION,
    free.map(({ intent, promised }) => ({
      kind: intent.kind,
      document_hash: fromHex(intent.documentHash),
      root: bytesOf(intent.root),
      reason: reasonOf(intent),
      tenant: intent.tenant ?? null,
      promised,
    })),
    { account: yield* accountOf(owner) },
  )
  yield* notify(OUTBOX_CHANNEL)
  return revisions.map(({ intent }) => !isBlocked.has(keyOfIntent(intent)))
}

const CHANGED = { ...KEY, changed: 'integer' } as const
const SELECT_UNDONE = statement(
  (sql) => `
    SELECT ${INTENT_COLUMNS} FROM ${sql.items(CHANGED)} JOIN intent ON ${IS_KEY}
    WHERE intent.block_number <= item.changed ${sql.forUpdate('intent')}`,
)
// The transaction hash stays: an intent that a transaction has carried is never withdrawn.
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

function createStandings(database: Database, fresh: Fresh): Pick<Outbox, 'find' | 'promise'> {
  const standings = (of: typeof SELECT) =>
    function* (keys: readonly KeyOfIntent[]): Work<(Standing | undefined)[]> {
      const rows = yield* each(of, keysOf(keys))
      const found = new Map(
        rows.map(standingOf).map((standing) => [keyOfIntent(standing.intent), standing]),
      )
      return keys.map(({ kind, documentHash }) => found.get(keyOf(kind, documentHash)))
    }
  const find = database.together({ work: standings(SELECT), reads: true })
  const promise = database.together({ work: standings(PROMISE) })
  return {
    find: async (kind, documentHash) =>
      fresh.take(keyOf(kind, documentHash)) ?? find({ kind, documentHash }),
    promise: (kind, documentHash) => promise({ kind, documentHash }),
  }
}

const WITHDRAW = statement(
  (sql) => `
    ${deleteBy(sql, KEY, IS_KEY)} AND transaction_hash IS NULL AND NOT promised
      AND block_number IS NULL
    RETURNING ${INTENT_COLUMNS}, intent.inserted`,
)

/** `withdraw`, for use in a transaction. */
export function* deleteUnpromised(intents: readonly Intent[]): Work<Withdrawn> {
  const rows = yield* each(WITHDRAW, keysOf(intents))
  const deleted = new Map(rows.map((row) => [keyOfIntent(intentOf(row)), row]))
  const withdrawn = intents.filter((intent) => deleted.has(keyOfIntent(intent)))
  yield* dropActs(withdrawn)
  yield* followGone(withdrawn.map((intent) => ({ intent, failed: false })))
  return {
    intents: withdrawn,
    inserted: withdrawn
      .filter((intent) => isSet(deleted.get(keyOfIntent(intent))?.inserted))
      .map(({ documentHash }) => documentHash),
  }
}

/**
 * The standings of intents that this process has just added. They need not be read again: nothing
 * happens to an intent before an engine knows it, and an engine knows it from the request that added
 * it, or from the outbox.
 */
export type Fresh = {
  /** @param add Adds an intent. It resolves once that is durable, with a standing if it is new. */
  during<T extends { standing?: Standing }>(add: () => Promise<T>): Promise<T>
  /** @returns The standing of an intent, once. */
  take(key: IntentKey): Standing | undefined
  /** An engine reads the outbox. */
  forget(): void
}

export function createFresh(): Fresh {
  const standings = new Map<IntentKey, Standing>()
  let readings = 0
  return {
    async during(add) {
      const before = readings
      const added = await add()
      const { standing } = added
      if (standing && readings === before) standings.set(keyOfIntent(standing.intent), standing)
      return added
    },
    take(key) {
      const standing = standings.get(key)
      standings.delete(key)
      return standing
    },
    forget() {
      readings++
      standings.clear()
    },
  }
}
