import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { IssueError } from '#promise/errors.ts'

/**
 * Commits, and then flushes the write-ahead log off the event loop. `synchronous = FULL` would
 * flush within the commit, while everything waits.
 */
export type DurableCommit = {
  /**
   * Runs the work in one transaction, which is committed before this returns.
   *
   * @param work Is not read when nothing can be written.
   * @param urgent May flush while another flush is under way.
   * @returns Resolves when the transaction is on the disk: to `undefined`, or to the reason why it
   * is not.
   */
  run(work: Iterable<() => void>, urgent: boolean): Promise<IssueError | undefined>
  close(): void
}

const flushToDisk = promisify(fdatasync)

/**
 * @param log The path of the write-ahead log.
 * @param flushFailed See `openDatabase`.
 */
export function createDurableCommit(
  sqlite: DatabaseSync,
  log: string,
  flushFailed: (error: IssueError) => void,
): DurableCommit {
  const file = openSync(log, 'r+')
  // Linux reports a failed flush once to each file descriptor (errseq), so two flushes at the same
  // time need two.
  const urgentFile = openSync(log, 'r+')
  /** Why a flush failed: nothing is committed any more. */
  let broken: IssueError | undefined

  async function flush(descriptor: number): Promise<IssueError | undefined> {
    try {
      await flushToDisk(descriptor)
      // If another flush has failed meanwhile, the log before this transaction has a gap.
      return broken
    } catch (cause) {
      broken ??= notWritten(cause)
      flushFailed(broken)
      return broken
    }
  }

  return {
    run: async (work, urgent) =>
      broken ?? commit(sqlite, work) ?? (await flush(urgent ? urgentFile : file)),
    close() {
      closeSync(file)
      closeSync(urgentFile)
    },
  }
}

function commit(sqlite: DatabaseSync, work: Iterable<() => void>): IssueError | undefined {
  try {
    sqlite.exec('BEGIN IMMEDIATE')
    for (const each of work) each()
    sqlite.exec('COMMIT')
    return undefined
  } catch (cause) {
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    return notWritten(cause)
  }
}

function notWritten(cause: unknown): IssueError {
  const message = cause instanceof Error ? cause.message : cause
  return new IssueError('store_unavailable', `not written: ${message}`, cause)
}
