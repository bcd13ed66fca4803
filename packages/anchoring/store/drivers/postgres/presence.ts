import { setImmediate as nextTurn } from 'node:timers/promises'
import { IssueError } from '#promise/errors.ts'

/** How long a brief read may take: one that waits longer has no answer to wait for. */
const READ_TIMEOUT_MS = 3_000
/** While the database is away, one brief read in this time asks it all the same. */
const RETRY_INTERVAL_MS = 1_000
const RETRY_TIMEOUT_MS = 250

/** Whether the database answers. One that hangs must not make every request wait. */
export type Presence = ReturnType<typeof createPresence>

export function createPresence() {
  let isAway = false
  /** `performance.now()`. */
  let nextTryAt = 0

  /** Any statement tells that the database is back. */
  function answered(): void {
    isAway = false
  }

  /** Notes whether the database answers. @returns The answer. */
  async function note<T>(answer: Promise<T>): Promise<T> {
    try {
      const result = await answer
      answered()
      return result
    } catch (error) {
      isAway = true
      throw error
    }
  }

  return {
    answered,
    note,
    /**
     * Makes a read that verifying can do without. It waits for a few seconds at most, and while the
     * database is known to be away, not at all.
     *
     * @param timeoutMs How long it may take while the database answers.
     * @throws {IssueError} `store_unavailable`.
     */
    async brief<T>(read: () => Promise<T>, timeoutMs = READ_TIMEOUT_MS): Promise<T> {
      const now = performance.now()
      if (isAway && now < nextTryAt) throw noAnswer()
      nextTryAt = now + RETRY_INTERVAL_MS
      return note(within(note(read()), isAway ? RETRY_TIMEOUT_MS : timeoutMs))
    },
  }
}

/** @returns The answer; rejects if there is none in time. */
async function within<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(async () => {
    // An answer that came while this process was busy is read first.
    await nextTurn()
    late.reject(noAnswer())
  }, timeoutMs)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function noAnswer(): IssueError {
  return new IssueError('store_unavailable', 'PostgreSQL does not answer')
}
