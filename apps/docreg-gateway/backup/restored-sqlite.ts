import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { openSqlite, type SqliteDatabase } from '#store/drivers/sqlite/driver.ts'
import { DataDirError } from '#store/drivers/sqlite/open-file.ts'
import { createScrubber } from '#store/drivers/sqlite/scrub.ts'
import { refusalsOf } from '#store/drivers/sqlite/sqlite.ts'
import { readSqlite } from '../tables/sqlite.ts'
import { BackupError, DATABASE_FILE } from './contents.ts'
import { createRestored, type Restored } from './restored.ts'

/** @throws {BackupError} when another version of the service wrote the backup. */
export function openRestored(dataDir: string): SqliteDatabase {
  try {
    return openSqlite(join(dataDir, DATABASE_FILE))
  } catch (error) {
    throw ofBackup(error)
  }
}

export function createSqliteRestored(dataDir: string, database: SqliteDatabase): Restored {
  const { sqlite } = database
  const restored = createRestored(database, {
    side: readSqlite({ main: sqlite, keys: sqlite }),
    refusals: refusalsOf(dataDir),
    scrubber: createScrubber(database),
  })
  return {
    ...restored,
    async assertUsable(binding) {
      await restored.assertUsable(binding).catch((error) => {
        throw ofBackup(error)
      })
      assertWhole(sqlite)
    },
  }
}

/** @returns The error with the backup as its subject, because `DATA_DIR` does not exist yet. */
function ofBackup(cause: unknown): unknown {
  if (!(cause instanceof DataDirError)) return cause
  const remedy = cause.code === 'other_version' ? ': restore it with the version that wrote it' : ''
  return new BackupError(`the backup ${cause.problem}${remedy}`, { cause })
}

/** @throws {BackupError} when SQLite finds the file damaged. */
export function assertWhole(sqlite: DatabaseSync): void {
  const [row] = sqlite.prepare('PRAGMA integrity_check(1)').all()
  if (row?.integrity_check !== 'ok')
    throw new BackupError(`${DATABASE_FILE} is damaged: ${row?.integrity_check}`)
}
