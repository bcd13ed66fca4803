import { fromHex, type Hex } from '#document/hex.ts'
import { type Act, type ActKind, type ActLog, actOf, parseActor } from '#promise/acts.ts'
import type { RevisionIntent } from '#promise/intent.ts'
import type { Database } from './database.ts'
import { CREATED_AT, IS_PROMISED } from './index-pages.ts'
import {
  all,
  type Dialect,
  each,
  first,
  hexOf,
  numberOrNull,
  type Row,
  statement,
  type Work,
} from './sql.ts'
import { insertItems } from './tables.ts'

// Who did what. The issuing of a single document is in its row of the index, so that it costs no
// row of its own.

/** The maximum number of acts that one answer has. */
const MAX_ACTS = 100

const insertActs = (sql: Dialect, more = {}) =>
  insertItems(sql, 'act', 'document_hash, kind, actor, tenant', {
    computed: { time: sql.now },
    more,
  })
const INSERT = statement((sql) => `${insertActs(sql)} WHERE true ORDER BY place`)
// A repeated request is no act of its own.
const INSERT_NEW = statement(
  (sql) => `
    ${insertActs(sql, { intent: 'text', changed: 'integer' })}
    WHERE NOT EXISTS (
      SELECT 1 FROM intent
      WHERE intent.document_hash = item.document_hash AND intent.kind = item.intent
        AND (intent.block_number IS NULL OR intent.block_number > item.changed))
    ORDER BY place`,
)
/** `actor`: see `formatActor`. */
type NewAct = {
  kind: ActKind
  hash: Hex
  actor?: string | undefined
  tenant?: string | null | undefined
}

/** Records acts whose actors are known. */
export function* addActs(acts: readonly NewAct[]): Work<void> {
  const known = acts.filter(({ actor }) => actor !== undefined)
  yield* each(
    INSERT,
    known.map(({ hash, ...act }) => ({ ...act, document_hash: fromHex(hash) })),
  )
}

/**
 * Records revisions that are not in the outbox yet, before they are added to it.
 *
 * @param revisions With the block of the last change that the caller saw; see `Outbox`.
 */
export function* addRevisionActs(
  revisions: readonly { intent: RevisionIntent; changedBlock: number }[],
): Work<void> {
  yield* each(
    INSERT_NEW,
    revisions
      .filter(({ intent }) => intent.actor !== undefined)
      .map(({ intent, changedBlock }) => ({
        document_hash: fromHex(intent.documentHash),
        kind: actOf(intent),
        actor: intent.actor,
        tenant: intent.tenant,
        intent: intent.kind,
        changed: changedBlock,
      })),
  )
}

const SELECT_ISSUED = statement(`
  SELECT actor, ${CREATED_AT} AS time,
    (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
  FROM document WHERE document_hash = :hash AND ${IS_PROMISED} LIMIT 1`)
const SELECT = statement(
  (sql) => `
    SELECT document_hash, kind, time, actor, tenant FROM act
    WHERE ${sql.isIn('document_hash', 'hashes', 'bytes')} ORDER BY id DESC LIMIT ${MAX_ACTS}`,
)

/** Who did what with documents. */
export function createActLog(database: Database): ActLog {
  return { of: (documentHash) => database.snapshot(() => read(documentHash)) }
}

function* read(documentHash: Hex): Work<Act[]> {
  const hash = fromHex(documentHash)
  const issued = yield* first(SELECT_ISSUED, { hash })
  const root = issued?.root as Uint8Array | null | undefined
  const rows = yield* all(SELECT, { hashes: root ? [hash, root] : [hash] })
  const acts = rows.map((row) => actIn(row, hexOf(row.document_hash) !== documentHash)).reverse()
  if (!issued || acts.some(({ kind }) => kind === 'issue')) return acts
  return [actIn({ ...issued, kind: 'issue', tenant: null }, Boolean(root)), ...acts]
}

function actIn(row: Row, isOfBatch: boolean): Act {
  return {
    kind: row.kind as ActKind,
    time: numberOrNull(row.time),
    actor: row.actor === null ? null : parseActor(String(row.actor)),
    tenant: row.tenant as string | null,
    isOfBatch,
  }
}
