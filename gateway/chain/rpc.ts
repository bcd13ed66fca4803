import { Pool } from 'undici'
import { decodeUtf8 } from '#document/bytes.ts'
import { HttpStatusError, RpcResponseError, readRetryAfter } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createProvider, MAX_ANSWER } from '#verifier/readers/json-rpc.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { withTimeout } from '#verifier/signal.ts'
import { createEndpointOrder, type EndpointOrder } from './endpoint-order.ts'
import { createPace, isRefusal, type Pace } from './pace.ts'

/**
 * Several endpoints that act as one. A request goes to the first endpoint at the head that answers.
 * A transaction goes to all endpoints, and counts as sent when one has accepted it. A lookup of a
 * transaction also goes to all. While an endpoint refuses requests because they are too frequent,
 * they go to others, or wait.
 */
export type RpcPool = Eip1193Provider & {
  /**
   * @param patience The milliseconds that a request waits for endpoints that refuse requests.
   * @returns The same endpoints with separate connections, so that slow requests there do not delay
   * those here. They are closed with the pool.
   */
  apart(patience: number): Eip1193Provider
  /** The number of requests that were sent, by method. */
  readonly sent: ReadonlyMap<string, number>
  close(): Promise<void>
}

type Args = Parameters<Eip1193Provider['request']>[0]

/**
 * @param urls One or more endpoints of one chain, in order of preference.
 * @param timeout The milliseconds that a request may take at one endpoint, and for which it waits
 * for endpoints that refuse requests.
 */
export function createRpcPool(urls: readonly string[], timeout: number): RpcPool {
  const sent = new Map<string, number>()
  const paces = urls.map(createPace)
  const open = () =>
    urls.map((url, i) => createEndpoint(url, timeout, paces[i] ?? createPace(), sent))
  const polled = open()
  const order = createEndpointOrder([...urls.keys()], async (i) =>
    readQuantity(await polled[i]?.request({ method: HEAD }, performance.now() + timeout)),
  )
  const pools: { close(): Promise<void> }[] = []
  const apart = (patience: number) => {
    const pool = createPool(open(), order, patience)
    pools.push(pool)
    return pool
  }
  return {
    ...apart(timeout),
    apart,
    sent,
    async close() {
      await Promise.all([
        ...polled.map(({ pool }) => pool.destroy()),
        ...pools.map((pool) => pool.close()),
      ])
    },
  }
}

type Endpoint = ReturnType<typeof createEndpoint>

/**
 * @param order The order of the endpoints' indexes, which pools share.
 * @param patience The milliseconds that a request waits for endpoints that refuse requests.
 */
function createPool(
  endpoints: readonly Endpoint[],
  order: EndpointOrder<number>,
  patience: number,
): Eip1193Provider & { close(): Promise<void> } {
  /** Asks the first of these endpoints that is free, and the others when it does not answer. */
  async function ask(some: readonly Endpoint[], args: Args): Promise<unknown> {
    const until = performance.now() + patience
    const left = [...some]
    for (;;) {
      const endpoint = firstFree(left)
      try {
        return await endpoint.request(args, until)
      } catch (error) {
        if (isAnswer(error) || args.signal?.aborted) throw error
        if (isRefusal(error) && endpoint.pace.next() <= until) continue
        left.splice(left.indexOf(endpoint), 1)
        if (left.length === 0) throw error
      }
    }
  }

  const firstAnswer = (args: Args) =>
    ask(
      order.current().flatMap((i) => endpoints[i] ?? []),
      args,
    )

  async function broadcast(args: Args): Promise<unknown> {
    try {
      return await Promise.any(endpoints.map((endpoint) => ask([endpoint], args)))
    } catch (error) {
      const { errors } = error as AggregateError
      throw errors.find(isAnswer) ?? errors[0]
    }
  }

  /** Not every node has every pending transaction. */
  async function found(args: Args): Promise<unknown> {
    const answers = endpoints.map(async (endpoint) => {
      const answer = await ask([endpoint], args)
      if (answer === null) throw NOT_FOUND
      return answer
    })
    return Promise.any(answers).catch(({ errors }: AggregateError) => {
      if (errors.includes(NOT_FOUND)) return null
      throw errors.find(isAnswer) ?? errors[0]
    })
  }

  return {
    request(args) {
      switch (args.method) {
        case 'eth_sendRawTransaction':
          return broadcast(args)
        case 'eth_getTransactionByHash':
          return found(args)
        default:
          return firstAnswer(args)
      }
    },
    async close() {
      await Promise.all(endpoints.map(({ pool }) => pool.destroy()))
    },
  }
}

/**
 * The patience of pools, in milliseconds: those who issue wait longer than other requests, and so
 * find a turn when these fill the queue; everybody else's requests find one last.
 */
export const PATIENCE_MS = { issuing: 20_000, public: 1_000 }

const HEAD = 'eth_blockNumber'
const NOT_FOUND = new Error('not found')

/** The EIP-1474 error for an exceeded limit. Its cause is the endpoint, not the request. */
const LIMIT_EXCEEDED = -32005

/**
 * @returns Whether an error is the node's own answer, which other endpoints of the chain would also
 * give.
 */
function isAnswer(error: unknown): boolean {
  return error instanceof RpcResponseError && error.code !== LIMIT_EXCEEDED
}

/** @returns The first endpoint that may be asked now, or the one that may be asked first. */
function firstFree(endpoints: readonly Endpoint[]): Endpoint {
  const now = performance.now()
  const waitOf = ({ pace }: Endpoint) => Math.max(0, pace.next() - now)
  return endpoints.reduce((best, one) => (waitOf(one) < waitOf(best) ? one : best))
}

/** @param sent Counts the requests by method. */
function createEndpoint(url: string, timeout: number, pace: Pace, sent: Map<string, number>) {
  const { origin, pathname, search, username, password } = new URL(url)
  const credentials = decodeURIComponent(`${username}:${password}`)
  const headers = {
    'content-type': 'application/json',
    ...(username && {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    }),
  }
  // undici's own pool is used, because the global fetch is several times slower.
  const pool = new Pool(origin, {
    connections: 8,
    connect: { timeout },
    headersTimeout: timeout,
    bodyTimeout: timeout,
    maxResponseSize: MAX_ANSWER,
  })
  const provider = createProvider(async (body, signal) => {
    const response = await pool.request({
      method: 'POST',
      path: pathname + search,
      headers,
      body,
      signal: withTimeout(timeout, signal),
    })
    const bytes = await response.body.bytes()
    const { statusCode, headers: answered } = response
    if (statusCode === 429 || statusCode >= 500)
      throw new HttpStatusError(statusCode, readRetryAfter(String(answered['retry-after'] ?? '')))
    return decodeUtf8(bytes)
  })
  return {
    pool,
    pace,
    /** @param until See `Pace`. */
    request: (args: Args, until: number) =>
      pace.run(
        () => {
          sent.set(args.method, (sent.get(args.method) ?? 0) + 1)
          return provider.request(args)
        },
        until,
        args.signal,
      ),
  }
}
