import { IssueError } from '#promise/errors.ts'
import { type Lock, LockLost } from '#promise/lock.ts'
import { onPostgres, type Row, type Statement, type Values, type Work } from './sql.ts'

/** Concurrent calls that one transaction, or read, answers together. */
export const MAX_GROUP = 200

/** A database as the repositories see it. Methods reject with `IssueError` `store_unavailable`. */
export type Database = {
  /** Reads with one statement, on items if there are any. */
  read(statement: Statement, values?: Values, each?: readonly Values[]): Promise<Row[]>
  /** Runs reads that see the database at one moment. */
  snapshot<T>(work: () => Work<T>): Promise<T>
  /** Same as `snapshot`, but reads only what is on disk. */
  durableSnapshot<T>(work: () => Work<T>): Promise<T>
  /** Writes with one statement, on items if there are any. Resolves when the change is on disk. */
  change(statement: Statement, values?: Values, each?: readonly Values[]): Promise<Row[]>
  /**
   * Runs a transaction completely or not at all. Resolves when it is on disk.
   *
   * @param work May run several times, until its transaction is committed.
   * @param urgent Whether other work depends on this, so that it does not wait for other writes to
   * join it.
   */
  write<T>(work: () => Work<T>, urgent?: boolean): Promise<T>
  /** Lets concurrent calls share a transaction or a read. */
  together<T, R>(group: Group<T, R>): (item: T) => Promise<R>
  /**
   * Makes a read that verifying can do without. While the database is known to be away, it does not
   * wait.
   *
   * @param timeoutMs How long it may take while the database answers.
   */
  brief<T>(read: () => Promise<T>, timeoutMs?: number): Promise<T>
  /**
   * @param heard Called with the payload of each notification, and with `undefined` when some may
   * have been lost. Must not throw.
   * @returns A function that stops listening.
   */
  listen(channel: string, heard: (payload: string | undefined) => void): () => void
}

/** What the repositories see that are beside the API keys: with SQLite, in a file of their own. */
export type KeysDatabase = Pick<Database, 'read' | 'snapshot' | 'change' | 'write' | 'brief'> & {
  /** Same as `change`, but a crash may lose it. */
  changeLoosely: Database['change']
}

export type Group<T, R> = {
  /** @returns A result for each item, in order. */
  work: (items: readonly T[]) => Work<R[]>
  /** Items with the same id are never in the same group; absent = any items can be. */
  idOf?: (item: T) => string
  maxItems?: number
  /** Whether it only reads. For `brief`, see {@link Database}; the value can include the time. */
  reads?: boolean | 'brief'
  timeoutMs?: number
}

/**
 * A transaction that writes outcomes takes this lock first, so that only one does so at a time. So
 * events are committed in the order of their ids, and a reader that has seen one has seen all
 * earlier ones. It also keeps the list of blocks consistent with the actions in them.
 */
export function* lockOutcomes(): Work<void> {
  yield { statement: LOCK_OUTCOMES, values: {} }
}
const LOCK_OUTCOMES = onPostgres('SELECT pg_advisory_xact_lock(7160018)')

/** A session that holds locks, and the database through it. */
export type Session = Lock & {
  /** What is written through it is written while the session lasts, or not at all. */
  database: Database
  /** Takes another lock. @returns Whether it was free. */
  alsoTake(name: string): Promise<boolean>
  /** Takes a lock that others may have too. */
  stand(name: string): Promise<void>
  /** @returns Whether another session has a lock that several can have. */
  hasRival(name: string): Promise<boolean>
}

export type Sessions = {
  /** @returns A session without locks. */
  open(): Promise<Session>
  /** @returns A session with a lock; `undefined` when another session has it. */
  take(name: string): Promise<Session | undefined>
}

/**
 * The sessions of a database that one process has alone. Nobody else can take anything, so a
 * session ends only when a write through it failed: what is in memory then may be wrong.
 */
export function createSoleSessions(database: Database): Sessions {
  const open: Sessions['open'] = async () => {
    const ending = new AbortController()
    return {
      database: endingWith(database, ending),
      ended: ending.signal,
      async assertHeld() {
        if (ending.signal.aborted) throw new LockLost()
      },
      alsoTake: async () => true,
      stand: async () => {},
      hasRival: async () => false,
      async release() {
        ending.abort()
      },
    }
  }
  return { open, take: open }
}

/** @returns The same database; a write that fails ends the session. */
function endingWith(database: Database, ending: AbortController): Database {
  async function ended<T>(write: () => Promise<T>): Promise<T> {
    if (ending.signal.aborted) throw new LockLost()
    try {
      return await write()
    } catch (error) {
      // What the work itself refuses has another code.
      if (error instanceof IssueError && error.code === 'store_unavailable') ending.abort()
      throw error
    }
  }
  return {
    ...database,
    write: (...written) => ended(() => database.write(...written)),
    change: (...changed) => ended(() => database.change(...changed)),
    together(group) {
      const together = database.together(group)
      return group.reads ? together : (item) => ended(() => together(item))
    },
  }
}
