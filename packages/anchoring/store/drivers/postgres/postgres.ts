import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '#base/log.ts'
import { REMAINS_IN } from '#promise/erase.ts'
import { IssueError } from '#promise/errors.ts'
import { type Refusals, readBinding } from '../../binding.ts'
import {
  type CommandDatabase,
  type CommandOptions,
  createCommandDatabase,
  type DatabaseAdapter,
} from '../../commands.ts'
import type { Database, KeysDatabase } from '../../database.ts'
import type { Scrubber } from '../../erasures.ts'
import { createKeptRows, type KeptRows } from '../../kept-rows.ts'
import { createKeyStore } from '../../keys.ts'
import { statement } from '../../sql.ts'
import { type DatabaseDeps, type DatabaseStores, openStores } from '../../stores.ts'
import { poolOptionsOf } from './connection.ts'
import { createPort, createTransactions, openPostgres } from './database.ts'
import { DatabaseUrlError } from './errors.ts'
import { examinePostgres } from './examine.ts'
import { openKnownErasures } from './known-erasures.ts'
import { assertVersion, readSchemaVersion } from './schema.ts'
import { createSessions } from './session.ts'

/** How long a statement of a command may take; milliseconds. */
const COMMAND_TIMEOUT_MS = 600_000
/** Connections that read for a command. */
const READERS = 4

/** @param url A PostgreSQL database. */
export function postgresAdapter(url: string): DatabaseAdapter {
  return {
    openStores: (deps) => openPostgresStores(url, deps),
    async openKeys(log) {
      const { close, ...port } = await openPostgres(url, log)
      const database = withKeys(port)
      const store = createKeyStore(database)
      return { store, database, hadKeys: async () => (await store.version()) > 0, close }
    },
    openForCommand: (options) => openCommands(url, options),
    openToRead: (log) => openKeptRows(url, log),
    examine: (fingerprints) => examinePostgres(url, fingerprints),
  }
}

/** It waits for the disk once for many transactions. */
const withKeys = (database: Database): KeysDatabase => ({
  ...database,
  changeLoosely: database.change,
})

/**
 * Opens a PostgreSQL database, which other gateways may use at the same time.
 *
 * @throws {DatabaseUrlError} when it cannot be used, or belongs to another registry, issuer or
 * secret.
 * @throws {IssueError} `store_unavailable`.
 */
export async function openPostgresStores(url: string, deps: DatabaseDeps): Promise<DatabaseStores> {
  const { log, termMs } = deps
  const database = await openPostgres(url, log)
  const besideKeys = withKeys(database)
  let closeErased = async () => {}
  return openStores(
    database,
    {
      keys: createKeyStore(besideKeys),
      besideKeys,
      sessions: createSessions({ url, log, termMs, shared: database }),
      refusals: refusalsOf(termMs),
      scrubber: createScrubber(database),
      async openErased() {
        const known = await openKnownErasures(database, log)
        closeErased = known.close
        return known.isErased
      },
      isSole: false,
      assertReady: database.assertReady,
      async copyTo() {
        throw new Error('back up PostgreSQL with pg_dump')
      },
      async close() {
        await closeErased()
        await database.close()
      },
    },
    deps,
  )
}

/** @param termMs How long the locks of a process last that is cut off; milliseconds. */
export const refusalsOf = (termMs = 0): Refusals => ({
  boundToAnother: (problems) =>
    new DatabaseUrlError(
      `leads to the database of another gateway:\n${problems.map((one) => `  - ${one}`).join('\n')}\n  Or set another DATABASE_URL.`,
    ),
  unfinished: (command) =>
    new DatabaseUrlError(
      `leads to a database that \`docreg-gateway ${command}\` has not finished: run that again`,
    ),
  notEmpty: (command) =>
    new DatabaseUrlError(`leads to a database that is not empty: create a new one to ${command}`),
  busy: (command) =>
    new DatabaseUrlError(
      `leads to a database in use: another \`docreg-gateway ${command}\` is at work, or was killed less than ${termMs / 1000} s ago`,
    ),
})

const POLL_INTERVAL_MS = 100
/** Longer than any transaction may take. */
const MAX_WAIT_MS = 30_000
const ARE_ENDED = statement(
  (sql) => `
    SELECT bool_and(written_by < pg_snapshot_xmin(pg_current_snapshot())::text::bigint) AS ended
    FROM erasure WHERE ${sql.isIn('hash', 'hashes', 'bytes')}`,
)

/**
 * A finished erasure is gone for every statement and for `pg_dump`. The server cannot be told to
 * overwrite its files, so the receipt says where bytes may be left.
 */
export function createScrubber(database: Database): Scrubber {
  return {
    writtenBy: 'pg_current_xact_id()::text::bigint',
    remainsIn: () => REMAINS_IN,
    // Transactions that began before the tombstone may still add a document: waits for their end.
    async scrub(hashes) {
      for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end; ) {
        const [row] = await database.read(ARE_ENDED, { hashes })
        if (row?.ended !== false) return
        await sleep(POLL_INTERVAL_MS)
      }
      throw new IssueError('store_unavailable', 'a transaction that began earlier has not ended')
    },
  }
}

/**
 * Opens a PostgreSQL database for a command. Gateways may run.
 *
 * @throws {DatabaseUrlError} when it cannot be used.
 * @throws {IssueError} `store_unavailable`.
 */
async function openCommands(
  url: string,
  { termMs, log }: CommandOptions,
): Promise<CommandDatabase> {
  const database = await openPostgres(url, log, COMMAND_TIMEOUT_MS)
  return createCommandDatabase(database, {
    sessions: createSessions({
      url,
      log,
      termMs,
      statementTimeout: COMMAND_TIMEOUT_MS,
      shared: database,
    }),
    refusals: refusalsOf(termMs),
    scrubber: createScrubber(database),
    close: database.close,
  })
}

const SELECT_FAILURES = statement(
  'SELECT checksum_failures AS failures FROM pg_stat_database WHERE datname = current_database()',
)

/**
 * Opens a PostgreSQL database to read; gateways may run.
 *
 * @throws {DatabaseUrlError} for one without a schema of this version, or that nobody has used.
 * @throws {IssueError} `store_unavailable`.
 */
async function openKeptRows(url: string, log: Log): Promise<KeptRows> {
  const pool = new pg.Pool(poolOptionsOf(url, READERS))
  pool.on('error', (error) => log.warn('postgres_connection_lost', { error: error.message }))
  const transactions = createTransactions(pool)
  const database = createPort(transactions, { brief: (read) => read(), listen: () => () => {} })
  try {
    assertVersion(await readSchemaVersion(transactions.query))
    const binding = await database.snapshot(readBinding)
    if (!binding) throw new DatabaseUrlError('names a database that no gateway has used')
    return {
      ...binding,
      ...createKeptRows(database),
      async damage() {
        // Pages that the server found damaged when it read them.
        const [row] = await database.read(SELECT_FAILURES)
        const failures = Number(row?.failures ?? 0)
        return failures > 0 ? [`PostgreSQL counted ${failures} checksum failures`] : []
      },
      close: () => pool.end(),
    }
  } catch (error) {
    await pool.end()
    throw error
  }
}
