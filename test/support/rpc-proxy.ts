import { bodyOf, serveHttp, type TestServer } from './http.ts'

type Rpc = { id: unknown; method: string; params: unknown[] }

/**
 * A JSON-RPC proxy in front of an endpoint. `refuse` drops calls of the methods that it names, and
 * delays a call for which it returns a promise; `fail` answers with an error, and `limit` with an
 * HTTP status and header fields; `change` rewrites the node's answer, also asynchronously.
 */
export type RpcProxy = TestServer & {
  refuse: (method: string, params: unknown[]) => boolean | Promise<boolean>
  /** @returns The error to answer instead of the node, if any. */
  fail: (method: string) => { code: number; message: string } | undefined
  limit: () => { status: number; headers?: Record<string, string> } | undefined
  change: (method: string, result: unknown, params: unknown[]) => unknown
  /** The methods requested since the start, in order, including the gateway's own reads. */
  readonly asked: string[]
  /** The same requests, with their parameters. */
  readonly requests: { method: string; params: unknown }[]
}

export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const asked: string[] = []
  const requests: RpcProxy['requests'] = []
  const behaviour: Pick<RpcProxy, 'refuse' | 'fail' | 'limit' | 'change'> = {
    refuse: () => false,
    fail: () => undefined,
    limit: () => undefined,
    change: (_, result) => result,
  }
  const server = await serveHttp(async (request, response) => {
    const body = await bodyOf(request)
    const { id, method, params } = JSON.parse(body) as Rpc
    asked.push(method)
    requests.push({ method, params })
    if (await behaviour.refuse(method, params)) {
      response.destroy()
      return
    }
    const refusal = behaviour.limit()
    if (refusal) {
      response.writeHead(refusal.status, refusal.headers).end()
      return
    }
    const error = behaviour.fail(method)
    if (error) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      return
    }
    const headers = { 'content-type': 'application/json' }
    // A node that stops meanwhile answers nothing.
    const answered = await fetch(target, { method: 'POST', headers, body })
      .then((read) => read.json() as Promise<{ result?: unknown }>)
      .catch(() => undefined)
    if (!answered) {
      response.destroy()
      return
    }
    const { result, ...answer } = answered
    if ('result' in answered)
      Object.assign(answer, { result: await behaviour.change(method, result, params) })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  return Object.assign(behaviour, { ...server, asked, requests })
}

/**
 * Makes the node answer 429 to all calls of a second after this many. @returns Counts the refusals.
 */
export function limitCalls(proxy: RpcProxy, aSecond: number): { refused: number } {
  const counts = { refused: 0 }
  let window = { second: 0, calls: 0 }
  proxy.limit = () => {
    const second = Math.floor(performance.now() / 1000)
    if (window.second !== second) window = { second, calls: 0 }
    window.calls++
    if (window.calls <= aSecond) return undefined
    counts.refused++
    return { status: 429 }
  }
  return counts
}
