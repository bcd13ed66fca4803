import { setImmediate as nextTurn } from 'node:timers/promises'

type Job<T, R> = {
  item: T
  resolve: (result: R) => void
  reject: (error: unknown) => void
}

/**
 * Gathers concurrent calls: while one group is under way, the next gathers, and becomes one call.
 *
 * @param options.maxItems In one group.
 * @param options.run Returns a result for each item, in order. When it rejects, so do all calls of
 * the group, and those that wait: they would meet the same outage.
 * @param options.idOf Items with the same id never are in one group; absent = all go together.
 * @param options.inTurn Begins a group when its turn comes; absent = at once. Never gets work that
 * rejects.
 */
export function groupCalls<T, R>(options: {
  maxItems: number
  run: (items: readonly T[]) => Promise<readonly R[]>
  idOf?: (item: T) => string
  inTurn?: (work: () => Promise<void>) => Promise<void>
}): (item: T) => Promise<R> {
  const { maxItems, run, idOf, inTurn = (work) => work() } = options
  let waiting: Job<T, R>[] = []
  let running = false

  function nextGroup(): Job<T, R>[] {
    const ids = new Set<string>()
    const group: Job<T, R>[] = []
    const later: Job<T, R>[] = []
    for (const job of waiting) {
      const id = idOf?.(job.item)
      const fits = group.length < maxItems && (id === undefined || !ids.has(id))
      if (fits && id !== undefined) ids.add(id)
      ;(fits ? group : later).push(job)
    }
    waiting = later
    return group
  }

  async function runGroup(): Promise<void> {
    const group = nextGroup()
    try {
      const results = await run(group.map(({ item }) => item))
      group.forEach(({ resolve }, i) => {
        resolve(results[i] as R)
      })
    } catch (error) {
      for (const { reject } of [...group, ...waiting.splice(0)]) reject(error)
    }
  }

  async function runAll(): Promise<void> {
    while (waiting.length > 0) {
      // Requests of this turn of the event loop go together.
      await nextTurn()
      await inTurn(runGroup)
    }
    running = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (running) return
      running = true
      runAll()
    })
}
