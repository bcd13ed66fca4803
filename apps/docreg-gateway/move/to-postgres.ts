import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Transaction } from 'ethers'
import { toHex } from '#document/hex.ts'
import { ConfigError } from '#settings/config.ts'
import { bind } from '#store/binding.ts'
import { refusalsOf as refusalsOfPostgres } from '#store/drivers/postgres/postgres.ts'
import { DATABASE_FILE, openStopped, refusalsOf } from '#store/drivers/sqlite/sqlite.ts'
import { SCHEMA_VERSION } from '#store/tables.ts'
import { assertWhole } from '../backup/restored-sqlite.ts'
import { bindingOf } from '../binding.ts'
import { writePostgres } from '../tables/postgres.ts'
import { finishFilled, openSession, prepareEmpty } from '../tables/postgres-session.ts'
import { readSqlite } from '../tables/sqlite.ts'
import { copyAll } from './copy.ts'
import { lockKeys } from './keys-file.ts'
import type { Task } from './task.ts'

/**
 * Copies a data folder to an empty PostgreSQL database in one transaction. An interrupted move
 * leaves the database empty.
 *
 * @throws {ConfigError} when a gateway uses either, or the database is not empty.
 * @throws {BackupError} when the folder is damaged, or the chain lacks something that was anchored.
 */
export async function moveToPostgres({
  config: { dataDir },
  databaseUrl,
  identity,
  say,
  check,
}: Task): Promise<void> {
  if (!existsSync(join(dataDir, DATABASE_FILE)))
    throw new ConfigError([`there is no ${DATABASE_FILE} in ${dataDir}: set DATA_DIR`])
  const database = openStopped(dataDir)
  const keys = lockKeys(dataDir)
  try {
    const { sqlite } = database
    await bind(database, bindingOf(identity), { refusals: refusalsOf(dataDir) })
    assertWhole(sqlite)
    assertOneAccount(sqlite, identity.signer.address)
    const original = readSqlite({ main: sqlite, keys: keys.sqlite })
    await check(original)
    const { query, database: target, commit, close } = await openSession(databaseUrl, 'write')
    try {
      await prepareEmpty(query)
      await bind(target, bindingOf(identity), { refusals: refusalsOfPostgres() })
      await copyAll(original, writePostgres(query), say)
      await finishFilled(query)
      await commit()
    } finally {
      await close()
    }
    keys.markMoved()
    sqlite.exec(`PRAGMA synchronous = FULL; PRAGMA user_version = -${SCHEMA_VERSION}`)
  } finally {
    keys.close()
    await database.close()
  }
  say(`moved     ${dataDir} to PostgreSQL: start every gateway with DATABASE_URL`)
  say(
    `          ${dataDir} is no longer used but still has the payloads: delete it once you trust the copy`,
  )
}

/** @throws {ConfigError} when no gateway could continue the transactions in flight. */
function assertOneAccount(sqlite: DatabaseSync, configured: string): void {
  for (const { raw } of sqlite.prepare('SELECT raw FROM attempt').iterate()) {
    const { from } = Transaction.from(toHex(raw as Uint8Array))
    if (from?.toLowerCase() !== configured.toLowerCase())
      throw new ConfigError([
        `a transaction of ${from} is in flight, but ISSUER_KEY belongs to ${configured}: put the key of ${from} first, or start the gateway with that key until the transaction is in a block`,
      ])
  }
}
