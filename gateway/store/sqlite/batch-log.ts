import { fromHex, type Hex } from '#document/hex.ts'
import {
  type BatchClaim,
  type BatchList,
  type BatchLog,
  intentOfBatch,
  type KnownBatch,
} from '#promise/batch-log.ts'
import type { Database } from '../drivers/sqlite/database.ts'
import { batchOf } from '../rows.ts'
import type { SqliteOutbox } from './outbox.ts'

/** The requested batches in the gateway's database. */
export function createSqliteBatchLog(
  database: Database,
  outbox: Pick<SqliteOutbox, 'insert'>,
): BatchLog & BatchList {
  return { ...createClaims(database, outbox), ...createList(database) }
}

function createClaims(database: Database, outbox: Pick<SqliteOutbox, 'insert'>): BatchLog {
  const { sqlite, write } = database
  const select = sqlite.prepare(
    'SELECT content, checked_at, promised FROM batch_request WHERE request = ?',
  )
  const insert = sqlite.prepare(`
    INSERT INTO batch_request (request, content, checked_at) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING`)
  const markRequest = sqlite.prepare('UPDATE batch_request SET promised = 1 WHERE request = ?')
  const add = createAddBatch(database)
  const mark = sqlite.prepare(
    'UPDATE batch SET promised = 1, promised_at = unixepoch() WHERE id = ? AND promised = 0',
  )
  // The tenant of a batch that was restored from the chain is not known until its request comes.
  const own = sqlite.prepare("UPDATE batch SET tenant = ? WHERE id = ? AND tenant = ''")

  function find(request: Uint8Array): BatchClaim | undefined {
    const row = select.get(request)
    if (!row) return undefined
    const { content, checked_at, promised } = row
    return {
      content: content as Uint8Array,
      checkedAt: Number(checked_at),
      isPromised: promised === 1,
    }
  }

  return {
    find: async (request) => find(request),
    claim: (request, claim) =>
      write(() => {
        insert.run(request, claim.content, claim.checkedAt)
        return find(request) ?? { ...claim, isPromised: false }
      }),
    promise: (request, batch) =>
      write(() => {
        markRequest.run(request)
        const { id } = add(batch)
        const { changes } = mark.run(id)
        own.run(batch.tenant, id)
        outbox.insert(intentOfBatch(batch), true)
        return changes > 0
      }),
  }
}

/** @returns A function, for use within a write, that adds a batch, not promised yet. */
export function createAddBatch({ sqlite }: Database) {
  const insert = sqlite.prepare(
    'INSERT INTO batch (root, size, manifest, tenant) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const select = sqlite.prepare('SELECT id, promised FROM batch WHERE root = ?')
  return ({ root, size, manifest, tenant }: Omit<KnownBatch, 'id'>) => {
    const { changes } = insert.run(fromHex(root), size, fromHex(manifest), tenant)
    const { id, promised } = select.get(fromHex(root)) ?? {}
    return { id: Number(id), isNew: changes > 0, isPromised: promised === 1 }
  }
}

function createList({ sqlite }: Database): BatchList {
  const columns = 'id, root, size, manifest, tenant'
  const select = sqlite.prepare(
    `SELECT ${columns} FROM batch WHERE id < ?1 AND promised = 1 AND (?2 IS NULL OR tenant = ?2) ORDER BY id DESC LIMIT ?3`,
  )
  const selectOne = sqlite.prepare(`SELECT ${columns} FROM batch WHERE root = ? AND promised = 1`)

  return {
    list: async (tenant, before = Number.MAX_SAFE_INTEGER, limit) =>
      select.all(before, tenant, limit).map(batchOf),
    async get(root: Hex) {
      const row = selectOne.get(fromHex(root))
      return row && batchOf(row)
    },
  }
}
