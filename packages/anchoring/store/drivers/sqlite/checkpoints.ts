import { once } from 'node:events'
import type { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { Holds } from './write-queue.ts'

/**
 * Pages of the write-ahead log, 4 KiB each, after which a checkpoint writes them into the file. A
 * checkpoint flushes pages from all over the file, so it must be rare; and every start reads the
 * log, so it must not be too rare.
 */
const CHECKPOINT_PAGES = 8_192

/** Decides when to make a checkpoint. */
export function createCheckpoints(path: string, sqlite: DatabaseSync, holds: Holds) {
  const checkpointer = createCheckpointer(path)
  const logState = sqlite.prepare('PRAGMA wal_checkpoint(NOOP)')
  let running: Promise<void> | undefined

  /** @returns How many are not in the file yet; 0 during a read, when SQLite does not say. */
  function pagesInLog(): number {
    try {
      const state = logState.get()
      return Number(state?.log) - Number(state?.checkpointed)
    } catch {
      return 0
    }
  }

  /**
   * Copies most pages while writes go on, and holds writes back for the rest: SQLite starts the log
   * over only when all of it is in the file and nothing is being written.
   */
  async function run(): Promise<void> {
    try {
      await checkpointer.run('PASSIVE')
      await holds.hold(checkpointer.run('RESTART'))
    } catch {
      // The log keeps everything, and the next write tries again.
    } finally {
      running = undefined
    }
  }

  async function held(work: 'TRUNCATE' | 'VACUUM'): Promise<void> {
    const done = checkpointer.run(work)
    await holds.hold(done)
    await done
  }

  /** The thread does one thing at a time. */
  async function alone(work: () => Promise<void>): Promise<void> {
    while (running) await running
    const done = work()
    running = done
      .catch(() => {})
      .finally(() => {
        running = undefined
      })
    await done
  }

  return {
    /** Starts a checkpoint if the log is long enough. */
    startIfDue(): void {
      if (!running && pagesInLog() >= CHECKPOINT_PAGES) running = run()
    },
    /** Writes all of the log into the file, and cuts the log to nothing. Rejects when it cannot. */
    emptyLog: () =>
      alone(async () => {
        await checkpointer.run('PASSIVE')
        await held('TRUNCATE')
      }),
    /** Rewrites the file from what the database holds. Writes wait meanwhile. */
    rewrite: () => alone(() => held('VACUUM')),
    async close(): Promise<void> {
      await running
      await checkpointer.close()
    },
  }
}

/**
 * `PASSIVE` runs beside writes and leaves out pages written meanwhile. `RESTART` copies all pages,
 * after which SQLite starts the log over; `TRUNCATE` also cuts the log to nothing. `VACUUM` writes
 * all that the database holds into the log again. A write during these three fails.
 */
export type CheckpointWork = 'PASSIVE' | 'RESTART' | 'TRUNCATE' | 'VACUUM'

/** The thread's reply. */
export type Checkpointed = { error?: string }

export type Checkpointer = ReturnType<typeof createCheckpointer>

/**
 * Writes a database's log into its file, in a thread of its own.
 *
 * @param path The database's file. No connection may lock it exclusively.
 */
export function createCheckpointer(path: string) {
  let thread: Worker | undefined

  function start(): Worker {
    const started = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
      workerData: path,
    })
    started.once('exit', () => {
      thread = undefined
    })
    return started
  }

  return {
    /** Only one at a time. Rejects when the disk refuses; the log still has everything then. */
    async run(work: CheckpointWork): Promise<void> {
      thread ??= start()
      const { error } = await ask(thread, work)
      if (error !== undefined) throw new Error(error)
    },
    /** Call it before the last connection is closed. */
    async close(): Promise<void> {
      if (!thread) return
      thread.ref()
      const exited = once(thread, 'exit')
      thread.postMessage('close')
      await exited
    },
  }
}

/** Sends a request, and keeps the process alive until the reply. */
async function ask(thread: Worker, work: CheckpointWork): Promise<Checkpointed> {
  const over = new AbortController()
  const { signal } = over
  thread.ref()
  const ended = once(thread, 'exit', { signal }).then(() => [{ error: 'the thread has ended' }])
  const answered = once(thread, 'message', { signal })
  thread.postMessage(work)
  try {
    const [answer] = await Promise.race([answered, ended])
    return answer
  } finally {
    Promise.allSettled([answered, ended])
    over.abort()
    thread.unref()
  }
}
