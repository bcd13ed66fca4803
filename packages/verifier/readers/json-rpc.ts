import { decodeUtf8, readAtMost } from '../../document/bytes.ts'
import { FormatError } from '../../document/errors.ts'
import { RpcResponseError, refusalOf } from '../errors.ts'
import type { Eip1193Provider } from '../ports.ts'
import { withTimeout } from '../signal.ts'
import { isLoopback } from './loopback.ts'
import { readObject } from './rpc-codec.ts'

/** The maximum bytes of a response. A verdict needs some hundred thousand at most. */
export const MAX_ANSWER = 32 * 1024 * 1024

/**
 * Sends a JSON-RPC request (JSON text) and returns the response (JSON text). Rejects without a
 * response.
 */
export type JsonRpcTransport = (body: string, signal?: AbortSignal) => Promise<string>

/**
 * @returns A provider over any transport. A response that is not JSON-RPC 2.0 rejects like a
 * missing one.
 *
 * @example
 * ```ts
 * const provider = createProvider(async (body) => {
 *   const { id } = JSON.parse(body) // send it anyhow
 *   return JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' })
 * })
 * await provider.request({ method: 'eth_chainId' }) // => '0x1'
 * ```
 */
export function createProvider(transport: JsonRpcTransport): Eip1193Provider {
  let id = 0
  return {
    async request({ method, params = [], signal }) {
      const text = await transport(
        JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
        signal,
      )
      return readAnswer(text)
    },
  }
}

/**
 * @returns The result, which may be null.
 * @throws {RpcResponseError} for the node's error.
 * @throws {FormatError} `rpc_malformed` for anything else.
 */
function readAnswer(text: string): unknown {
  const { result, error = null } = readObject(parseJson(text))
  if (error === null && result !== undefined) return result
  if (error === null || (result ?? null) !== null)
    throw malformed('the answer must have either result or error')
  const { code, message, data } = readObject(error)
  if (!Number.isSafeInteger(code) || typeof message !== 'string')
    throw malformed('the error in the answer has no code or message')
  throw new RpcResponseError(Number(code), message, data)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed('the answer is not JSON', cause)
  }
}

function malformed(message: string, cause?: unknown): FormatError {
  return new FormatError('rpc_malformed', message, { cause })
}

/**
 * @param timeout Milliseconds per request. @returns A provider over `fetch`, for Node and browsers.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * await provider.request({ method: 'eth_chainId' }) // => '0x7a69'
 * ```
 */
export function createFetchProvider(url: string, timeout = 5_000): Eip1193Provider {
  return createProvider(async (body, signal) => {
    const headers = {
      'content-type': 'application/json',
      // A node on the same machine would compress needlessly. Browsers ignore this header.
      ...(isLoopback(new URL(url).hostname) && { 'accept-encoding': 'identity' }),
    }
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body,
      signal: withTimeout(timeout, signal),
    })
    if (!response.ok && response.status !== 400) throw await refusalOf(response)
    return decodeUtf8(await readAtMost(response.body, MAX_ANSWER))
  })
}
