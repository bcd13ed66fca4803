import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

/**
 * The documents to seal, or to answer for, in one turn of the event loop, which take about 1
 * ms.
 */
const DOCUMENTS_A_TURN = 16

/**
 * Lets other work have its turn now and then.
 *
 * @param count How much has been done so far. @param each How much is done in one turn.
 */
export async function turnAfter(count: number, each = DOCUMENTS_A_TURN): Promise<void> {
  if (count % each === 0) await nextTurn()
}

/**
 * Repeats work, with a pause before each time, which keeps no process alive. What fails is repeated
 * too.
 *
 * @param work Its signal aborts when it is to stop.
 * @returns A function that stops it, and waits for what is under way.
 */
export function repeat(
  pauseMs: number,
  work: (signal: AbortSignal) => Promise<void>,
  failed: (error: unknown) => void,
): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  async function run(): Promise<void> {
    while (await sleep(pauseMs, true, { signal, ref: false }).catch(() => false))
      await work(signal).catch(failed)
  }
  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}

/**
 * Limits how many callers continue in one turn of the event loop, so that many requests at once do
 * not delay answers of chain and disk for which earlier requests wait.
 *
 * @param max The number of callers in one turn.
 * @returns A function whose promise resolves in the caller's turn.
 */
export function limitPerTurn(max: number): () => Promise<void> {
  const waiting: (() => void)[] = []

  function next(): void {
    for (const goOn of waiting.splice(0, max)) goOn()
    if (waiting.length > 0) setImmediate(next)
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(next)
    })
}

/** How much all owners together may have, and how much each of them. */
export type Limits = { all: number; each: number }

/**
 * Divides places or bytes between owners. No owner can take everything if `each` is less than
 * `all`.
 */
export type Shares = {
  /** @returns Whether enough was left; otherwise nothing is taken. */
  take(owner: string, amount?: number): boolean
  give(owner: string, amount?: number): void
}

export function createShares({ all, each }: Limits): Shares {
  const taken = new Map<string, number>()
  let total = 0

  return {
    take(owner, amount = 1) {
      const own = (taken.get(owner) ?? 0) + amount
      if (own > each || total + amount > all) return false
      taken.set(owner, own)
      total += amount
      return true
    },
    give(owner, amount = 1) {
      const own = (taken.get(owner) ?? 0) - amount
      if (own > 0) taken.set(owner, own)
      else taken.delete(owner)
      total -= amount
    },
  }
}

/**
 * Waits until the owner has a free place, and then starts the work.
 *
 * @returns The promise of the work, in an object.
 */
export type BeginInShare = <T>(
  owner: string,
  work: () => Promise<T>,
) => Promise<{ done: Promise<T> }>

/**
 * Limits how much work of one kind is done at the same time. Waiting owners take turns, and the
 * work of each owner starts in the order in which it was requested.
 */
export function limitInShares(limits: Limits): BeginInShare {
  const shares = createShares(limits)
  // Owners in the order in which they are served.
  const waiting = new Map<string, (() => void)[]>()

  /** Starts the next piece of work after one has ended. */
  function beginNext(): void {
    for (const [owner, [begin, ...others]] of waiting) {
      if (!shares.take(owner)) continue
      waiting.delete(owner)
      if (others.length > 0) waiting.set(owner, others)
      begin?.()
      return
    }
  }

  return async (owner, work) => {
    if (!shares.take(owner))
      await new Promise<void>((resolve) => {
        waiting.set(owner, [...(waiting.get(owner) ?? []), resolve])
      })
    const done = work()
    const end = () => {
      shares.give(owner)
      beginNext()
    }
    done.then(end, end)
    return { done }
  }
}

/**
 * Shares a read among callers: the source is read at most once in `ttlMs`, however many callers
 * there are.
 *
 * @param ttlMs How long a value or a failure is reused.
 */
export function shareRead<T>(read: () => Promise<T>, ttlMs: number): () => Promise<T> {
  let last: { answer: Promise<T>; until: number } | undefined
  return () => {
    if (last !== undefined && performance.now() < last.until) return last.answer
    const answer = read()
    const shared = { answer, until: Number.POSITIVE_INFINITY }
    last = shared
    const settle = () => {
      shared.until = performance.now() + ttlMs
    }
    answer.then(settle, settle)
    return answer
  }
}

/** A sleep that can be interrupted. */
export type Nap = {
  /** Ends the current sleep, or the next one before it starts. */
  wake(): void
  /** @param maxMs Absent = sleep until `wake`. */
  sleep(maxMs?: number): Promise<void>
  /** Sleeps for this long without interruption. */
  pause(milliseconds: number): Promise<void>
}

export function createNap(): Nap {
  let awake = false
  let wakeUp = () => {}

  return {
    wake() {
      awake = true
      wakeUp()
    },
    async sleep(maxMs) {
      if (!awake)
        await new Promise<void>((resolve) => {
          const timer = maxMs === undefined ? undefined : setTimeout(resolve, maxMs)
          wakeUp = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      awake = false
    },
    async pause(milliseconds) {
      await sleep(milliseconds)
      awake = false
    },
  }
}
