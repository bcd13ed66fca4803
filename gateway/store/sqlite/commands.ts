import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fromHex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { bytesOf } from '../columns.ts'
import type { CommandDatabase, CommandOptions } from '../command-database.ts'
import { DataDirError } from '../drivers/sqlite/data-dir-error.ts'
import { type Database, openDatabase } from '../drivers/sqlite/database.ts'
import { KEPT_STATUSES } from '../rules.ts'
import { createAddBatch } from './batch-log.ts'
import { createSqliteErasures, createSqliteIsErased } from './erasures.ts'
import { createAnchoredLog, createSqliteHistory } from './history.ts'
import { createIndexRebuild } from './index-rebuild.ts'
import { createSqliteStore } from './store.ts'
import { assertFilled, DATABASE_FILE, unfinishedFile } from './stores.ts'

/**
 * Opens the database in a data folder for a command: no gateway starts with it until it is closed.
 *
 * @throws {DataDirError} if a gateway runs with the folder, or another version wrote it.
 */
export async function openSqliteCommands(
  dataDir: string,
  options: CommandOptions,
): Promise<CommandDatabase> {
  const database = openStopped(dataDir, options)
  const store = createSqliteStore(database)
  let isFilling = false
  return {
    embedded: store,
    isErased: createSqliteIsErased(database),
    history: createSqliteHistory(database),
    anchored: createAnchoredLog(database),
    async bindTo(binding) {
      if (!isFilling) assertFilled(dataDir)
      database.bindTo(binding)
    },
    mergeErasures: (list) => createSqliteErasures(database, list).mergeList(),
    async claimAccount([account]) {
      const row = database.sqlite.prepare('SELECT count(*) AS plans FROM plan').get()
      if (account === undefined || row?.plans !== 0)
        throw new IssueError(
          'account_shared',
          'the gateway has transactions in flight: start it until they are in a block',
        )
      return { account }
    },
    rebuildIndex: async (blindTenant) => createIndexRebuild(database, blindTenant),
    async claimEmpty(command) {
      const claimed = claimEmpty(database, dataDir, command)
      isFilling = true
      return claimed
    },
    addBatch: createRestoreBatch(database),
    close: database.close,
  }
}

/** See `CommandDatabase`: a file beside the database says that it is not filled yet. */
function claimEmpty({ sqlite }: Database, dataDir: string, command: string) {
  const mark = unfinishedFile(dataDir)
  const bound = sqlite.prepare('SELECT 1 FROM bound_to').get()
  if (bound && !existsSync(mark))
    throw new DataDirError(
      'bound_to_another',
      `${dataDir} has a database already`,
      `: name an empty DATA_DIR to ${command}`,
    )
  closeSync(openSync(mark, 'a', 0o600))
  return {
    async filled() {
      rmSync(mark, { force: true })
    },
  }
}

function createRestoreBatch(database: Database): CommandDatabase['addBatch'] {
  const add = createAddBatch(database)
  const promise = database.sqlite.prepare(
    'UPDATE batch SET promised = 1, promised_at = ?, block_number = ?, status = ? WHERE id = ?',
  )
  const insert = database.sqlite.prepare('INSERT OR REPLACE INTO batch_history VALUES (?, ?, ?)')
  return (batch, { blockNumber, blockTime, transactionHash, status }) =>
    database.write(() => {
      const hash = bytesOf(transactionHash)
      insert.run(blockNumber, fromHex(batch.root), hash)
      const { id } = add(batch)
      promise.run(blockTime, blockNumber, KEPT_STATUSES.indexOf(status), id)
      return id
    })
}

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
