/** @returns A promise of the caller's turn. */
export type Pace = () => Promise<void>

/**
 * Lets only so many callers go on in one turn of the event loop: work that comes in a wave does not hold up the answers of chain and
 * disk that those before it wait for.
 *
 * @param most Callers in a turn.
 */
export function createPace(most: number): Pace {
  const waiting: (() => void)[] = []

  function next(): void {
    for (const goOn of waiting.splice(0, most)) goOn()
    if (waiting.length > 0) setImmediate(next)
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve)
      if (waiting.length === 1) setImmediate(next)
    })
}
