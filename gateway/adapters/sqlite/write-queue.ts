import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DurableCommit } from './durable-commit.ts'
import type { Holds } from './holds.ts'

/**
 * Gathers work for one commit at most this many turns of the event loop, as long as each turn
 * brings more: a commit writes some pages however little it changes.
 */
const MAX_GATHER_TURNS = 4

export type WriteQueue = {
  /** See `Database`. */
  write<T>(work: () => T, urgent?: boolean): Promise<T>
  /** Rejects further writes at once; resolves when all earlier ones have ended. */
  close(): Promise<void>
}

type Job = { work: () => void; settle: (error?: unknown) => void }

export function createWriteQueue(deps: {
  commits: DurableCommit
  holds: Holds
  /** Called after each commit. */
  committed: () => void
}): WriteQueue {
  let jobs: Job[] = []
  let closed = false
  let flushing: Promise<void> | undefined
  let hurrying: Promise<void> | undefined

  async function flushAll(): Promise<void> {
    while (jobs.length > 0) {
      await gather(() => jobs.length)
      await flushGroup(false)
    }
    flushing = undefined
  }

  async function hurry(): Promise<void> {
    await flushGroup(true)
    hurrying = undefined
    if (jobs.length > 0) flushing ??= flushAll()
  }

  async function flushGroup(urgent: boolean): Promise<void> {
    while (deps.holds.isHeld()) await deps.holds.released()
    const group = jobs
    jobs = []
    if (group.length === 0) return
    const error = await deps.commits.run(
      group.map(({ work }) => work),
      urgent,
    )
    for (const { settle } of group) settle(error)
    deps.committed()
  }

  return {
    write: (work, urgent = false) =>
      new Promise((resolve, reject) => {
        if (closed) throw new Error('the database is closed')
        let result: ReturnType<typeof work>
        jobs.push({
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
