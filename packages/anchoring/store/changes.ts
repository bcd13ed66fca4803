import { fromHex, type Hex } from '#document/hex.ts'
import type { RevisionAction } from '#promise/action.ts'
import { type Act, type ActKind, type ActLog, parseActor } from '#promise/acts.ts'
import { REVOCATION_REASONS } from '#verifier/reasons.ts'
import { type Database, lockOutcomes } from './database.ts'
import { CREATED_AT, IS_PROMISED } from './index-pages.ts'
import { WAITING_CHANNEL } from './outcomes.ts'
import {
  all,
  bytesOf,
  each,
  first,
  hexOf,
  isSet,
  notify,
  numberOrNull,
  type Row,
  statement,
  type Work,
} from './sql.ts'
import { insertItems } from './tables.ts'

// Changes of documents and batches. They stay, and so say who did what. The issuing of a document is
// in its record, so that it costs no row of its own.

/** The maximum number of acts that one answer has. */
const MAX_ACTS = 100

/** `changedBlock`: see `Outbox`. */
export type NewChange = { action: RevisionAction; changedBlock: number }

const opposite = (kind: string) =>
  `CASE ${kind} WHEN 'suspend' THEN 'release' WHEN 'release' THEN 'suspend' END`

/** @returns Whether a later suspension or release of the same document is in a block. */
export const isUndone = (change: string) => `EXISTS (
  SELECT 1 FROM change AS later JOIN member ON member.change = later.id
    JOIN send ON send.id = member.send
  WHERE ${change}.kind <> 'revoke' AND later.hash = ${change}.hash AND later.id > ${change}.id
    AND later.kind IN ('suspend', 'release') AND send.block_number IS NOT NULL)`

const KEY = { kind: 'text', hash: 'bytes' } as const
const IS_OPEN = `(EXISTS (SELECT 1 FROM waiting WHERE waiting.change = change.id) OR EXISTS (
  SELECT 1 FROM member JOIN send ON send.id = member.send
  WHERE member.change = change.id AND send.block_number IS NULL))`
const SELECT_BLOCKED = statement(
  (sql) => `
    SELECT item.kind AS kind, item.hash AS hash FROM ${sql.items(KEY)} JOIN change
      ON change.hash = item.hash AND change.kind = ${opposite('item.kind')}
    WHERE ${IS_OPEN}`,
)
/** Those that are open, or in force in a block after the last change that the caller saw. */
const SELECT_KNOWN = statement(
  (sql) => `
    SELECT change.id AS id, change.kind AS kind, change.hash AS hash, change.after AS after,
      EXISTS (SELECT 1 FROM waiting WHERE waiting.change = change.id) AS waits
    FROM ${sql.items({ ...KEY, changed: 'integer' })} JOIN change
      ON change.hash = item.hash AND change.kind = item.kind
    WHERE ${IS_OPEN} OR EXISTS (
      SELECT 1 FROM member JOIN send ON send.id = member.send
      WHERE member.change = change.id AND NOT send.final AND send.block_number > item.changed)
      AND NOT ${isUndone('change')}`,
)
const INSERT = statement(
  (sql) => `
    ${insertItems(sql, 'change', 'kind, hash, root, reason, actor, tenant, after', {
      computed: { time: sql.now },
    })} WHERE true ORDER BY place RETURNING id`,
)
const WAIT = statement(
  (sql) => `${insertItems(sql, 'waiting', 'change')} WHERE true ORDER BY place`,
)
const FREE = statement(
  (sql) => `
    UPDATE change SET reason = item.reason, actor = coalesce(item.actor, change.actor),
      tenant = coalesce(item.tenant, change.tenant), after = NULL
    FROM ${sql.items({ id: 'integer', reason: 'integer', actor: 'text', tenant: 'text' })}
    WHERE change.id = item.id`,
)

const reasonOf = (action: RevisionAction) => (action.kind === 'revoke' ? action.reason : null)

/**
 * Adds changes, unless the same one is open, or was made after what the caller saw.
 *
 * @param changes Of different documents.
 * @returns For each, in order: `false` when its opposite is open.
 */
export function* insertChanges(changes: readonly NewChange[]): Work<boolean[]> {
  yield* lockOutcomes()
  const keys = changes.map(({ action: { kind, documentHash }, changedBlock }) => ({
    kind,
    hash: fromHex(documentHash),
    changed: changedBlock,
  }))
  const keyOf = ({ kind, hash }: Row) => `${kind} ${hexOf(hash)}`
  const blocked = new Set((yield* each(SELECT_BLOCKED, keys)).map(keyOf))
  const known = new Map((yield* each(SELECT_KNOWN, keys)).map((row) => [keyOf(row), row]))
  const isOf = ({ action }: NewChange) => `${action.kind} ${action.documentHash}`
  const free = changes.filter((one) => !blocked.has(isOf(one)))
  // A request to revoke does not wait for the successor of its document.
  yield* each(
    FREE,
    free.flatMap(({ action, ...one }) => {
      const row = known.get(isOf({ action, ...one }))
      if (!row || row.after === null || !isSet(row.waits)) return []
      const { actor = null, tenant = null } = action
      return [{ id: row.id, reason: reasonOf(action), actor, tenant }]
    }),
  )
  yield* addChanges(free.filter((one) => !known.has(isOf(one))).map(({ action }) => ({ action })))
  return changes.map((one) => !blocked.has(isOf(one)))
}

/** Adds changes. @param changes `after` is the record that must be in a block before. */
export function* addChanges(
  changes: readonly { action: RevisionAction; after?: number }[],
): Work<void> {
  if (changes.length === 0) return
  const rows = yield* each(
    INSERT,
    changes.map(({ action, after = null }) => ({
      kind: action.kind,
      hash: fromHex(action.documentHash),
      root: bytesOf(action.root),
      reason: reasonOf(action),
      actor: action.actor ?? null,
      tenant: action.tenant ?? null,
      after,
    })),
  )
  yield* each(
    WAIT,
    rows.map(({ id }) => ({ change: id })),
  )
  yield* notify(WAITING_CHANNEL)
}

const ERASE = statement(
  (sql) => `
    INSERT INTO change (kind, hash, actor, tenant, time)
    VALUES ('erase', :hash, :actor, :tenant, ${sql.now})`,
)

/** Notes who erased a document. The chain does not see it. */
export function* noteErasing(hash: Uint8Array, actor?: string, tenant?: string): Work<void> {
  yield* all(ERASE, { hash, actor, tenant })
}

const SELECT_ISSUED = statement(`
  SELECT coalesce(actor, (SELECT whole.actor FROM batch AS whole WHERE whole.id = batch)) AS actor,
    ${CREATED_AT} AS time, (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
  FROM record WHERE hash = :hash AND ${IS_PROMISED} LIMIT 1`)
const SELECT_BATCH = statement(
  'SELECT actor, promised_at AS time, tenant FROM batch WHERE root = :hash AND promised',
)
const SELECT = statement(
  (sql) => `
    SELECT hash, kind, reason, time, actor, tenant FROM change
    WHERE actor IS NOT NULL AND ${sql.isIn('hash', 'hashes', 'bytes')}
    ORDER BY id DESC LIMIT ${MAX_ACTS}`,
)

/** Who did what with documents. */
export function createActLog(database: Database): ActLog {
  return { of: (documentHash) => database.snapshot(() => read(documentHash)) }
}

function* read(documentHash: Hex): Work<Act[]> {
  const hash = fromHex(documentHash)
  const issued = (yield* first(SELECT_ISSUED, { hash })) ?? (yield* first(SELECT_BATCH, { hash }))
  const root = issued?.root as Uint8Array | null | undefined
  const rows = yield* all(SELECT, { hashes: root ? [hash, root] : [hash] })
  const acts = rows.map((row) => actIn(row, hexOf(row.hash) !== documentHash)).reverse()
  if (!issued) return acts
  return [actIn({ tenant: null, ...issued, kind: 'issue' }, Boolean(root)), ...acts]
}

function actIn(row: Row, isOfBatch: boolean): Act {
  const isSuperseding = row.kind === 'revoke' && row.reason === REVOCATION_REASONS.superseded
  return {
    kind: isSuperseding ? 'supersede' : (row.kind as ActKind),
    time: numberOrNull(row.time),
    actor: row.actor === null ? null : parseActor(String(row.actor)),
    tenant: row.tenant as string | null,
    isOfBatch,
  }
}
