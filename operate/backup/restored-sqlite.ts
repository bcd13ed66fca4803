import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fromHex } from '#document/hex.ts'
import { DataDirError } from '#store/drivers/sqlite/data-dir-error.ts'
import { type Database, openDatabase } from '#store/drivers/sqlite/database.ts'
import { createSqliteErasures, createSqliteIsErased } from '#store/sqlite/erasures.ts'
import { createSqliteStore } from '#store/sqlite/store.ts'
import { readSqlite } from '../tables/sqlite.ts'
import { BackupError, DATABASE_FILE } from './contents.ts'
import type { Restored, Waiting } from './restored.ts'

/** @throws {BackupError} when another version of the service wrote the backup. */
export function openRestored(dataDir: string): Database {
  return namingBackup(() => openDatabase(join(dataDir, DATABASE_FILE)))
}

export function createSqliteRestored(database: Database): Restored {
  const { sqlite, write } = database
  const promised = sqlite.prepare("SELECT 1 FROM intent WHERE document_hash = ? AND kind = 'issue'")
  const batch = sqlite.prepare('SELECT 1 FROM batch_history WHERE root = ?')
  const insertBatch = sqlite.prepare(`
    INSERT INTO batch (root, size, manifest, tenant, promised, block_number)
    VALUES (?, ?, ?, '', 1, 0) ON CONFLICT (root) DO UPDATE SET promised = 1`)
  const dropOne = sqlite.prepare('DELETE FROM intent WHERE id = ?')

  return {
    side: readSqlite({ main: sqlite, keys: sqlite }),
    async assertUsable(binding) {
      namingBackup(() => database.bindTo(binding))
      assertWhole(sqlite)
    },
    mergeErasures: (list) => createSqliteErasures(database, list).mergeList(),
    waiting: async () =>
      sqlite
        .prepare(`
          SELECT id, kind, document_hash AS documentHash, root FROM intent
          WHERE block_number IS NULL ORDER BY id`)
        .all() as Waiting[],
    drop: (ids) =>
      write(() => {
        for (const id of ids) dropOne.run(id)
      }),
    async newestBlock() {
      const row = sqlite
        .prepare('SELECT coalesce(max(block_number), -1) AS newest FROM history')
        .get()
      return Number(row?.newest)
    },
    isPromised: async (hash) => promised.get(hash) !== undefined,
    hasBatch: async (root) => batch.get(fromHex(root)) !== undefined,
    listBatch: ({ root, size, manifest }) =>
      write(() => void insertBatch.run(fromHex(root), size, fromHex(manifest))),
    store: createSqliteStore(database),
    isErased: createSqliteIsErased(database),
  }
}

/** Name the backup in errors: `DATA_DIR` does not exist yet. */
function namingBackup<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof DataDirError)) throw cause
    const remedy =
      cause.code === 'other_version' ? ': restore it with the version that wrote it' : ''
    throw new BackupError(`the backup ${cause.problem}${remedy}`, { cause })
  }
}

/** @throws {BackupError} when SQLite finds the file damaged. */
export function assertWhole(sqlite: DatabaseSync): void {
  const [row] = sqlite.prepare('PRAGMA integrity_check(1)').all()
  if (row?.integrity_check !== 'ok')
    throw new BackupError(`${DATABASE_FILE} is damaged: ${row?.integrity_check}`)
}
