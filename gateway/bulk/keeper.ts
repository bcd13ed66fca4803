/** Keeps items in groups. */
export type Keeper<T> = {
  /** Resolves when there is room for more. */
  add(item: T): Promise<void>
  /** Resolves when all are kept. */
  end(): Promise<void>
}

/** Keeps one group while the next one gathers. @param group Items in each. */
export function createKeeper<T>(
  keep: (items: readonly T[]) => Promise<void>,
  group: number,
): Keeper<T> {
  let waiting: T[] = []
  let keeping: Promise<void> = Promise.resolve()

  async function next(): Promise<void> {
    await keeping
    keeping = keep(waiting)
    // Reported at the next wait for it.
    keeping.catch(() => {})
    waiting = []
  }

  return {
    async add(item) {
      waiting.push(item)
      if (waiting.length >= group) await next()
    },
    async end() {
      await next()
      await keeping
    },
  }
}
