import { Pool } from 'undici'
import { decodeUtf8 } from '#document/bytes.ts'
import { HttpStatusError, RpcResponseError, readRetryAfter } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createProvider, MAX_ANSWER } from '#verifier/readers/json-rpc.ts'
import { isAnswer } from '#verifier/readers/node-answer.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { withTimeout } from '#verifier/signal.ts'
import { createEndpointOrder, type EndpointOrder } from './endpoint-order.ts'
import { createFailingCalls, type FailingCalls } from './failing-calls.ts'
import { createPace, isRefusal, type Pace } from './pace.ts'

/**
 * Several endpoints that act as one. A request goes to the first endpoint at the head that answers.
 * An error of the node itself is no answer: the next endpoint is asked, and if it answers, the
 * first one comes last until it has answered such a call again. A transaction goes to all
 * endpoints, and counts as sent when one has accepted it. A lookup of a transaction also goes to
 * all. While an endpoint refuses requests because they are too frequent, they go to others, or
 * wait.
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
  const conditions = urls.map((url) => ({
    url,
    pace: createPace(),
    failing: createFailingCalls(),
  }))
  const open = () => conditions.map((condition) => createEndpoint(condition, timeout, sent))
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
    const { method } = args
    const left = [...some]
    const failures: { endpoint: Endpoint; error: unknown }[] = []
    const answered = ({ failing }: Endpoint) => {
      failing.answered(method)
      for (const { endpoint, error } of failures)
        if (!isRefusal(error)) endpoint.failing.failed(method)
    }
    for (;;) {
      const endpoint = firstFree(left)
      try {
        const result = await endpoint.request(args, until)
        answered(endpoint)
        return result
      } catch (error) {
        if (isAnswer(method, error)) answered(endpoint)
        if (isAnswer(method, error) || args.signal?.aborted) throw error
        if (isRefusal(error) && endpoint.pace.next() <= until) continue
        left.splice(left.indexOf(endpoint), 1)
        failures.push({ endpoint, error })
        if (left.length === 0) throw failures[0]?.error
      }
    }
  }

  function firstAnswer(args: Args): Promise<unknown> {
    const { method } = args
    const all = order.current().flatMap((i) => endpoints[i] ?? [])
    const failing = all.filter((endpoint) => endpoint.failing.comesLast(method))
    if (failing.length === 0 || failing.length === all.length) return ask(all, args)
    for (const endpoint of failing) if (endpoint.failing.takeRetry(method)) tryAgain(endpoint, args)
    return ask([...all.filter((endpoint) => !failing.includes(endpoint)), ...failing], args)
  }

  /** Nobody waits for this answer. */
  function tryAgain({ request, failing }: Endpoint, { method, params = [] }: Args): void {
    request({ method, params }, performance.now() + patience).then(
      () => failing.answered(method),
      (error) => isAnswer(method, error) && failing.answered(method),
    )
  }

  async function broadcast(args: Args): Promise<unknown> {
    try {
      return await Promise.any(endpoints.map((endpoint) => ask([endpoint], args)))
    } catch (error) {
      throw reasonIn(error, args)
    }
  }

  /** Not every node has every pending transaction. */
  async function found(args: Args): Promise<unknown> {
    const answers = endpoints.map(async (endpoint) => {
      const answer = await ask([endpoint], args)
      if (answer === null) throw NOT_FOUND
      return answer
    })
    return Promise.any(answers).catch((error) => {
      if (error.errors.includes(NOT_FOUND)) return null
      throw reasonIn(error, args)
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

/** @returns An answer if there is one; an error of the node only if every node gave one. */
function reasonIn(error: unknown, { method }: Args): unknown {
  const { errors } = error as AggregateError
  return (
    errors.find((one) => isAnswer(method, one)) ??
    errors.find((one) => !(one instanceof RpcResponseError)) ??
    errors[0]
  )
}

/** @returns The first endpoint that may be asked now, or the one that may be asked first. */
function firstFree(endpoints: readonly Endpoint[]): Endpoint {
  const now = performance.now()
  const waitOf = ({ pace }: Endpoint) => Math.max(0, pace.next() - now)
  return endpoints.reduce((best, one) => (waitOf(one) < waitOf(best) ? one : best))
}

/** What is known about an endpoint, whoever asks it. */
type Condition = { url: string; pace: Pace; failing: FailingCalls }

/** @param sent Counts the requests by method. */
function createEndpoint(
  { url, pace, failing }: Condition,
  timeout: number,
  sent: Map<string, number>,
) {
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
    failing,
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
