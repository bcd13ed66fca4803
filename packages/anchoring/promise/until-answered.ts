import { setTimeout as sleep } from 'node:timers/promises'
import type { Deadline } from '#base/deadline.ts'
import { IssueError } from './errors.ts'

/** How long to wait before a write is repeated whose answer was lost. */
const REPEAT_INTERVAL_MS = 100

/**
 * Repeats a write until the store says what became of it.
 *
 * @param write Does nothing more when it is repeated.
 * @throws {IssueError} `outcome_unknown` when the deadline has passed, and no answer came since the
 * first one was lost: it may have been written.
 */
export async function untilAnswered<T>(deadline: Deadline, write: () => Promise<T>): Promise<T> {
  let lost: IssueError | undefined
  while (true) {
    try {
      return await (lost ? deadline.within(write) : write())
    } catch (error) {
      if (error instanceof IssueError && error.code === 'outcome_unknown') lost ??= error
      if (lost === undefined) throw error
      if (deadline.left() === 0) throw lost
    }
    await sleep(Math.min(REPEAT_INTERVAL_MS, deadline.left()))
  }
}
