import { setImmediate as nextTurn } from 'node:timers/promises'

type Job<T, R> = {
  item: T
  resolve: (result: R) => void
  reject: (error: unknown) => void
}

/**
 * Groups concurrent calls: while one group is in progress, the next one gathers and becomes one
 * call.
 *
 * @param options.maxItems The maximum number of items in a group.
 * @param options.run Returns a result for each item, in order. When it rejects, all calls of the
 * group reject, and so do those that wait, because they would meet the same outage.
 * @param options.idOf Items with the same id are never in the same group; absent = any items can
 * be.
 * @param options.inTurn Starts a group when its turn comes; absent = at once. The work that it gets
 * never rejects.
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
      // Requests of this turn of the event loop are grouped.
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

export type GroupedReads<K, V> = {
  /** @returns The same text for keys that are read once for all their callers. */
  idOf(key: K): string
  /**
   * @returns The same text for keys that one call can read; absent = one call can read any keys.
   */
  callOf?(key: K): string
  /** @returns The values, in the order of the keys. */
  readMany(keys: K[], signal: AbortSignal): Promise<V[]>
  readOne(key: K, signal: AbortSignal): Promise<V>
  /** The maximum number of keys in one call. */
  maxKeys: number
  /** The maximum number of calls at the same time. */
  maxCalls: number
}

/** One key and all callers that wait for its value. */
type Read<K, V> = {
  key: K
  callers: Set<Pick<PromiseWithResolvers<V>, 'resolve' | 'reject'>>
  /** Called when the last caller has aborted. */
  onAbandoned: () => void
}

/**
 * Groups reads: those of one turn of the event loop are sent together, and so are those that gather
 * while {@link GroupedReads.maxCalls} calls are in progress. A read never joins a call that was
 * already sent, so no value is older than its caller's request.
 *
 * When a call with several keys fails, each key is read alone, so that no key spoils another. A
 * call is aborted when all its callers have aborted.
 *
 * @returns A function that reads one key. Rejects with the reason of its signal once that aborts.
 */
export function groupReads<K, V>(
  reads: GroupedReads<K, V>,
): (key: K, signal?: AbortSignal) => Promise<V> {
  const { idOf, callOf = () => '', maxKeys, maxCalls } = reads
  /** Waiting reads by call, and then by key. */
  const waiting = new Map<string, Map<string, Read<K, V>>>()
  let underWay = 0
  let isScheduled = false

  function join(key: K): Read<K, V> {
    const [call, id] = [callOf(key), idOf(key)]
    const together = waiting.get(call) ?? new Map<string, Read<K, V>>()
    waiting.set(call, together)
    const onAbandoned = () => {
      together.delete(id)
      if (together.size === 0 && waiting.get(call) === together) waiting.delete(call)
    }
    const read = together.get(id) ?? { key, callers: new Set(), onAbandoned }
    together.set(id, read)
    return read
  }

  function schedule(): void {
    if (isScheduled || waiting.size === 0 || underWay >= maxCalls) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      while (waiting.size > 0 && underWay < maxCalls) void start(take())
    })
  }

  async function start(some: Read<K, V>[]): Promise<void> {
    underWay++
    await settle(some, reads)
    underWay--
    schedule()
  }

  /** @returns The reads of one call. */
  function take(): Read<K, V>[] {
    const taken: Read<K, V>[] = []
    const [next] = waiting
    if (!next) return taken
    const [call, together] = next
    for (const [id, read] of together) {
      if (taken.length === maxKeys) return taken
      together.delete(id)
      taken.push(read)
    }
    waiting.delete(call)
    return taken
  }

  return async (key, signal) => {
    signal?.throwIfAborted()
    const read = join(key)
    const { promise, ...caller } = Promise.withResolvers<V>()
    const leave = () => {
      read.callers.delete(caller)
      caller.reject(signal?.reason)
      if (read.callers.size === 0) read.onAbandoned()
    }
    signal?.addEventListener('abort', leave)
    read.callers.add(caller)
    schedule()
    return promise.finally(() => signal?.removeEventListener('abort', leave))
  }
}

async function settle<K, V>(some: readonly Read<K, V>[], reads: GroupedReads<K, V>): Promise<void> {
  try {
    const values = await call(some, reads)
    for (const [i, { callers }] of some.entries())
      for (const { resolve } of callers) resolve(values[i] as V)
  } catch (error) {
    if (some.length === 1) for (const { reject } of some[0]?.callers ?? []) reject(error)
    else
      await Promise.all(
        some.filter(({ callers }) => callers.size > 0).map((read) => settle([read], reads)),
      )
  }
}

async function call<K, V>(
  some: readonly Read<K, V>[],
  { readOne, readMany }: GroupedReads<K, V>,
): Promise<V[]> {
  const abandoned = new AbortController()
  let left = 0
  for (const read of some)
    read.onAbandoned = () => {
      if (++left === some.length) abandoned.abort()
    }
  const keys = some.map(({ key }) => key)
  const [first] = keys
  if (first !== undefined && keys.length === 1) return [await readOne(first, abandoned.signal)]
  const values = await readMany(keys, abandoned.signal)
  if (values.length !== keys.length)
    throw new Error(`${values.length} values for ${keys.length} keys`)
  return values
}
