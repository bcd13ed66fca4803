/** @returns A promise of the caller's turn. */
export type Pace = () => Promise<void>

/**
 * Limits how many callers continue in one turn of the event loop, so that a wave of requests does
 * not hold up answers of chain and disk that earlier requests wait for.
 *
 * @param max Callers in one turn.
 */
export function createPace(max: number): Pace {
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
