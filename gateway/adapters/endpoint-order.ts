/** How long an order is good for. */
const ORDER_TTL_MS = 2_000
/** How many blocks an endpoint that moves may be behind: on fast chains nodes always are. */
const MAX_LAG_BLOCKS = 2

/** Endpoints of one chain in order of preference: those at the head before those that stand still or do not answer. */
export type EndpointOrder<T> = {
  /** Never waits: the order is that of the last look, and another look may begin. */
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
  let lookAt = 0
  let looking = false

  async function look(): Promise<void> {
    looking = true
    const heads = await Promise.all(endpoints.map((endpoint) => readHead(endpoint).catch(() => -1)))
    const newest = Math.max(...heads)
    const isAtHead = (_: T, i: number) => {
      const head = heads[i] ?? -1
      const stands = head < newest && head === last[i]
      return !stands && head >= Math.max(0, newest - MAX_LAG_BLOCKS)
    }
    order = [
      ...endpoints.filter(isAtHead),
      ...endpoints.filter((endpoint, i) => !isAtHead(endpoint, i)),
    ]
    last = heads
    looking = false
    lookAt = performance.now() + ORDER_TTL_MS
  }

  return {
    current() {
      const due = endpoints.length > 1 && performance.now() >= lookAt
      if (due && !looking) void look()
      return order
    },
  }
}
