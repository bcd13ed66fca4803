import { FormatError } from '../../document/errors.ts'
import { ChainError, RpcResponseError } from '../errors.ts'
import type { Eip1193Provider } from '../ports.ts'

export type Request = (method: string, params: unknown[], signal?: AbortSignal) => Promise<unknown>

/**
 * @returns Requests that reject with a `ChainError`, or with the signal's reason once it aborts.
 */
export function createRequest(provider: Eip1193Provider): Request {
  return async (method, params, signal) => {
    try {
      return await provider.request({
        method,
        params,
        ...(signal && { signal }),
      })
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof ChainError) throw cause
      if (cause instanceof RpcResponseError)
        throw new ChainError('rpc_error', `${method}: ${cause.message}`, cause)
      throw new ChainError('rpc_unreachable', `${method}: the node did not answer`, cause)
    }
  }
}

/**
 * @throws {ChainError} `rpc_unreachable` for an answer that `read` rejects, because a malformed
 * answer counts as none.
 */
export function readStrictly<T>(method: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new ChainError('rpc_unreachable', `${method}: malformed answer`, cause)
  }
}
