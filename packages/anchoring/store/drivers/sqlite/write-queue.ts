import { closeSync, fdatasync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { IssueError } from '#promise/errors.ts'
import type { WriteMark } from './write-mark.ts'

/**
 * Gathers work for one commit at most this many turns of the event loop, as long as each turn
 * brings more: a commit writes some pages however little it changes.
 */
const MAX_GATHER_TURNS = 4
/** A commit takes no further work after this time: the event loop waits for it. */
const MAX_WORK_MS = 15

const flushToDisk = promisify(fdatasync)

/**
 * Commits, and then flushes the write-ahead log off the event loop. `synchronous = FULL` would
 * flush within the commit, while everything waits.
 */
export type WriteQueue = {
  /**
   * Runs `work` in the next transaction, together with other waiting work. When that takes long, the
   * rest waits for another one. When the commit fails, all of the waiting work rejects.
   *
   * @param urgent Other work depends on this: it is committed at once, together with all waiting
   * work, even while a flush is under way.
   */
  write<T>(work: () => T, urgent?: boolean): Promise<T>
  /** Rejects further writes at once; resolves when all earlier ones have ended. */
  close(): Promise<void>
}

type Job = { work: () => void; urgent: boolean; settle: (error?: unknown) => void }

/**
 * @param log The path of the write-ahead log.
 * @param deps `flushFailed`: see `openSqlite`. `committed` is called after each commit.
 */
export function createWriteQueue(
  sqlite: DatabaseSync,
  log: string,
  deps: {
    holds: Holds
    mark: WriteMark
    flushFailed: (error: IssueError) => void
    committed: () => void
  },
): WriteQueue {
  const { holds, mark, flushFailed, committed } = deps
  const countChanges = sqlite.prepare('SELECT total_changes() AS count')
  const changes = () => Number(countChanges.get()?.count)
  const file = openSync(log, 'r+')
  // Linux reports a failed flush once to each file descriptor (errseq), so two flushes at the same
  // time need two.
  const urgentFile = openSync(log, 'r+')
  const jobs: Job[] = []
  let closed = false
  let flushing: Promise<void> | undefined
  let hurrying: Promise<void> | undefined
  /** Why a flush failed: nothing is committed any more. */
  let broken: IssueError | undefined

  async function flushAll(): Promise<void> {
    while (jobs.length > 0) {
      await gather(() => jobs.length)
      await flushGroup(file)
    }
    flushing = undefined
  }

  async function hurry(): Promise<void> {
    while (jobs.some(({ urgent }) => urgent)) await flushGroup(urgentFile)
    hurrying = undefined
    if (jobs.length > 0) flushing ??= flushAll()
  }

  async function flushGroup(descriptor: number): Promise<void> {
    while (holds.isHeld()) await holds.released()
    if (jobs.length === 0) return
    const group: Job[] = []
    const done = broken ?? commit(group)
    const error = done instanceof IssueError ? done : await flush(descriptor, done)
    if (error) group.push(...jobs.splice(0))
    for (const { settle } of group) settle(error)
    committed()
  }

  /**
   * Commits waiting work, in order, as long as there is time for more.
   *
   * @param group Gets what was taken.
   * @returns The number of the commit; `undefined` when it changed nothing.
   */
  function commit(group: Job[]): IssueError | number | undefined {
    const end = performance.now() + MAX_WORK_MS
    try {
      sqlite.exec('BEGIN IMMEDIATE')
      const before = changes()
      do {
        const job = jobs.shift()
        if (!job) break
        group.push(job)
        job.work()
      } while (performance.now() < end)
      const number = changes() > before ? mark.bump() : undefined
      sqlite.exec('COMMIT')
      return number
    } catch (cause) {
      if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
      return notWritten(cause)
    }
  }

  async function flush(descriptor: number, number?: number): Promise<IssueError | undefined> {
    try {
      await flushToDisk(descriptor)
      // If another flush has failed meanwhile, the log before this transaction has a gap.
      if (!broken && number !== undefined) mark.flushed(number)
      return broken
    } catch (cause) {
      broken ??= notWritten(cause)
      flushFailed(broken)
      return broken
    }
  }

  return {
    write: (work, urgent = false) =>
      new Promise((resolve, reject) => {
        if (closed) throw new Error('the database is closed')
        let result: ReturnType<typeof work>
        jobs.push({
          urgent,
          settle: (error) => (error === undefined ? resolve(result) : reject(error)),
          work: () => {
            result = work()
          },
        })
        if (urgent) hurrying ??= hurry()
        else flushing ??= flushAll()
      }),

    async close() {
      closed = true
      while (flushing || hurrying) await Promise.all([flushing, hurrying])
      closeSync(file)
      closeSync(urgentFile)
    },
  }
}

async function gather(count: () => number): Promise<void> {
  for (let turn = 0; turn < MAX_GATHER_TURNS; turn++) {
    const before = count()
    await nextTurn()
    if (count() <= before) return
  }
}

function notWritten(cause: unknown): IssueError {
  const message = cause instanceof Error ? cause.message : cause
  return new IssueError('store_unavailable', `not written: ${message}`, cause)
}

/** Holds commits back while something else needs the database to stay as it is. */
export type Holds = ReturnType<typeof createHolds>

export function createHolds() {
  const holds = new Set<Promise<void>>()
  return {
    /** Lets nothing be committed until `work` has ended. Resolves then, also when `work` rejects. */
    async hold(work: Promise<unknown>): Promise<void> {
      const ended = work.then(
        () => {},
        () => {},
      )
      holds.add(ended)
      await ended
      holds.delete(ended)
    },
    /** Whether commits have to wait for `released`. */
    isHeld: () => holds.size > 0,
    released: () => Promise.all(holds),
  }
}
