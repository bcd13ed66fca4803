import { Pool } from 'undici'
import { decodeUtf8 } from '#document/bytes.ts'
import { RpcResponseError } from '#verifier/errors.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createProvider, MAX_ANSWER } from '#verifier/readers/json-rpc.ts'
import { readQuantity } from '#verifier/readers/rpc-codec.ts'
import { withTimeout } from '#verifier/signal.ts'
import { createEndpointOrder, type EndpointOrder } from './endpoint-order.ts'

/**
 * Several endpoints that act as one. A request goes to the first endpoint at the head that answers.
 * A transaction goes to all endpoints, and counts as sent when one has accepted it. A lookup of a
 * transaction also goes to all.
 */
export type RpcPool = Eip1193Provider & {
  /**
   * @returns The same endpoints with separate connections, so that slow requests there do not delay
   * those here. They are closed with the pool.
   */
  apart(): Eip1193Provider
  close(): Promise<void>
}

type Args = Parameters<Eip1193Provider['request']>[0]

/**
 * @param urls One or more endpoints of one chain, in order of preference.
 * @param timeout The milliseconds that a request may take at one endpoint.
 */
export function createRpcPool(urls: readonly string[], timeout: number): RpcPool {
  const polled = urls.map((url) => createEndpoint(url, timeout))
  const order = createEndpointOrder([...urls.keys()], async (i) =>
    readQuantity(await polled[i]?.provider.request({ method: HEAD })),
  )
  const pools: { close(): Promise<void> }[] = []
  const apart = () => {
    const pool = createPool(
      urls.map((url) => createEndpoint(url, timeout)),
      order,
    )
    pools.push(pool)
    return pool
  }
  return {
    ...apart(),
    apart,
    async close() {
      await Promise.all([
        ...polled.map(({ pool }) => pool.destroy()),
        ...pools.map((pool) => pool.close()),
      ])
    },
  }
}

type Endpoint = ReturnType<typeof createEndpoint>

/** @param order The order of the endpoints' indexes, which pools share. */
function createPool(
  endpoints: readonly Endpoint[],
  order: EndpointOrder<number>,
): Eip1193Provider & { close(): Promise<void> } {
  async function firstAnswer(args: Args): Promise<unknown> {
    let failure: unknown
    for (const i of order.current()) {
      try {
        return await endpoints[i]?.provider.request(args)
      } catch (error) {
        if (isAnswer(error) || args.signal?.aborted) throw error
        failure = error
      }
    }
    throw failure
  }

  async function broadcast(args: Args): Promise<unknown> {
    try {
      return await Promise.any(endpoints.map(({ provider }) => provider.request(args)))
    } catch (error) {
      const { errors } = error as AggregateError
      throw errors.find(isAnswer) ?? errors[0]
    }
  }

  /** Not every node has every pending transaction. */
  async function found(args: Args): Promise<unknown> {
    const answers = endpoints.map(async ({ provider }) => {
      const answer = await provider.request(args)
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

function createEndpoint(url: string, timeout: number) {
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
    if (response.statusCode === 429 || response.statusCode >= 500)
      throw new Error(`HTTP ${response.statusCode}`)
    return decodeUtf8(bytes)
  })
  return { provider, pool }
}
