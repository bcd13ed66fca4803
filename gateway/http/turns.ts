/** Limits how much work of one kind is done at the same time. */
export type Turns = {
  /** Waits for a turn, and then begins the work. @returns Its promise, in an object. */
  begin<T>(work: () => Promise<T>): Promise<{ done: Promise<T> }>
}

/** @param count Of turns. They are given in the order in which they were asked for. */
export function createTurns(count: number): Turns {
  let free = count
  const waiting: (() => void)[] = []

  function end(): void {
    const next = waiting.shift()
    if (next) next()
    else free++
  }

  return {
    async begin(work) {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
      const done = work()
      done.then(end, end)
      return { done }
    },
  }
}
