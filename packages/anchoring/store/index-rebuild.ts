import { fromHex, type Hex } from '#document/hex.ts'
import { UNSEEN } from '#promise/anchoring.ts'
import type { IndexEntry, KeptStatus } from '#promise/document-index.ts'
import { type Database, lockOutcomes } from './database.ts'
import { erasedOf } from './payloads.ts'
import { ENTRY_COLUMNS, insertRecords } from './records.ts'
import { placeRecords } from './sends/write.ts'
import { all, bytesOf, each, hexOf, numberOrNull, onPostgres, statement, type Work } from './sql.ts'
import { insertItems, KEPT_STATUSES } from './tables.ts'

/** The number of documents in one read. */
const CHUNK = 500

/** A document for the rebuilt index. */
export type Rebuilt = {
  documentHash: Hex
  /** `null` while it is pending, and for a document in a batch. */
  blockNumber: number | null
  /**
   * The transaction that anchored it, if it is known. Absent for a document that only events have:
   * it has no send, because a thief may have issued it, and `issue-again` must not repeat it.
   */
  transactionHash?: Hex | null
  /** The id of its batch in the database. */
  batch?: number
  validUntil: number
  status: KeptStatus | null
  /** The status that the index had when the chain was read; absent = it had none. */
  seen?: KeptStatus | null
  /**
   * The time of its block, in seconds of the Unix epoch, used unless the index has its own time.
   * Absent while it is pending, and for a document in a batch.
   */
  blockTime?: number
  /** Absent when its payload could not be opened. What the index has then stays. */
  entry?: IndexEntry
}

/** A document in the database that was issued alone. */
export type KnownDocument = { id: number; documentHash: Hex; status: KeptStatus | null }

export type IndexRebuild = ReturnType<typeof createIndexRebuild>

const SELECT_ALONE = statement(`
  SELECT id, hash, status FROM record WHERE batch IS NULL AND id > :after
  ORDER BY id LIMIT ${CHUNK}`)
const SELECT_KNOWN = statement(
  (sql) => `
    SELECT hash FROM record WHERE batch IS NULL AND ${sql.isIn('hash', 'hashes', 'bytes')}`,
)
const OWN = statement("UPDATE batch SET tenant = :name WHERE tenant = '' RETURNING id")
const SELECT_UNDATED = statement(`
  SELECT root FROM batch JOIN member ON member.batch = batch.id
  WHERE promised AND promised_at IS NULL`)
const DATE = statement('UPDATE batch SET promised_at = :time WHERE root = :root')
const SELECT_INCOMPLETE = statement(`
  SELECT id, manifest, tenant FROM batch
  WHERE promised AND size > (SELECT count(*) FROM record WHERE record.batch = batch.id)
  ORDER BY id`)

const LOCK_ERASURES = onPostgres('LOCK TABLE tombstone IN SHARE MODE')

/**
 * Fills in what the index can know of documents from their payloads and the chain, also while
 * gateways write. Each write waits until no gateway writes outcomes or erases.
 *
 * @param database A database that is fenced by the lock of the command.
 * @param tenant The tenant for documents of an unknown tenant.
 */
export function createIndexRebuild(database: Database, tenant: string | null) {
  return {
    /** @returns Up to 500 documents that were issued alone, after an id, in order. */
    async alone(after: number): Promise<KnownDocument[]> {
      return (await database.read(SELECT_ALONE, { after })).map((row) => ({
        id: Number(row.id),
        documentHash: hexOf(row.hash),
        status: KEPT_STATUSES[Number(row.status)] ?? null,
      }))
    },
    /** @returns Those documents that it does not have. */
    async missing(documentHashes: readonly Hex[]): Promise<Hex[]> {
      const rows = await database.read(SELECT_KNOWN, { hashes: documentHashes.map(fromHex) })
      const known = new Set(rows.map(({ hash }) => hexOf(hash)))
      return documentHashes.filter((hash) => !known.has(hash))
    },
    replace: (documents: readonly Rebuilt[]) =>
      database.write(function* () {
        yield* lockAll()
        yield* replace(documents, tenant)
      }),
    /**
     * Assigns batches of an unknown tenant, which were restored from the chain, to this tenant.
     *
     * @returns The number of batches.
     */
    async ownBatches(name: string): Promise<number> {
      return (await database.change(OWN, { name })).length
    },
    /** @returns The roots of batches that are on the chain, and promised at an unknown time. */
    async undatedBatches(): Promise<Hex[]> {
      return (await database.read(SELECT_UNDATED)).map(({ root }) => hexOf(root))
    },
    /** @param time Seconds of the Unix epoch. */
    async dateBatch(root: Hex, time: number): Promise<void> {
      await database.change(DATE, { root: fromHex(root), time })
    },
    /** @returns The batches of which the index lacks some or all documents. */
    async incompleteBatches(): Promise<{ id: number; manifest: Hex; tenant: string }[]> {
      return (await database.read(SELECT_INCOMPLETE)).map((row) => ({
        id: Number(row.id),
        manifest: hexOf(row.manifest),
        tenant: String(row.tenant),
      }))
    },
    /** Adds documents of a batch that the index lacks. */
    addToBatch: (id: number, documents: readonly { documentHash: Hex; entry: IndexEntry }[]) =>
      database.write(function* () {
        yield* lockAll()
        yield* insertRecords(documents.map((one) => ({ ...one, batch: id })))
      }),
  }
}

/** Until the transaction ends, no gateway writes outcomes, and none begins an erasure. */
function* lockAll(): Work<void> {
  yield* lockOutcomes()
  yield* all(LOCK_ERASURES)
}

const UPSERT = statement(
  (sql) => `
    ${insertItems(sql, 'record', `${ENTRY_COLUMNS}, status, created_at`, {
      computed: {
        supersedes: `CASE WHEN NOT EXISTS (
          SELECT 1 FROM record AS other
          WHERE other.supersedes = item.superseded AND other.hash <> item.hash)
          THEN item.superseded END`,
      },
      more: { superseded: 'bytes' },
    })} WHERE true ORDER BY place
    ON CONFLICT (hash, coalesce(batch, 0)) DO UPDATE SET
      batch_block = coalesce(excluded.batch_block, record.batch_block),
      issued_on = CASE WHEN excluded.issued_on = 0 THEN record.issued_on
        ELSE excluded.issued_on END,
      valid_until = excluded.valid_until,
      subject = coalesce(excluded.subject, record.subject),
      category = coalesce(excluded.category, record.category),
      tenant = coalesce(record.tenant, excluded.tenant),
      created_at = coalesce(record.created_at, excluded.created_at),
      supersedes = coalesce(record.supersedes, excluded.supersedes)`,
)
const CORRECT = statement(
  (sql) => `
    UPDATE record SET status = item.status
    FROM ${sql.items({ hash: 'bytes', batch: 'integer', status: 'integer', seen: 'integer' })}
    WHERE record.hash = item.hash AND coalesce(record.batch, 0) = item.batch
      AND record.status = item.seen`,
)
/** Those that a gateway follows are where it says. */
const SELECT_MISPLACED = statement(
  (sql) => `
    SELECT record.hash AS hash, send.block_number AS block_number FROM record
      LEFT JOIN member ON member.record = record.id LEFT JOIN send ON send.id = member.send
    WHERE record.batch IS NULL AND ${sql.isIn('record.hash', 'hashes', 'bytes')}
      AND (send.id IS NULL OR send.final)
      AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.record = record.id)`,
)

function* replace(documents: readonly Rebuilt[], tenant: string | null): Work<void> {
  const hashes = documents.map(({ documentHash }) => fromHex(documentHash))
  const erased = yield* erasedOf(hashes)
  yield* each(
    UPSERT,
    documents.map((document) => rowOf(document, tenant, erased.has(document.documentHash))),
  )
  yield* each(
    CORRECT,
    documents.flatMap(({ documentHash, batch = 0, status, seen }) =>
      seen === undefined
        ? []
        : [{ hash: fromHex(documentHash), batch, status: codeOf(status), seen: codeOf(seen) }],
    ),
  )
  const rows = yield* all(SELECT_MISPLACED, { hashes })
  const blocks = new Map(rows.map((row) => [hexOf(row.hash), numberOrNull(row.block_number)]))
  const misplaced = documents.filter(
    ({ documentHash, blockNumber, batch, transactionHash }) =>
      batch === undefined &&
      blockNumber !== null &&
      blocks.has(documentHash) &&
      blocks.get(documentHash) !== blockNumber &&
      (blocks.get(documentHash) !== null || transactionHash !== undefined),
  )
  const places = Map.groupBy(
    misplaced,
    ({ blockNumber, transactionHash = null }) => `${blockNumber} ${transactionHash}`,
  )
  for (const some of places.values()) {
    const { blockNumber, transactionHash = null } = some[0] as Rebuilt
    const anchoring = { blockNumber: Number(blockNumber), blockHash: UNSEEN, transactionHash }
    yield* placeRecords(
      some.map(({ documentHash }) => documentHash),
      anchoring,
      true,
    )
  }
}

const codeOf = (status: KeptStatus | null) => KEPT_STATUSES.indexOf(status)

function rowOf(
  { documentHash, batch, validUntil, status, blockTime, entry }: Rebuilt,
  tenant: string | null,
  isErased: boolean,
) {
  return {
    hash: fromHex(documentHash),
    batch_block: bytesOf(entry?.batchBlock),
    batch: batch ?? null,
    issued_on: entry?.issuedOn ?? 0,
    valid_until: validUntil,
    subject: isErased ? null : (entry?.subject ?? null),
    category: isErased ? null : (entry?.category ?? null),
    tenant,
    actor: null,
    status: codeOf(status),
    created_at: blockTime ?? null,
    superseded: bytesOf(entry?.supersedes),
  }
}
