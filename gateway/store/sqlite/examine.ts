import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Hex } from '#document/hex.ts'
import { secretHealth } from '../binding.ts'
import type { Health } from '../command-database.ts'
import { fingerprintsIn } from './binding.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { DATABASE_FILE } from './stores.ts'

/** Looks at the database in a data folder; see `DatabaseAdapter`. */
export function examineSqlite(dataDir: string, fingerprints: readonly Hex[] | undefined): Health[] {
  const path = join(dataDir, DATABASE_FILE)
  if (!existsSync(path)) return [{ outcome: 'ok', message: 'there is none yet' }]
  let sqlite: DatabaseSync | undefined
  try {
    sqlite = new DatabaseSync(path, { readOnly: true })
    const version = Number(sqlite.prepare('PRAGMA user_version').get()?.user_version)
    if (version < 0)
      return [
        { outcome: 'fail', message: 'it was moved to PostgreSQL', advice: 'set DATABASE_URL' },
      ]
    if (version !== SCHEMA_VERSION)
      return [
        {
          outcome: 'fail',
          message: `it has the format ${version}, this version's is ${SCHEMA_VERSION}`,
          advice: 'start the version that wrote it, or name another DATA_DIR',
        },
      ]
    return [secretHealth(`format ${version}`, fingerprintsIn(sqlite), fingerprints)]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [
      {
        outcome: 'fail',
        message: `it cannot be read: ${reason}`,
        advice: 'restore a backup, or run recover',
      },
    ]
  } finally {
    sqlite?.close()
  }
}
