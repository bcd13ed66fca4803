import { Pool } from 'undici'
import { RpcResponseError } from '../../verifier/errors.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import { createProvider } from '../../verifier/readers/json-rpc.ts'

/** Several endpoints as one: each request goes to the first that answers. */
export type RpcPool = Eip1193Provider & { close(): Promise<void> }

/**
 * @param urls Endpoints of one chain, in order of preference; at least one.
 * @param timeout Milliseconds a request may take at one endpoint.
 */
export function createRpcPool(
  urls: readonly string[],
  timeout: number,
): RpcPool {
  const endpoints = urls.map((url) => createEndpoint(url, timeout))
  return {
    async request(args) {
      let failure: unknown
      for (const { provider } of endpoints) {
        try {
          return await provider.request(args)
        } catch (error) {
          // The node's own answer: another endpoint of the same chain would say the same.
          if (error instanceof RpcResponseError) throw error
          failure = error
        }
      }
      throw failure
    },
    async close() {
      await Promise.all(endpoints.map(({ pool }) => pool.destroy()))
    },
  }
}

function createEndpoint(url: string, timeout: number) {
  const { origin, pathname, search } = new URL(url)
  // undici's own pool: the global fetch is several times slower.
  const pool = new Pool(origin, {
    connections: 8,
    connect: { timeout },
    headersTimeout: timeout,
    bodyTimeout: timeout,
  })
  const provider = createProvider(async (body) => {
    const response = await pool.request({
      method: 'POST',
      path: pathname + search,
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeout),
    })
    const text = await response.body.text()
    if (response.statusCode === 429 || response.statusCode >= 500)
      throw new Error(`HTTP ${response.statusCode}`)
    return text
  })
  return { provider, pool }
}
