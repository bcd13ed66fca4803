import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { IssueAction } from '#promise/action.ts'
import type { DocumentIndex, IndexEntry, OwnedDocument } from '#promise/document-index.ts'
import type { Successions } from '#promise/supersede.ts'
import { SUPERSEDED } from '#verifier/reasons.ts'
import { addChanges } from './changes.ts'
import type { Database } from './database.ts'
import { COLUMNS, documentOf, IS_PROMISED, readPage } from './index-pages.ts'
import { WAITING_CHANNEL } from './outcomes.ts'
import { insertPayloads } from './payloads.ts'
import {
  all,
  bytesOf,
  each,
  first,
  hexOf,
  hexOrNull,
  isSet,
  notify,
  type Row,
  statement,
  type Work,
} from './sql.ts'
import { insertItems, KEPT_STATUSES } from './tables.ts'

/** For how long an idempotency key is remembered, in seconds. */
const REMEMBERED_SECONDS = 400 * 86_400

// Blind indexes have 64 bits, which is more than a number can represent.
const FIND = statement(`
  SELECT ${COLUMNS}, valid_until, tenant, CAST(category AS text) AS category,
    (SELECT whole.root FROM batch AS whole WHERE whole.id = batch) AS root
  FROM record WHERE hash = :hash AND ${IS_PROMISED} LIMIT 1`)
const CORRECT = statement(
  (sql) => `
    UPDATE record SET status = item.status
    FROM ${sql.items({ hash: 'bytes', status: 'integer' })} WHERE record.hash = item.hash`,
)

/** The documents, for lists and searches. */
export function createDocumentIndex(database: Database): DocumentIndex {
  return {
    page: (wanted) => database.snapshot(() => readPage(wanted)),
    async find(documentHash) {
      const [row] = await database.read(FIND, { hash: fromHex(documentHash) })
      return row && ownedOf(row)
    },
    async correct(found) {
      if (found.length === 0) return
      await database.change(
        CORRECT,
        {},
        found.map(({ documentHash, status }) => ({
          hash: fromHex(documentHash),
          status: KEPT_STATUSES.indexOf(status),
        })),
      )
    },
  }
}

/**
 * @param row A row with blind indexes as text, because they have 64 bits, more than a number can
 * represent.
 */
function ownedOf(row: Row): OwnedDocument {
  return {
    ...documentOf(row),
    validUntil: Number(row.valid_until),
    tenant: row.tenant as string | null,
    category: row.category === null ? null : BigInt(row.category as string),
    root: hexOrNull(row.root),
  }
}

const SELECT_SUCCESSOR = statement('SELECT hash FROM record WHERE supersedes = :hash')

export function createSuccessions(database: Database): Successions {
  return {
    async successorOf(documentHash) {
      const [row] = await database.read(SELECT_SUCCESSOR, { hash: fromHex(documentHash) })
      return row && hexOf(row.hash)
    },
  }
}

const SELECT_REQUEST = statement(
  (sql) => `
    SELECT hash FROM record
    WHERE request = :request AND created_at > ${sql.now} - ${REMEMBERED_SECONDS}`,
)

/** Finds documents by the idempotency keys of their requests. */
export function createRequestLog(database: Database) {
  return {
    /** @param request A digest of 16 bytes. @returns The documentHash of the first request. */
    async find(request: Uint8Array): Promise<Hex | undefined> {
      const [row] = await database.read(SELECT_REQUEST, { request })
      return row && hexOf(row.hash)
    },
  }
}

/** A document to issue, with what is written together with it. */
export type NewRecord = {
  action: IssueAction
  entry?: IndexEntry | undefined
  /** Goes into the table of payloads, unless it is there or was erased. */
  bytes?: Uint8Array | undefined
}

/** The columns that an entry fills. */
export const ENTRY_COLUMNS =
  'hash, batch_block, batch, issued_on, valid_until, subject, category, tenant, actor'

const INSERT = statement(
  (sql) => `
    ${insertItems(sql, 'record', `${ENTRY_COLUMNS}, request, supersedes`, {
      computed: { created_at: `CASE WHEN item.batch IS NULL THEN ${sql.now} END` },
    })}
    WHERE item.batch IS NOT NULL
      OR NOT EXISTS (SELECT 1 FROM record WHERE record.hash = item.hash)
    ORDER BY place
    ON CONFLICT DO NOTHING ${sql.added('hash')}`,
)
const OWN = statement(
  (sql) => `
    UPDATE record SET tenant = item.tenant
    FROM ${sql.items({ hash: 'bytes', tenant: 'text' })}
    WHERE record.hash = item.hash AND record.tenant IS NULL`,
)

export type NewRow = {
  documentHash: Hex
  /** Blind indexes are null when its content is unknown. */
  entry: Omit<IndexEntry, 'subject' | 'category'> & Record<'subject' | 'category', bigint | null>
  /** The id of its batch. */
  batch?: number
  actor?: string | undefined
}

function rowOf({ documentHash, entry, batch, actor }: NewRow) {
  return {
    hash: fromHex(documentHash),
    batch_block: bytesOf(entry.batchBlock),
    batch: batch ?? null,
    issued_on: entry.issuedOn,
    valid_until: entry.validUntil,
    subject: entry.subject,
    category: entry.category,
    tenant: entry.tenant,
    actor: actor ?? null,
    request: entry.request ?? null,
    supersedes: bytesOf(entry.supersedes),
  }
}

/**
 * Adds documents, unless they are there; those of a batch, in that batch. A document of an unknown
 * tenant gets this tenant, because nobody else's request leads to its hash.
 *
 * @returns The hashes of those that were added.
 */
export function* insertRecords(documents: readonly NewRow[]): Work<Set<Hex>> {
  const rows = documents.map(rowOf)
  const added = yield* each(INSERT, rows)
  if (added.length < documents.length)
    yield* each(
      OWN,
      rows.filter(({ tenant }) => tenant !== null),
    )
  return new Set(added.map(({ hash }) => hexOf(hash)))
}

const WAIT = statement(
  (sql) => `
    INSERT INTO waiting (record)
    SELECT record.id FROM record
    WHERE record.batch IS NULL AND ${sql.isIn('record.hash', 'hashes', 'bytes')} ORDER BY record.id`,
)

/** Why nothing was inserted. */
type Conflict = 'key_reused' | 'has_successor'

const CONFLICT_ITEM = { hash: 'bytes', request: 'bytes', supersedes: 'bytes' } as const
const SELECT_CONFLICTS = statement(
  (sql) => `
    SELECT item.hash AS hash, record.id AS id, record.request = item.request AS is_request,
      record.created_at > ${sql.now} - ${REMEMBERED_SECONDS} AS is_remembered
    FROM ${sql.items(CONFLICT_ITEM)} JOIN record
      ON record.request = item.request OR record.supersedes = item.supersedes
    WHERE record.hash <> item.hash`,
)
const FORGET_REQUESTS = statement(
  (sql) => `UPDATE record SET request = NULL WHERE ${sql.isIn('id', 'ids', 'integer')}`,
)

/** @returns The documents whose idempotency key, or superseded document, is another one's. */
function* conflictsOf(records: readonly NewRecord[]): Work<Map<Hex, Conflict>> {
  const rows = yield* each(
    SELECT_CONFLICTS,
    records
      .filter(({ entry }) => entry?.request || entry?.supersedes)
      .map(({ action, entry }) => ({
        hash: fromHex(action.documentHash),
        request: entry?.request ?? null,
        supersedes: bytesOf(entry?.supersedes),
      })),
  )
  const isForgotten = (row: Row) => isSet(row.is_request) && !isSet(row.is_remembered)
  const forgotten = rows.filter(isForgotten)
  if (forgotten.length > 0) yield* all(FORGET_REQUESTS, { ids: forgotten.map(({ id }) => id) })
  const found = new Map<Hex, Conflict>()
  for (const row of rows.filter((one) => !isForgotten(one))) {
    const hash = hexOf(row.hash)
    if (isSet(row.is_request)) found.set(hash, 'key_reused')
    else if (!found.has(hash)) found.set(hash, 'has_successor')
  }
  return found
}

/** @returns Those whose key, or superseded document, is one of an earlier of these records. */
function conflictsWithin(records: readonly NewRecord[]): Map<Hex, Conflict> {
  const found = new Map<Hex, Conflict>()
  const taken = new Set<string>()
  for (const { action, entry } of records) {
    const key = entry?.request && `key ${toHex(entry.request)}`
    const predecessor = entry?.supersedes && `predecessor ${entry.supersedes}`
    if (key && taken.has(key)) found.set(action.documentHash, 'key_reused')
    else if (predecessor && taken.has(predecessor)) found.set(action.documentHash, 'has_successor')
    for (const one of [key, predecessor]) if (one) taken.add(one)
  }
  return found
}

/** @returns The record without what belongs to another one. The chain has it in any case. */
export function* withoutConflicts(record: NewRecord): Work<NewRecord> {
  const { entry } = record
  if (!entry || (yield* conflictsOf([record])).size === 0) return record
  return { ...record, entry: { ...entry, request: undefined, supersedes: undefined } }
}

/**
 * Inserts documents to issue, or repeats them.
 *
 * @param records Of different documents.
 * @returns For each, in order: whether it is new, or why it was not inserted.
 */
export function* insertIssues(records: readonly NewRecord[]): Work<(boolean | Conflict)[]> {
  const refused = yield* conflictsOf(records)
  for (const [hash, conflict] of conflictsWithin(records)) refused.set(hash, conflict)
  const free = records.filter(({ action }) => !refused.has(action.documentHash))
  yield* insertPayloads(
    free.flatMap(({ action, bytes }) =>
      bytes ? [{ hash: fromHex(action.documentHash), bytes }] : [],
    ),
  )
  const added = yield* insertRecords(free.map(newRowOf))
  if (added.size > 0) {
    yield* all(WAIT, { hashes: [...added].map(fromHex) })
    yield* promiseRevocations(free.filter(({ action }) => added.has(action.documentHash)))
    yield* notify(WAITING_CHANNEL)
  }
  // Another one with the same key may have been inserted meanwhile.
  const late = yield* conflictsOf(free.filter(({ action }) => !added.has(action.documentHash)))
  return records.map(
    ({ action: { documentHash } }) =>
      refused.get(documentHash) ?? late.get(documentHash) ?? added.has(documentHash),
  )
}

/** @returns The record of a document that is issued alone. */
export function newRowOf({ action, entry }: Omit<NewRecord, 'bytes'>): NewRow {
  const { documentHash, validUntil, tenant = null, actor } = action
  const unknown = { issuedOn: 0, validUntil, subject: null, category: null, tenant }
  return { documentHash, entry: entry ?? unknown, actor }
}

const SELECT_ID = statement(`
  SELECT id, (SELECT count(*) FROM change JOIN waiting ON waiting.change = change.id
    WHERE change.hash = :predecessor AND change.kind = 'revoke') AS revocations
  FROM record WHERE hash = :hash AND batch IS NULL`)

/** Adds the revocations of the documents that these supersede. */
function* promiseRevocations(records: readonly NewRecord[]): Work<void> {
  for (const { action, entry } of records) {
    const { supersedes, supersededRoot } = entry ?? {}
    if (supersedes === undefined) continue
    const { actor, tenant } = action
    const row = yield* first(SELECT_ID, {
      hash: fromHex(action.documentHash),
      predecessor: fromHex(supersedes),
    })
    if (!row || Number(row.revocations) > 0) continue
    const key = { documentHash: supersedes, ...(supersededRoot && { root: supersededRoot }) }
    const by = { actor, ...(tenant !== undefined && { tenant }) }
    const revocation = { kind: 'revoke', ...key, ...by, reason: SUPERSEDED } as const
    yield* addChanges([{ action: revocation, after: Number(row.id) }])
  }
}
