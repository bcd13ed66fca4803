import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { groupCalls } from '#base/grouping.ts'
import type { Log } from '#base/log.ts'
import { type Database, type Group, MAX_GROUP } from '../../database.ts'
import type { Row } from '../../sql.ts'
import { ANSWER_TIMEOUT_MS, optionsOf, poolOptionsOf, type Query, queryOn } from './connection.ts'
import {
  DatabaseUrlError,
  isOutage,
  isRetriable,
  outageOf,
  sqlStateOf,
  tlsProblem,
  unansweredOf,
} from './errors.ts'
import { createNotifications, type Notifications } from './notifications.ts'
import { createPresence, type Presence } from './presence.ts'
import { createSchema } from './schema.ts'
import { runStatement, runWork } from './statements.ts'

/** Connections of one gateway, beside the one that listens. */
export const MAX_CONNECTIONS = 8
/** How often a transaction is run that loses to others. */
const MAX_RUNS = 5
/** How long the first notification may take. */
const NOTIFICATION_TIMEOUT_MS = 5_000

/** The connections to a PostgreSQL database that several gateways share. */
export type Postgres = Database &
  Transactions &
  Pick<Presence, 'note'> & {
    /** @throws {IssueError} `store_unavailable` when the database takes no writes now. */
    assertReady(): Promise<void>
    close(): Promise<void>
  }

type Transactions = {
  /** One statement that reads. */
  query: Query
  /** One statement that writes, in a transaction of its own. Rejects as `transaction`. */
  execute: Query
  /**
   * Runs `work` in a transaction (READ COMMITTED). When this resolves, its change is durable; when
   * it rejects with `outcome_unknown`, that may be so all the same; else nothing was changed.
   *
   * @param work May run several times: after a deadlock it starts again.
   */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
}

/**
 * Opens the database, and makes its tables if it is empty.
 *
 * @param statementTimeout How long a statement may take; milliseconds. Absent = as for requests.
 * @throws {DatabaseUrlError} when it cannot be used, such as through a pooler that hands out
 * connections for single transactions.
 * @throws {IssueError} `store_unavailable`.
 */
export async function openPostgres(
  url: string,
  log: Log,
  statementTimeout?: number,
): Promise<Postgres> {
  await createSchema(url).catch((error) => {
    throw explained(error)
  })
  const notifications = createNotifications(url)
  try {
    await assertNotified(notifications, url)
  } catch (error) {
    await notifications.close()
    throw error
  }
  // Only now: through a wrong pooler, its time limits would reach connections of others.
  const pool = new pg.Pool(poolOptionsOf(url, MAX_CONNECTIONS, statementTimeout))
  // An idle connection broke; the pool opens another one.
  pool.on('error', (error) => log.warn('postgres_connection_lost', { error: error.message }))
  const { answered, ...presence } = createPresence()
  const transactions = createTransactions(pool, answered)
  const { query } = transactions
  return {
    ...createPort(transactions, { ...presence, listen: notifications.listen }),
    ...transactions,
    note: presence.note,
    async assertReady() {
      const [row] = await query('SELECT pg_is_in_recovery() AS replica')
      if (row?.replica === true) throw outageOf('the server is a read-only replica')
    },
    async close() {
      await notifications.close()
      await pool.end()
    },
  }
}

/**
 * @param answered Called after each success.
 * @returns Statements on the connections of a pool.
 */
export function createTransactions(pool: pg.Pool, answered: () => void = () => {}): Transactions {
  return createTransactionsOn(async (work) => {
    const client = await pool.connect().catch((error) => {
      throw outageOf(error)
    })
    // Emitted beside the rejection of the statement under way.
    const ignore = () => {}
    client.on('error', ignore)
    let broken = true
    try {
      const result = await work(queryOn(client))
      broken = false
      answered()
      return result
    } finally {
      client.off('error', ignore)
      // After any error the state of the connection is unknown: the pool opens another one.
      client.release(broken)
    }
  })
}

/** @param withConnection Runs work on a connection that nothing else uses meanwhile. */
export function createTransactionsOn(
  withConnection: <T>(work: (query: Query) => Promise<T>) => Promise<T>,
): Transactions {
  async function once<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return withConnection(async (query) => {
      await query('BEGIN')
      try {
        const result = await work(query)
        await query('COMMIT').catch(unanswered)
        return result
      } catch (error) {
        // What the work refused, or lost to another transaction. A pool drops the connection.
        if (isRetriable(error) || !isOutage(error)) await query('ROLLBACK')
        throw error
      }
    })
  }

  function unanswered(error: unknown): never {
    throw unansweredOf(error)
  }

  async function retrying<T>(run: () => Promise<T>): Promise<T> {
    for (let left = MAX_RUNS - 1; ; left--) {
      try {
        return await run()
      } catch (error) {
        if (left === 0 || !isRetriable(error)) throw error
        await sleep(Math.random() * 20)
      }
    }
  }

  return {
    query: (text, values) => retrying(() => withConnection((query) => query(text, values))),
    execute: <R extends Row>(text: string, values?: readonly unknown[]) =>
      retrying(() => withConnection((query) => query<R>(text, values).catch(unanswered))),
    transaction: (work) => retrying(() => once(work)),
  }
}

/**
 * @throws {DatabaseUrlError} when no notification arrives, so that gateways would not wake up.
 * @throws {IssueError} `store_unavailable`.
 */
export async function assertNotified(notifications: Notifications, url: string): Promise<void> {
  const channel = 'docreg_self_test'
  const payload = randomUUID()
  const heard = Promise.withResolvers<boolean>()
  const end = notifications.listen(channel, (got) => {
    if (got === payload) heard.resolve(true)
  })
  const stop = new AbortController()
  const timeout = sleep(NOTIFICATION_TIMEOUT_MS, false, { signal: stop.signal }).catch(() => false)
  const arrived = (async () => {
    await notifications.ready()
    await notify(url, channel, payload)
    return heard.promise
  })()
  try {
    if (await Promise.race([arrived, timeout])) return
    throw new DatabaseUrlError(`${POOLER}, since a notification did not arrive`)
  } finally {
    stop.abort()
    arrived.catch(() => {})
    end()
  }
}

async function notify(url: string, channel: string, payload: string): Promise<void> {
  const client = new pg.Client(optionsOf(url, ANSWER_TIMEOUT_MS))
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT pg_notify($1, $2)', [channel, payload])
  } catch (error) {
    throw outageOf(error)
  } finally {
    await client.end().catch(() => {})
  }
}

const POOLER =
  'must lead to PostgreSQL itself, or to a pooler in session mode: it seems to be a pooler that hands out connections for single transactions'

/** PgBouncer in statement mode refuses the transaction of the migration. */
function explained(error: unknown): unknown {
  const { cause } = error as Error
  const problem = tlsProblem(cause ?? error)
  if (problem !== undefined) return new DatabaseUrlError(problem, error)
  const isStatementMode =
    sqlStateOf(cause ?? {}) === '08P01' &&
    /not allowed in statement pooling mode/.test((cause as Error).message)
  return isStatementMode ? new DatabaseUrlError(POOLER, error) : error
}

/** @returns The database as the repositories see it. */
export function createPort(
  { query, execute, transaction }: Transactions,
  { brief, listen }: Pick<Presence, 'brief'> & Pick<Notifications, 'listen'>,
): Database {
  const snapshot: Database['snapshot'] = (work) =>
    transaction(async (within) => {
      await within('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
      return runWork(within, work)
    })
  const write: Database['write'] = (work) => transaction((within) => runWork(within, work))

  function together<T, R>(group: Group<T, R>): (item: T) => Promise<R> {
    const { work, idOf, maxItems = MAX_GROUP, reads, timeoutMs } = group
    // A read is one statement, in a transaction of its own.
    const read = (items: readonly T[]) => runWork(query, () => work(items))
    return groupCalls({
      maxItems,
      ...(idOf && { idOf }),
      run: (items) => {
        if (reads === 'brief') return brief(() => read(items), timeoutMs)
        return reads ? read(items) : write(() => work(items))
      },
    })
  }

  return {
    read: (...asked) => runStatement(query, ...asked),
    snapshot,
    durableSnapshot: snapshot,
    change: (...changed) => runStatement(execute, ...changed),
    write,
    together,
    brief,
    listen,
  }
}
