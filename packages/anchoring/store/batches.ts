import { fromHex, type Hex } from '#document/hex.ts'
import type { BatchClaim, BatchList, BatchLog, KnownBatch } from '#promise/batch-log.ts'
import { LockLost } from '#promise/lock.ts'
import type { Database, Session } from './database.ts'
import { pinDraftsLater } from './mirror.ts'
import { WAITING_CHANNEL } from './outcomes.ts'
import { all, first, hexOf, isSet, notify, type Row, statement, type Work } from './sql.ts'

/** The batches that were requested. */
export function createBatchLog(database: Database): BatchLog & BatchList {
  return { ...createClaims(database), ...createList(database) }
}

const SELECT_REQUEST = statement(
  'SELECT content, checked_at, promised FROM batch_request WHERE request = :request',
)
const INSERT_REQUEST = statement(`
  INSERT INTO batch_request (request, content, checked_at) VALUES (:request, :content, :checkedAt)
  ON CONFLICT DO NOTHING`)
const PROMISE_REQUEST = statement(
  'UPDATE batch_request SET promised = true WHERE request = :request',
)
const PROMISE_BATCH = statement(
  (sql) => `
    UPDATE batch SET promised = true, promised_at = ${sql.now}, actor = :actor
    WHERE id = :id AND NOT promised RETURNING id`,
)
const WAIT = statement(
  (sql) => `
    INSERT INTO waiting (batch, sent_in)
    SELECT id, CASE WHEN ${sql.value('isAnchored', 'flag')} THEN 0 END
    FROM batch WHERE id = :id AND NOT EXISTS (SELECT 1 FROM member WHERE member.batch = batch.id)
    ON CONFLICT DO NOTHING`,
)
// The tenant of a batch that was restored from the chain is unknown until its request is repeated.
const OWN = statement("UPDATE batch SET tenant = :tenant WHERE id = :id AND tenant = ''")

function createClaims(database: Database): BatchLog {
  return {
    find: (request) => database.snapshot(() => find(request)),
    claim: (request, claim) =>
      database.write(function* () {
        const { content, checkedAt } = claim
        yield* all(INSERT_REQUEST, { request, content, checkedAt })
        return (yield* find(request)) ?? { ...claim, isPromised: false }
      }),
    async promise(request, batch, lock) {
      if (lock.ended.aborted) {
        // The answer to an earlier try was lost, with the session of the lock.
        if ((await database.snapshot(() => find(request)))?.isPromised) return true
        throw new LockLost()
      }
      return (lock as Session).database.write(() => promise(request, batch))
    },
  }
}

function* promise(request: Uint8Array, batch: Parameters<BatchLog['promise']>[1]): Work<boolean> {
  yield* all(PROMISE_REQUEST, { request })
  yield* pinDraftsLater(request)
  const { id } = yield* addBatch(batch)
  const { tenant, actor, isAnchored = false } = batch
  const marked = yield* first(PROMISE_BATCH, { id, actor })
  yield* all(OWN, { id, tenant })
  // One that is on the chain already is not sent again.
  yield* all(WAIT, { id, isAnchored })
  yield* notify(WAITING_CHANNEL)
  return marked !== undefined
}

function* find(request: Uint8Array): Work<BatchClaim | undefined> {
  const row = yield* first(SELECT_REQUEST, { request })
  return (
    row && {
      content: row.content as Uint8Array,
      checkedAt: Number(row.checked_at),
      isPromised: isSet(row.promised),
    }
  )
}

const INSERT = statement(
  (sql) => `
    INSERT INTO batch (root, size, manifest, tenant, created_at)
    VALUES (:root, :size, :manifest, :tenant, ${sql.now})
    ON CONFLICT DO NOTHING RETURNING id`,
)
const SELECT_ID = statement('SELECT id FROM batch WHERE root = :root')

/** Adds a batch that is not promised yet, unless it already exists. */
export function* addBatch({
  root,
  size,
  manifest,
  tenant,
}: Omit<KnownBatch, 'id'>): Work<{ id: number; isNew: boolean }> {
  const values = { root: fromHex(root), size, manifest: fromHex(manifest), tenant }
  const added = yield* first(INSERT, values)
  const row = added ?? (yield* first(SELECT_ID, { root: fromHex(root) }))
  return { id: Number(row?.id), isNew: added !== undefined }
}

const COLUMNS = 'id, root, size, manifest, tenant'
const SELECT_PAGE = statement(
  (sql) => `
    SELECT ${COLUMNS} FROM batch
    WHERE id < :before AND promised AND (${sql.value('tenant', 'text')} IS NULL OR tenant = :tenant)
    ORDER BY id DESC LIMIT :limit`,
)
const SELECT_ONE = statement(`SELECT ${COLUMNS} FROM batch WHERE root = :root AND promised`)

function createList(database: Database): BatchList {
  return {
    async list(tenant, before = Number.MAX_SAFE_INTEGER, limit) {
      return (await database.read(SELECT_PAGE, { tenant, before, limit })).map(batchOf)
    },
    async get(root: Hex) {
      const [row] = await database.read(SELECT_ONE, { root: fromHex(root) })
      return row && batchOf(row)
    },
  }
}

function batchOf(row: Row): KnownBatch {
  return {
    id: Number(row.id),
    root: hexOf(row.root),
    size: Number(row.size),
    manifest: hexOf(row.manifest),
    tenant: String(row.tenant),
  }
}
