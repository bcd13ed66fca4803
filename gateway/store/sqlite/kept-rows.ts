import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { secretHealth } from '../binding.ts'
import { hexOf } from '../columns.ts'
import type { Health, KeptRows } from '../command-database.ts'
import { DataDirError } from '../drivers/sqlite/data-dir-error.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { fingerprintsIn } from './binding.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { DATABASE_FILE } from './stores.ts'

/**
 * Opens the database in a data folder to read; a gateway may run with it.
 *
 * @throws {DataDirError} `other_version` for a folder without a database of this version.
 */
export function openSqliteKeptRows(dataDir: string): KeptRows {
  const path = join(dataDir, DATABASE_FILE)
  if (!existsSync(path)) throw noDatabase(dataDir)
  const sqlite = new DatabaseSync(path, { readOnly: true })
  const version = Number(sqlite.prepare('PRAGMA user_version').get()?.user_version)
  if (version !== SCHEMA_VERSION) throw noDatabase(dataDir)
  const bound = sqlite.prepare('SELECT registry, issuer_id AS issuerId FROM bound_to').get()
  if (!bound) throw noDatabase(dataDir)
  const history = sqlite.prepare(
    'SELECT 1 FROM history WHERE block_number = ? AND document_hash = ?',
  )
  const batchHistory = sqlite.prepare(
    'SELECT 1 FROM batch_history WHERE block_number = ? AND root = ?',
  )
  const index = sqlite.prepare(`SELECT block_number AS block, status FROM document
    WHERE substr(document_hash, 1, 8) = substr(?1, 1, 8) AND document_hash = ?1`)
  const tombstone = sqlite.prepare('SELECT 1 FROM tombstone WHERE hash = ?')
  const block = sqlite.prepare('SELECT bytes FROM block WHERE hash = ?')
  const allHistory = sqlite.prepare('SELECT block_number, document_hash FROM history')
  return {
    registry: bound.registry as RegistryId,
    issuerId: Number(bound.issuerId),
    damage: async () =>
      sqlite
        .prepare('PRAGMA quick_check')
        .all()
        .map((row) => String(Object.values(row)[0]))
        .filter((line) => line !== 'ok'),
    historyOf: async (hash, number) => history.get(number, fromHex(hash)) !== undefined,
    batchHistoryOf: async (root, number) => batchHistory.get(number, fromHex(root)) !== undefined,
    async indexOf(hash) {
      const row = index.get(fromHex(hash))
      if (!row) return undefined
      const status = KEPT_STATUSES[Number(row.status)] ?? null
      return { block: row.block === null ? null : Number(row.block), status }
    },
    isErased: async (hash) => tombstone.get(fromHex(hash)) !== undefined,
    blocks: {
      async get(hash) {
        const row = block.get(hash)
        return row ? { status: 'found', bytes: row.bytes as Uint8Array } : { status: 'missing' }
      },
    },
    async *history() {
      for (const row of allHistory.iterate())
        yield {
          documentHash: hexOf(row.document_hash),
          blockNumber: Number(row.block_number),
        }
    },
    close: async () => sqlite.close(),
  }
}

const noDatabase = (dataDir: string) =>
  new DataDirError('other_version', `${dataDir} has no database of this version`, '')

/** Examines the database in a data folder; see `DatabaseAdapter`. */
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
