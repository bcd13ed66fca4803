import { RpcResponseError } from '../errors.ts'
import type { Eip1193Provider } from '../ports.ts'
import { withTimeout } from '../signal.ts'
import { readAtMost } from './body.ts'

/** Bytes of the longest answer that is read. A verdict needs some hundred thousand at most. */
const MAX_ANSWER = 32 * 1024 * 1024

/** Sends the text of a JSON-RPC request and gives the text of the answer. Rejects when there is none. */
export type JsonRpcTransport = (
  body: string,
  signal?: AbortSignal,
) => Promise<string>

/** @returns A provider over any transport. Answers that are not JSON-RPC 2.0 reject as no answer. */
export function createProvider(transport: JsonRpcTransport): Eip1193Provider {
  let id = 0
  return {
    async request({ method, params = [], signal }) {
      const text = await transport(
        JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
        signal,
      )
      const answer = JSON.parse(text)
      if (answer?.error)
        throw new RpcResponseError(
          Number(answer.error.code),
          String(answer.error.message),
          answer.error.data,
        )
      if (answer?.result === undefined)
        throw new TypeError('not a JSON-RPC answer')
      return answer.result
    },
  }
}

/** @param timeout Milliseconds a request may take. @returns A provider over `fetch`, for Node and browsers. */
export function createFetchProvider(
  url: string,
  timeout = 5_000,
): Eip1193Provider {
  return createProvider(async (body, signal) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: withTimeout(timeout, signal),
    })
    if (!response.ok && response.status !== 400)
      throw new Error(`HTTP ${response.status}`)
    return new TextDecoder().decode(await readAtMost(response, MAX_ANSWER))
  })
}
