import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fromHex, toHex } from '#document/hex.ts'
import { ConfigError } from '#settings/config.ts'
import { bind } from '#store/binding.ts'
import type { Query } from '#store/drivers/postgres/connection.ts'
import { refusalsOf as refusalsOfPostgres } from '#store/drivers/postgres/postgres.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { KEYS_FILE, openKeysFile } from '#store/drivers/sqlite/keys-file.ts'
import { lockFile } from '#store/drivers/sqlite/open-file.ts'
import { DATABASE_FILE, refusalsOf } from '#store/drivers/sqlite/sqlite.ts'
import { syncAll, syncFile } from '../backup/sync.ts'
import { bindingOf } from '../binding.ts'
import { readPostgres } from '../tables/postgres.ts'
import { markMoved, openSession } from '../tables/postgres-session.ts'
import type { Side } from '../tables/rows.ts'
import { writeSqlite } from '../tables/sqlite.ts'
import { copyAll } from './copy.ts'
import type { Task } from './task.ts'

/**
 * The suffix of each file while it is written. Deleting such a file also deletes the files of
 * SQLite next to it.
 */
const PART = '.part'
const SIDE_FILES = ['', '-wal', '-shm', '-lock', '-journal']

/**
 * Copies a PostgreSQL database into files of a data folder, which get their final names at the end.
 *
 * @throws {ConfigError} when a gateway uses either, the folder has such files, or transactions of
 * several accounts are in flight.
 * @throws {BackupError} when a payload is damaged, or the chain lacks something that was anchored.
 */
export async function moveToSqlite(task: Task): Promise<void> {
  const { config, databaseUrl, identity, say, check } = task
  const { dataDir } = config
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const unlock = lockFolder(dataDir)
  try {
    const { query, database, commit, close } = await openSession(databaseUrl, 'read')
    try {
      await bind(database, bindingOf(identity), { refusals: refusalsOfPostgres() })
      await assertOneAccount(query, identity.signer.address)
      const original = readPostgres(query)
      await check(original)
      await fill(task, original)
      for (const name of [KEYS_FILE, DATABASE_FILE])
        renameSync(join(dataDir, name + PART), join(dataDir, name))
      syncAll(dataDir, { recursive: false })
      await markMoved(query)
      await commit()
    } finally {
      await close()
      removeParts(dataDir)
    }
  } finally {
    unlock()
  }
  say(`moved     PostgreSQL to ${dataDir}: start one gateway with it, without DATABASE_URL`)
  say(
    '          the database is no longer used but still has the payloads: drop it once you trust the copy',
  )
}

/** @returns A function that lets gateways use the folder. */
function lockFolder(dataDir: string): () => void {
  const path = join(dataDir, DATABASE_FILE)
  const lock = lockOf(path)
  const found = [DATABASE_FILE, KEYS_FILE].filter((name) => existsSync(join(dataDir, name)))
  if (found.length === 0) return () => lock.close()
  lock.close()
  throw new ConfigError([
    `${dataDir} already has ${found.join(' and ')}: move ${found.length > 1 ? 'them' : 'it'} away, or name another DATA_DIR`,
  ])
}

function lockOf(path: string): DatabaseSync {
  try {
    return lockFile(path)
  } catch (error) {
    if (!/locked/.test(String(error))) throw error
    throw new ConfigError([`${path} is in use: stop the gateway, or name another DATA_DIR`])
  }
}

function removeParts(dataDir: string): void {
  for (const name of [KEYS_FILE, DATABASE_FILE])
    for (const side of SIDE_FILES) rmSync(join(dataDir, name + PART + side), { force: true })
}

async function fill({ config: { dataDir }, identity, say }: Task, original: Side): Promise<void> {
  removeParts(dataDir)
  const keysPath = join(dataDir, KEYS_FILE + PART)
  openKeysFile(keysPath).close()
  const keys = new DatabaseSync(keysPath)
  const database = openSqlite(join(dataDir, DATABASE_FILE + PART))
  try {
    await bind(database, bindingOf(identity), { refusals: refusalsOf(dataDir) })
    // The files are flushed once, when they are complete.
    database.sqlite.exec('PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 1000')
    await copyAll(original, writeSqlite({ main: database.sqlite, keys }), say)
  } finally {
    keys.close()
    await database.close()
  }
  for (const name of [KEYS_FILE, DATABASE_FILE]) syncFile(join(dataDir, name + PART))
}

/**
 * A data folder has one account, that of the settings.
 *
 * @throws {ConfigError} when other accounts have transactions that are in flight or that a reorg
 * has removed.
 */
async function assertOneAccount(query: Query, configured: string): Promise<void> {
  const own = configured.toLowerCase() as `0x${string}`
  const rows = await query(
    `SELECT account FROM send WHERE account <> $1 AND block_number IS NULL AND NOT final
     UNION
     SELECT account FROM send JOIN waiting ON waiting.sent_in = send.id
     WHERE account <> $1 AND NOT final`,
    [fromHex(own)],
  )
  if (rows.length > 0)
    throw new ConfigError([
      `transactions of accounts other than ${configured}, the first in the settings, are in flight (${rows.map(({ account }) => toHex(account as Uint8Array)).join(', ')}): start the gateways until they are in a block`,
    ])
}
