/** Holds commits back while something else needs the database to stay as it is. */
export type Holds = {
  /** Lets nothing be committed until `work` has ended. Resolves then, also when `work` rejects. */
  hold(work: Promise<unknown>): Promise<void>
  /** Whether commits have to wait for `released`. */
  isHeld(): boolean
  released(): Promise<unknown>
}

export function createHolds(): Holds {
  const holds = new Set<Promise<void>>()
  return {
    async hold(work) {
      const ended = work.then(
        () => {},
        () => {},
      )
      holds.add(ended)
      await ended
      holds.delete(ended)
    },
    isHeld: () => holds.size > 0,
    released: () => Promise.all(holds),
  }
}
