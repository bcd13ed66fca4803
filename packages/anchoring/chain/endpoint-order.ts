/** How long an order is reused: half of the time between blocks, within these limits. */
const ORDER_TTL_MS = { min: 2_000, max: 15_000 }
/** The blocks that an active endpoint may be behind, because on fast chains nodes always are. */
const MAX_LAG_BLOCKS = 2
/** Faster growth than that of any chain. A head that grew by more is ignored. */
const MAX_GROWTH = { blocks: 1_000, aSecond: 100 }

/**
 * Endpoints of one chain in order of preference. Those at the head come before those that are stuck
 * or do not answer.
 */
export type EndpointOrder<T> = {
  /** Returns at once with the order of the last poll, and may start another poll. */
  current(): readonly T[]
}

/**
 * @param endpoints The endpoints in order of preference. The order applies to those at the head.
 * @param readHead Reads the number of an endpoint's newest block.
 */
export function createEndpointOrder<T>(
  endpoints: readonly T[],
  readHead: (endpoint: T) => Promise<number>,
): EndpointOrder<T> {
  let order = endpoints
  let last: readonly number[] = []
  /** The newest plausible head, and when it was first seen. */
  let known: { head: number; at: number } | undefined
  /** The milliseconds from one block to the next. */
  let interval = 0
  let nextAt = 0
  let isPolling = false

  /**
   * An endpoint that invents its head must not come first. Its head jumps, or at the first poll it
   * is the only one with it while others agree.
   */
  function newestOf(heads: readonly number[]): number {
    const answered = heads.filter((head) => head >= 0)
    if (known === undefined) {
      const agreed = answered.filter((head, i) =>
        answered.some((other, j) => j !== i && Math.abs(head - other) <= MAX_LAG_BLOCKS),
      )
      return Math.max(-1, ...(agreed.length > 0 ? agreed : answered))
    }
    const seconds = (performance.now() - known.at) / 1000
    const maxHead = known.head + MAX_GROWTH.blocks + MAX_GROWTH.aSecond * seconds
    const possible = answered.filter((head) => head <= maxHead)
    return Math.max(-1, ...(possible.length > 0 ? possible : answered))
  }

  async function poll(): Promise<void> {
    isPolling = true
    const heads = await Promise.all(endpoints.map((endpoint) => readHead(endpoint).catch(() => -1)))
    const newest = newestOf(heads)
    // While the known head stands still, a head far ahead of it becomes plausible with time.
    if (newest > (known?.head ?? -1)) {
      const at = performance.now()
      if (known) interval = (at - known.at) / (newest - known.head)
      known = { head: newest, at }
    }
    const isAtHead = (_: T, i: number) => {
      const head = heads[i] ?? -1
      const stands = head < newest && head === last[i]
      const invented = head > newest + MAX_GROWTH.blocks
      return !stands && !invented && head >= Math.max(0, newest - MAX_LAG_BLOCKS)
    }
    order = [
      ...endpoints.filter(isAtHead),
      ...endpoints.filter((endpoint, i) => !isAtHead(endpoint, i)),
    ]
    last = heads
    isPolling = false
    nextAt =
      performance.now() + Math.min(Math.max(interval / 2, ORDER_TTL_MS.min), ORDER_TTL_MS.max)
  }

  return {
    current() {
      const due = endpoints.length > 1 && performance.now() >= nextAt
      if (due && !isPolling) void poll()
      return order
    },
  }
}
