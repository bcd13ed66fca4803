import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { KEYS_FILE, openKeysFile } from '#store/drivers/sqlite/keys-file.ts'

/** The API keys of a data folder, which nobody can change until it is closed. */
export type LockedKeys = {
  sqlite: DatabaseSync
  /** Keeps this version's commands from using the file, as they must not. */
  markMoved(): void
  close(): void
}

/** @throws {DataDirError} when another version wrote them, or they were moved. */
export function lockKeys(dataDir: string): LockedKeys {
  const path = join(dataDir, KEYS_FILE)
  // Makes it if there is none, and checks its version.
  openKeysFile(path).close()
  const sqlite = new DatabaseSync(path)
  sqlite.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE')
  return {
    sqlite,
    markMoved() {
      sqlite.exec('PRAGMA user_version = -1; COMMIT')
    },
    close() {
      if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
      sqlite.close()
    },
  }
}
