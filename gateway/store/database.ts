import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import { type Held, type Lease, LeaseLost } from '#promise/lease.ts'
import {
  first,
  onPostgres,
  type Row,
  type Statement,
  single,
  statement,
  type Values,
  type Work,
} from './sql.ts'

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
 * earlier ones. It also keeps the list of blocks consistent with the intents in them.
 */
export function* lockOutcomes(): Work<void> {
  yield { statement: LOCK_OUTCOMES, values: {} }
}
const LOCK_OUTCOMES = onPostgres('SELECT pg_advisory_xact_lock(7160018)')

/** An account, with the lease of the gateway that writes with it. */
export type LeasedAccount = {
  /** The address in lower case. */
  account: Hex
  lease: Lease
}

const HOLDS = statement(
  (sql) => `SELECT 1 FROM lease WHERE name = :name AND token = :token ${sql.forKeyShare}`,
)

/**
 * Keeps a lease from changing hands until the transaction ends. @returns Whether it is still held.
 */
export function* holds({ name, token }: Held): Work<boolean> {
  return (yield* first(HOLDS, { name, token })) !== undefined
}

/** @throws {LeaseLost} when the lease has changed hands. */
export async function assertHolds(database: Database, { name, token }: Held): Promise<void> {
  const rows = await database.read(HOLDS, { name, token })
  if (rows.length === 0) throw new LeaseLost(name)
}

/**
 * Keeps a lease from changing hands until the transaction ends.
 *
 * @throws {LeaseLost} when it has already changed hands.
 */
export function* fence(held: Held): Work<void> {
  if (!(yield* holds(held))) throw new LeaseLost(held.name)
}

/**
 * @returns The same database for the holder of a lease. It changes nothing once the lease is lost.
 * After a write without an answer it gives the lease up: nobody can take it before that write is
 * decided, so whoever takes it next reads in the database what became of it.
 */
export function fenced(
  database: Database,
  lease: Pick<Lease, 'name' | 'token' | 'assertHeld' | 'release'>,
): Database {
  function failed(error: unknown): never {
    // The holder of the lease is told as well.
    if (error instanceof LeaseLost) lease.assertHeld().catch(() => {})
    if (error instanceof IssueError && error.code === 'outcome_unknown')
      lease.release().catch(() => {})
    throw error
  }

  const write: Database['write'] = (work, urgent) =>
    database
      .write(function* () {
        yield* fence(lease)
        return yield* work()
      }, urgent)
      .catch(failed)

  return {
    ...database,
    write,
    change: (...changed) => write(single(...changed)),
    together(group) {
      if (group.reads) return database.together(group)
      const together = database.together({
        ...group,
        *work(items) {
          yield* fence(lease)
          return yield* group.work(items)
        },
      })
      return (item) => together(item).catch(failed)
    },
  }
}
