/** Keeps items in groups. */
export type Keeper<T> = {
  /** Resolves when there is room for more. */
  add(item: T): Promise<void>
  /** Resolves when all are kept. */
  end(): Promise<void>
}

/**
 * @param group Items in each group.
 * @param ahead How many groups are being kept while the next one gathers.
 */
export function createKeeper<T>(
  keep: (items: readonly T[]) => Promise<void>,
  group: number,
  ahead: number,
): Keeper<T> {
  let waiting: T[] = []
  const keeping: Promise<void>[] = []

  async function next(): Promise<void> {
    if (keeping.length >= ahead) await keeping.shift()
    const kept = keep(waiting)
    // Reported at the next wait for it.
    kept.catch(() => {})
    keeping.push(kept)
    waiting = []
  }

  return {
    async add(item) {
      waiting.push(item)
      if (waiting.length >= group) await next()
    },
    async end() {
      if (waiting.length > 0) await next()
      await Promise.all(keeping.splice(0))
    },
  }
}
