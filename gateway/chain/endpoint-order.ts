/** How long an order is good for. */
const ORDER_TTL_MS = 2_000
/** How many blocks an active endpoint may be behind: on fast chains nodes always are. */
const MAX_LAG_BLOCKS = 2
/** Faster than any chain: a head that grew by more is ignored. */
const MAX_GROWTH = { blocks: 1_000, aSecond: 100 }

/**
 * Endpoints of one chain in order of preference: those at the head before those that are stuck or
 * do not answer.
 */
export type EndpointOrder<T> = {
  /** Never waits: the order is that of the last poll, and another may begin. */
  current(): readonly T[]
}

/**
 * @param endpoints In order of preference, which holds between those at the head.
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
  let nextAt = 0
  let isPolling = false

  /**
   * An endpoint that invents its head must not come first: its head jumps; and at the first poll,
   * where others agree on another, it is alone.
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
    // While it stands, one that is far ahead becomes possible with time.
    if (newest > (known?.head ?? -1)) known = { head: newest, at: performance.now() }
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
    nextAt = performance.now() + ORDER_TTL_MS
  }

  return {
    current() {
      const due = endpoints.length > 1 && performance.now() >= nextAt
      if (due && !isPolling) void poll()
      return order
    },
  }
}
