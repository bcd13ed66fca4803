import { MAX_TOGETHER } from '#batches/duration.ts'

/**
 * The rows of all runs that are under way at a time. With regular blocks, they share one with all
 * others. Where a block is made for each transaction, more rows make it later, and so the documents
 * of others; `quiet` = nobody else has issued for a while.
 */
export const MAX_ROWS = { regular: MAX_TOGETHER, quiet: 200, busy: 16 } as const
/** The actions that may wait for a transaction when a row begins. */
const MAX_QUEUED = 400
const LOOK_INTERVAL_MS = 50

/** Places for the rows of all runs, which tenants take in turns. */
export type Pool = {
  /** Waits for a place. @returns A function that frees it. */
  enter(tenant: string): Promise<() => void>
}

export type PoolDeps = {
  /** What the chain and other requests leave to runs. */
  room: () => keyof typeof MAX_ROWS
  /** The number of actions that wait for a transaction, whoever they belong to. */
  queued: () => number
}

/** @param isStopped Whether all callers go on, because they are to end. */
export function createPool({ room, queued }: PoolDeps, isStopped: () => boolean): Pool {
  // Tenants in the order in which they are served.
  const waiting = new Map<string, (() => void)[]>()
  let underWay = 0
  let willLook = false

  const hasPlace = () => underWay < MAX_ROWS[room()] && queued() < MAX_QUEUED

  function beginNext(): void {
    for (const [tenant, [begin, ...others]] of waiting) {
      if (!hasPlace() && !isStopped()) break
      // The tenant comes again after all others.
      waiting.delete(tenant)
      if (others.length > 0) waiting.set(tenant, others)
      underWay++
      begin?.()
    }
    if (waiting.size === 0 || willLook) return
    willLook = true
    setTimeout(look, LOOK_INTERVAL_MS)
  }

  function look(): void {
    willLook = false
    beginNext()
  }

  return {
    async enter(tenant) {
      await new Promise<void>((resolve) => {
        waiting.set(tenant, [...(waiting.get(tenant) ?? []), resolve])
        beginNext()
      })
      return () => {
        underWay--
        beginNext()
      }
    },
  }
}
