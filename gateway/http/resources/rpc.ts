import type { Context } from 'hono'
import * as v from 'valibot'
import { RpcResponseError } from '#verifier/errors.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { isPrunedHistory, PRUNED_HISTORY } from '#verifier/readers/logs.ts'
import type { RateLimits } from '../core/env.ts'
import { operation, resource } from '../core/operation.ts'
import { chargeCost } from '../core/rate-limits.ts'
import { readBodyAtMost } from '../core/request.ts'
import { createRpcPolicy } from './rpc-policy.ts'

const MAX_BODY = 32 * 1024
/** The maximum number of requests in one JSON-RPC batch. */
const MAX_REQUESTS = 10
/**
 * The maximum number of requests in progress at a time. Issuing uses the same node over its own
 * connections.
 */
const MAX_AT_A_TIME = 64

/** Codes of JSON-RPC 2.0 §5.1 and EIP-1474. */
const CODES = {
  parse: [-32700, 'the body is not JSON'],
  request: [-32600, 'invalid JSON-RPC 2.0 request'],
  count: [-32600, `a JSON-RPC batch must have 1 to ${MAX_REQUESTS} requests`],
  large: [-32600, `the body must have at most ${MAX_BODY} bytes`],
  method: [-32601, 'this method is not supported'],
  params: [-32602, 'these params are not supported'],
  busy: [-32005, 'too many requests; try again'],
  unavailable: [-32002, 'the chain cannot be read at the moment'],
  // The error of EIP-4444 replaces the words of each kind of node, which are not passed on.
  pruned: [PRUNED_HISTORY, 'pruned history unavailable'],
} as const
type Failure = keyof typeof CODES
type RpcResponse = {
  jsonrpc: '2.0'
  id: string | number | null
  result?: unknown
  error?: object
}

const STATUS: Partial<Record<Failure, 400 | 413 | 429 | 503>> = {
  parse: 400,
  request: 400,
  count: 400,
  large: 413,
  busy: 429,
  unavailable: 503,
}

const rpcId = v.nullable(v.union([v.string(), v.number()]))
export const rpcRequest = v.object({
  jsonrpc: v.literal('2.0'),
  id: v.exactOptional(rpcId),
  method: v.string(),
  params: v.exactOptional(v.array(v.unknown())),
})
export const rpcResponse = v.object({
  jsonrpc: v.literal('2.0'),
  id: rpcId,
  result: v.exactOptional(v.unknown()),
  error: v.exactOptional(
    v.object({
      code: v.pipe(v.number(), v.integer()),
      message: v.string(),
      data: v.exactOptional(v.string()),
    }),
  ),
})
const RPC_CONTENT = { 'application/json': rpcResponse }

const RPC = operation({
  operationId: 'readChain',
  route: 'POST /rpc',
  tag: 'Public',
  summary: 'Read this registry over JSON-RPC',
  description: `The verify page uses this if no other node is configured. Errors are those of JSON-RPC 2.0, without the envelope. An array of 1 to ${MAX_REQUESTS} requests is answered by an array.`,
  scope: 'public',
  anyOrigin: true,
  body: {
    mediaType: 'application/json',
    schema: rpcRequest,
    example: { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] },
  },
  responses: {
    200: {
      description: 'The results, or errors of the node, the method or the params.',
      content: RPC_CONTENT,
    },
    400: { description: 'The body is not a JSON-RPC request or batch.', content: RPC_CONTENT },
    413: { description: `The body has more than ${MAX_BODY} bytes.`, content: RPC_CONTENT },
    429: { description: 'The node is answering too many requests.', content: RPC_CONTENT },
    503: { description: 'The chain cannot be read at the moment.', content: RPC_CONTENT },
  },
})

/**
 * Serves reads of this registry over JSON-RPC. A reader who uses this trusts the service about the
 * chain, and the page says so.
 */
export const rpcRoutes = resource(
  [RPC],
  (serve, { rpc, addresses }) => {
    const permit = createRpcPolicy(parseRegistry(addresses.registry).address)
    let waiting = 0

    /** @returns The response, and the failure that decides the HTTP status. */
    async function answer(
      request: unknown,
      { refused }: RateLimits,
    ): Promise<[RpcResponse, Failure?]> {
      const { jsonrpc, id = null, method, params = [] } = isObject(request) ? request : {}
      const wellFormed =
        jsonrpc === '2.0' &&
        typeof method === 'string' &&
        (id === null || typeof id === 'string' || typeof id === 'number')
      if (!wellFormed) return [failed(null, 'request'), 'request']
      const permitted = permit(method, params)
      if (permitted === 'unknown') return [failed(id, 'method')]
      if (permitted === undefined) return [failed(id, 'params')]
      if (waiting >= MAX_AT_A_TIME) {
        refused('rpc')
        return [failed(id, 'busy'), 'busy']
      }
      waiting++
      try {
        return [{ jsonrpc: '2.0', id, result: await rpc.request(permitted) }]
      } catch (error) {
        if (!(error instanceof RpcResponseError)) return [failed(id, 'unavailable'), 'unavailable']
        const isPruned = method === 'eth_getLogs' && isPrunedHistory(error)
        if (isPruned) return [failed(id, 'pruned')]
        return [{ jsonrpc: '2.0', id, error: withoutAddresses(error) }]
      } finally {
        waiting--
      }
    }

    serve(RPC, async (c) => {
      const refuse = (failure: Failure) => respond(c, failed(null, failure), failure)
      const body = await readBodyAtMost(c, MAX_BODY).catch(() => undefined)
      if (body === undefined) return refuse('large')
      const request = parse(body)
      if (request === undefined) return refuse('parse')
      const limits = c.get('rateLimits')
      if (!Array.isArray(request)) return respond(c, ...(await answer(request, limits)))
      if (request.length === 0 || request.length > MAX_REQUESTS) return refuse('count')
      await chargeCost(c, request.length)
      const answers = await Promise.all(request.map((one) => answer(one, limits)))
      return respond(
        c,
        answers.map(([one]) => one),
      )
    })
  },
  { JsonRpcRequest: rpcRequest, JsonRpcResponse: rpcResponse },
)

function respond(c: Context, body: RpcResponse | RpcResponse[], failure?: Failure): Response {
  const status = (failure && STATUS[failure]) ?? 200
  return c.json(body, status, {
    ...(status >= 429 && { 'Retry-After': '2' }),
    ...(status === 413 && { Connection: 'close' }),
  })
}

function failed(id: RpcResponse['id'], failure: Failure): RpcResponse {
  const [code, message] = CODES[failure]
  return { jsonrpc: '2.0', id, error: { code, message } }
}

/**
 * A node's error message can contain its address with a key, so only codes and the data of calls
 * are passed on.
 */
function withoutAddresses({ code, data }: RpcResponseError): object {
  return {
    code: Number.isSafeInteger(code) ? code : -32000,
    message: 'the node answered with an error',
    ...(typeof data === 'string' && /^0x[0-9a-f]*$/i.test(data) && { data }),
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

// biome-ignore lint/suspicious/noExplicitAny: every field is checked before it is used.
function isObject(value: unknown): value is Record<string, any> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
