import { fromHex, type Hex, toHex } from '../../../document/hex.ts'
import {
  type BatchClaim,
  type BatchList,
  type BatchLog,
  intentOfBatch,
  type KnownBatch,
} from '../../issue/batch-log.ts'
import type { Database } from './database.ts'
import type { SqliteOutbox } from './outbox.ts'

/** The requested batches in the gateway's database. */
export function createSqliteBatchLog(
  database: Database,
  outbox: Pick<SqliteOutbox, 'insert'>,
): BatchLog & BatchList {
  return { ...createClaims(database, outbox), ...createList(database) }
}

function createClaims({ sqlite, write }: Database, outbox: Pick<SqliteOutbox, 'insert'>): BatchLog {
  const select = sqlite.prepare('SELECT content, checked_at FROM batch_request WHERE request = ?')
  const insert = sqlite.prepare('INSERT INTO batch_request VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
  const add = sqlite.prepare(
    'INSERT INTO batch (root, size, manifest, tenant) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )

  function find(request: Uint8Array): BatchClaim | undefined {
    const row = select.get(request)
    return row && { content: row.content as Uint8Array, checkedAt: Number(row.checked_at) }
  }

  return {
    find: async (request) => find(request),
    claim: (request, claim) =>
      write(() => {
        insert.run(request, claim.content, claim.checkedAt)
        return find(request) ?? claim
      }),
    promise: (batch) =>
      write(() => {
        const { root, size, manifest, tenant } = batch
        const { changes } = add.run(fromHex(root), size, fromHex(manifest), tenant)
        outbox.insert(intentOfBatch(batch), true)
        return changes > 0
      }),
  }
}

function createList({ sqlite }: Database): BatchList {
  const columns = 'id, root, size, manifest, tenant'
  const select = sqlite.prepare(
    `SELECT ${columns} FROM batch WHERE id < ?1 AND (?2 IS NULL OR tenant = ?2) ORDER BY id DESC LIMIT ?3`,
  )
  const selectOne = sqlite.prepare(`SELECT ${columns} FROM batch WHERE root = ?`)

  return {
    list: async (tenant, before = Number.MAX_SAFE_INTEGER, limit) =>
      select.all(before, tenant, limit).map(batchOf),
    async get(root: Hex) {
      const row = selectOne.get(fromHex(root))
      return row && batchOf(row)
    },
  }
}

function batchOf(row: Record<string, unknown>): KnownBatch {
  return {
    id: Number(row.id),
    root: toHex(row.root as Uint8Array),
    size: Number(row.size),
    manifest: toHex(row.manifest as Uint8Array),
    tenant: row.tenant as string,
  }
}
