import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { KEYS_FILE, openKeysFile } from '#store/drivers/sqlite/keys-file.ts'

/** The API keys of a data folder. Nobody can change them until this is closed. */
export type LockedKeys = {
  sqlite: DatabaseSync
  /** Keeps commands of this version from using the file. */
  markMoved(): void
  close(): void
}

/** @throws {DataDirError} when another version wrote the keys, or they were moved. */
export function lockKeys(dataDir: string): LockedKeys {
  const path = join(dataDir, KEYS_FILE)
  // Creates the file if there is none, and checks its version.
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
