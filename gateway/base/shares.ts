/** How much all owners may have together, and each of them. */
export type Limits = { all: number; each: number }

/** Divides places, or bytes, between owners. None can take all if `each` is less than `all`. */
export type Shares = {
  /** @returns Whether there was enough; otherwise nothing is taken. */
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

/** Limits how much work of one kind is done at the same time. */
export type Turns = {
  /** Waits for a turn, and then begins the work. @returns Its promise, in an object. */
  begin<T>(owner: string, work: () => Promise<T>): Promise<{ done: Promise<T> }>
}

/** Owners that wait take turns; each gets its own in the order in which it asked for them. */
export function createTurns(limits: Limits): Turns {
  const shares = createShares(limits)
  // In the order in which they are served.
  const waiting = new Map<string, (() => void)[]>()

  /** One turn has ended, so that one can begin. */
  function beginNext(): void {
    for (const [owner, [begin, ...others]] of waiting) {
      if (!shares.take(owner)) continue
      waiting.delete(owner)
      if (others.length > 0) waiting.set(owner, others)
      begin?.()
      return
    }
  }

  return {
    async begin(owner, work) {
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
    },
  }
}
