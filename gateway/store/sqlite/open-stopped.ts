import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirError } from './data-dir-error.ts'
import { type Database, openDatabase } from './database.ts'
import { DATABASE_FILE } from './stores.ts'

/**
 * @param options `create`: makes a folder that is missing.
 * @returns The database in a data folder, locked: no gateway starts with it until it is closed.
 * @throws {DataDirError} if a gateway runs with the folder, or another version wrote it.
 */
export function openStopped(
  dataDir: string,
  { create = false }: { create?: boolean } = {},
): Database {
  if (create) mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    return openDatabase(join(dataDir, DATABASE_FILE))
  } catch (error) {
    if (!/locked/.test(String(error))) throw error
    throw new DataDirError(
      'in_use',
      `is in use: a gateway runs with ${dataDir}`,
      ': stop it first, or name another DATA_DIR',
    )
  }
}
