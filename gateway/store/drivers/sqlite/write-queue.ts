import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DurableCommit } from './durable-commit.ts'
import type { Holds } from './holds.ts'

/**
 * Gathers work for one commit at most this many turns of the event loop, as long as each turn
 * brings more: a commit writes some pages however little it changes.
 */
const MAX_GATHER_TURNS = 4
/** A commit takes no further work after this time: the event loop waits for it. */
const MAX_WORK_MS = 15

export type WriteQueue = {
  /** See `Database`. */
  write<T>(work: () => T, urgent?: boolean): Promise<T>
  /** Rejects further writes at once; resolves when all earlier ones have ended. */
  close(): Promise<void>
}

type Job = { work: () => void; urgent: boolean; settle: (error?: unknown) => void }

export function createWriteQueue(deps: {
  commits: DurableCommit
  holds: Holds
  /** Called after each commit. */
  committed: () => void
}): WriteQueue {
  const jobs: Job[] = []
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
    while (jobs.some(({ urgent }) => urgent)) await flushGroup(true)
    hurrying = undefined
    if (jobs.length > 0) flushing ??= flushAll()
  }

  async function flushGroup(urgent: boolean): Promise<void> {
    while (deps.holds.isHeld()) await deps.holds.released()
    if (jobs.length === 0) return
    const group: Job[] = []
    const error = await deps.commits.run(takeInto(group), urgent)
    if (error) group.push(...jobs.splice(0))
    for (const { settle } of group) settle(error)
    deps.committed()
  }

  /** Takes waiting work, in order, as long as there is time for more. */
  function* takeInto(group: Job[]): Generator<() => void> {
    const end = performance.now() + MAX_WORK_MS
    do {
      const [job] = jobs.splice(0, 1)
      if (!job) return
      group.push(job)
      yield job.work
    } while (performance.now() < end)
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
