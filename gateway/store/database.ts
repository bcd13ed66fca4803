import type { Hex } from '#document/hex.ts'
import { type Held, type Lease, LeaseLost } from '#promise/lease.ts'
import {
  first,
  type Row,
  type Statement,
  single,
  statement,
  type Values,
  type Work,
} from './sql.ts'

/** A database, as the repositories see it. Methods reject with `IssueError` `store_unavailable`. */
export type Database = {
  /** Reads with one statement, of items if there are any. */
  read(statement: Statement, values?: Values, each?: readonly Values[]): Promise<Row[]>
  /** Reads that see the database at one moment. */
  snapshot<T>(work: () => Work<T>): Promise<T>
  /** As `snapshot`, of nothing but what is on the disk. */
  durableSnapshot<T>(work: () => Work<T>): Promise<T>
  /** Writes with one statement, of items if there are any. Resolves when it is on the disk. */
  change(statement: Statement, values?: Values, each?: readonly Values[]): Promise<Row[]>
  /**
   * Runs a transaction: all of it happens, or nothing. Resolves when it is on the disk.
   *
   * @param work May be run several times, until its transaction is committed.
   * @param urgent Other work depends on this: it does not wait for other writes to join it.
   */
  write<T>(work: () => Work<T>, urgent?: boolean): Promise<T>
  /** Lets concurrent calls share a transaction, or a read. */
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
   * @returns A function that ends it.
   */
  listen(channel: string, heard: (payload: string | undefined) => void): () => void
}

export type Group<T, R> = {
  /** @returns A result for each item, in order. */
  work: (items: readonly T[]) => Work<R[]>
  /** Items with the same id are never in one group. Absent = all go together. */
  idOf?: (item: T) => string
  maxItems?: number
  /** Whether it only reads. `brief`: see {@link Database}, also for the time. */
  reads?: boolean | 'brief'
  timeoutMs?: number
}

/**
 * A transaction that writes outcomes takes this lock first: one at a time does. So events are
 * committed in the order of their ids, and a reader that has seen one has seen all before it; and
 * the list of blocks stays in step with the intents in them.
 */
export function* lockOutcomes(): Work<void> {
  yield { statement: LOCK_OUTCOMES, values: {} }
}
const LOCK_OUTCOMES = statement(({ name }) =>
  name === 'postgres' ? 'SELECT pg_advisory_xact_lock(7160018)' : '',
)

/** An account, and the lease of the gateway that writes with it. */
export type LeasedAccount = {
  /** Its address, lower case. */
  account: Hex
  lease: Lease
}

const HOLDS = statement(
  (sql) => `SELECT 1 FROM lease WHERE name = :name AND token = :token ${sql.forKeyShare}`,
)

/** Keeps a lease from changing hands until the transaction ends. @returns Whether it still holds. */
export function* holds({ name, token }: Held): Work<boolean> {
  return (yield* first(HOLDS, { name, token })) !== undefined
}

/** @throws {LeaseLost} when the lease has changed hands. */
export async function assertHolds(database: Database, { name, token }: Held): Promise<void> {
  const rows = await database.read(HOLDS, { name, token })
  if (rows.length === 0) throw new LeaseLost(name)
}

/** @throws {LeaseLost} likewise; otherwise it does not until the transaction ends. */
export function* fence(held: Held): Work<void> {
  if (!(yield* holds(held))) throw new LeaseLost(held.name)
}

/** @returns The same database, for the holder of a lease: it changes nothing once that is lost. */
export function fenced(
  database: Database,
  lease: Pick<Lease, 'name' | 'token' | 'assertHeld'>,
): Database {
  const write: Database['write'] = async (work, urgent) => {
    try {
      return await database.write(function* () {
        yield* fence(lease)
        return yield* work()
      }, urgent)
    } catch (error) {
      // The holder notices it too.
      if (error instanceof LeaseLost) lease.assertHeld().catch(() => {})
      throw error
    }
  }

  return {
    ...database,
    write,
    change: (...changed) => write(single(...changed)),
    together: (group) =>
      group.reads
        ? database.together(group)
        : database.together({
            ...group,
            *work(items) {
              yield* fence(lease)
              return yield* group.work(items)
            },
          }),
  }
}
