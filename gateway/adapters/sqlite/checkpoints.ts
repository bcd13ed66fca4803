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
export type Checkpoints = {
  /** Starts a checkpoint if the log is long enough. */
  startIfDue(): void
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

  return {
    startIfDue() {
      if (!running && pagesInLog() >= CHECKPOINT_PAGES) running = run()
    },
    async close() {
      await running
      await checkpointer.close()
    },
  }
}
