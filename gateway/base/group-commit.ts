type Job<T> = {
  item: T
  resolve: () => void
  reject: (error: unknown) => void
}

/** Runs one piece of work after another. */
export type InTurn = (work: () => Promise<void>) => void

/** @returns A turn that several group commits can share. Their work must not reject. */
export function createTurn(): InTurn {
  let turn: Promise<void> = Promise.resolve()
  return (work) => {
    turn = turn.then(work)
  }
}

/**
 * Group commit: while one group is being worked on, items gather; the next takes them all.
 *
 * @param maxItems In one group.
 * @param work Rejects when none of the group's items is done. Then the waiting items are rejected
 * as well, for the same reason, rather than each after its own time-out.
 * @returns A function that resolves when its item's group is done.
 */
export function createGroupCommit<T>(
  inTurn: InTurn,
  maxItems: number,
  work: (items: T[]) => Promise<void>,
): (item: T) => Promise<void> {
  const waiting: Job<T>[] = []

  async function commit(): Promise<void> {
    const group = waiting.splice(0, maxItems)
    if (group.length === 0) return
    try {
      await work(group.map(({ item }) => item))
      for (const { resolve } of group) resolve()
      if (waiting.length > 0) inTurn(commit)
    } catch (error) {
      for (const { reject } of [...group, ...waiting.splice(0)]) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (waiting.length === 1) inTurn(commit)
    })
}
