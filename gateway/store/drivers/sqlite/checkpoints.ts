import type { DatabaseSync } from 'node:sqlite'
import { createCheckpointer } from './checkpointer.ts'
import type { Holds } from './holds.ts'

/**
 * Pages of the write-ahead log, 4 KiB each, after which a checkpoint writes them into the file. A
 * checkpoint flushes pages from all over the file, so it must be rare; and every start reads the
 * log, so it must not be too rare.
 */
const CHECKPOINT_PAGES = 8_192

/** Decides when to make a checkpoint. */
type Checkpoints = {
  /** Starts a checkpoint if the log is long enough. */
  startIfDue(): void
  /** Writes all of the log into the file, and cuts the log to nothing. Rejects when it cannot. */
  emptyLog(): Promise<void>
  /** Rewrites the file from what the database holds. Writes wait meanwhile. */
  rewrite(): Promise<void>
  close(): Promise<void>
}

export function createCheckpoints(path: string, sqlite: DatabaseSync, holds: Holds): Checkpoints {
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
    startIfDue() {
      if (!running && pagesInLog() >= CHECKPOINT_PAGES) running = run()
    },
    emptyLog: () =>
      alone(async () => {
        await checkpointer.run('PASSIVE')
        await held('TRUNCATE')
      }),
    rewrite: () => alone(() => held('VACUUM')),
    async close() {
      await running
      await checkpointer.close()
    },
  }
}
