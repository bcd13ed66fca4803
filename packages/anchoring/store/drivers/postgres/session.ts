import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Log } from '#base/log.ts'
import { LockLost } from '#promise/lock.ts'
import type { Session, Sessions } from '../../database.ts'
import { poolOptionsOf, queryOn } from './connection.ts'
import { createPort, createTransactionsOn, type Postgres } from './database.ts'
import { isOutage, isRetriable, outageOf } from './errors.ts'

/** Locks of this service have this number first, and 31 bits of the hash of their name second. */
export const LOCK_CLASS = 7_160_019

/** @returns The second number of a lock. */
export function lockNumberOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE() >>> 1
}

/** How long a session waits for a row that another transaction has locked. */
const LOCK_TIMEOUT_MS = 5_000

/** How long the server may take to notice that a session is over. */
const FAREWELL_MS = 1_000

export type SessionOptions = {
  url: string
  log: Log
  /**
   * A session whose process is stopped or cut off for longer than this ends, inside a transaction
   * and outside of one; milliseconds.
   */
  termMs: number
  /** How long a statement may take; milliseconds. Absent = as for requests. */
  statementTimeout?: number
  /** The pool, for what a session does not do itself. */
  shared: Pick<Postgres, 'brief' | 'listen'>
}

/**
 * Session-level advisory locks. Each session has a connection of its own. Whatever goes wrong on it
 * ends the session; the server frees its locks once it has decided about a COMMIT under way.
 */
export function createSessions({ shared, ...options }: SessionOptions): Sessions {
  const open = async () => createSession(await connect(options), { ...options, shared })
  return {
    open,
    async take(name) {
      const session = await open()
      try {
        if (await session.alsoTake(name)) return session
      } catch (error) {
        await session.release()
        throw error
      }
      await session.release()
      return undefined
    },
  }
}

async function connect({
  url,
  termMs,
  statementTimeout,
}: Omit<SessionOptions, 'shared'>): Promise<pg.Client> {
  const options = poolOptionsOf(url, 1, statementTimeout)
  const client = new pg.Client(options)
  // Emitted beside the rejection of the statement under way.
  client.on('error', () => {})
  try {
    await client.connect()
    await options.onConnect?.(client)
    await client.query(`SET idle_session_timeout = ${termMs};
      SET idle_in_transaction_session_timeout = ${termMs};
      SET lock_timeout = ${LOCK_TIMEOUT_MS};
      SET tcp_user_timeout = ${termMs}`)
    return client
  } catch (error) {
    void destroy(client)
    throw outageOf(error)
  }
}

function createSession(
  client: pg.Client,
  { shared, termMs, log }: Pick<SessionOptions, 'shared' | 'termMs' | 'log'>,
): Session {
  const ending = new AbortController()
  const { signal: ended } = ending
  const query = queryOn(client)
  /** Transactions follow one another. */
  let turn: Promise<unknown> = Promise.resolve()

  async function end(reason: string | undefined): Promise<void> {
    if (ended.aborted) return
    if (reason !== undefined) log.warn('session_ended', { reason })
    ending.abort()
    clearInterval(pinging)
    await destroy(client)
  }
  client.once('end', () => void end('the database closed it'))
  client.on('error', (error) => void end(error.message))
  const pinging = setInterval(() => void ping().catch(() => {}), termMs / 3).unref()

  /** Runs work on the connection once nothing else uses it. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(async () => {
      if (ended.aborted) throw new LockLost()
      try {
        return await work()
      } catch (error) {
        // The state of the connection is unknown. What the work itself refused was rolled back.
        if (isOutage(error) && !isRetriable(error)) void end(String(error))
        throw error
      }
    })
    turn = done.catch(() => {})
    return done
  }

  const ping = () => inTurn(() => query('SELECT 1'))
  const transactions = createTransactionsOn((work) => inTurn(() => work(query)))

  return {
    database: createPort(transactions, shared),
    ended,
    async assertHeld() {
      await ping().catch((error) => {
        throw new LockLost(error)
      })
    },
    async alsoTake(name) {
      const [row] = await inTurn(() =>
        query('SELECT pg_try_advisory_lock($1, $2) AS taken', [LOCK_CLASS, lockNumberOf(name)]),
      )
      return row?.taken === true
    },
    async stand(name) {
      await inTurn(() =>
        query('SELECT pg_advisory_lock_shared($1, $2)', [LOCK_CLASS, lockNumberOf(name)]),
      )
    },
    async hasRival(name) {
      const [row] = await inTurn(() =>
        query(
          `SELECT count(*) AS count FROM pg_locks WHERE locktype = 'advisory' AND granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND classid = $1 AND objid = $2 AND pid <> pg_backend_pid()`,
          [LOCK_CLASS, lockNumberOf(name)],
        ),
      )
      return Number(row?.count) > 0
    },
    async release() {
      // A statement under way is decided first.
      await turn
      await end(undefined)
    },
  }
}

/** Resolves when the server has ended the session, or cannot be reached. */
async function destroy(client: pg.Client): Promise<void> {
  // A network that was cut does not answer a farewell.
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const timer = setTimeout(() => stream.destroy(), FAREWELL_MS).unref()
  await client.end().catch(() => {})
  clearTimeout(timer)
}
