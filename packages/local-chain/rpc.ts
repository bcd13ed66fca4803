import { isObject } from '#document/json.ts'

/** A JSON-RPC call of a client. A call without an id is a notification. */
export type Call = { id?: unknown; method: string; params: unknown }

/** A JSON-RPC error, in the form of a response. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const INVALID_JSON = -32700
export const INVALID_REQUEST = -32600
export const UNKNOWN_METHOD = -32601
export const INVALID_PARAMS = -32602
export const UNAVAILABLE = -32000

/** @throws {RpcError} if the value is not a JSON-RPC 2.0 request */
export function parseCall(value: unknown): Call {
  if (isObject(value)) {
    const { jsonrpc, id = null, method, params, ...more } = value
    const isCall =
      jsonrpc === '2.0' &&
      (id === null || typeof id === 'string' || Number.isSafeInteger(id)) &&
      typeof method === 'string' &&
      (params === undefined || typeof params === 'object') &&
      Object.keys(more).length === 0
    if (isCall) return { ...('id' in value && { id }), method, params: params ?? [] }
  }
  throw new RpcError(INVALID_REQUEST, 'invalid JSON-RPC 2.0 request')
}

/** Anvil gets this text instead of the client's, which it might read differently. */
export function requestOf(call: Call): string {
  return JSON.stringify({ jsonrpc: '2.0', ...call })
}

export function requestFor(method: string, params: unknown, id: unknown = 1): string {
  return requestOf({ id, method, params })
}

/** @throws {RpcError} if the result is an error */
export function resultFor({ id = null }: Call, result: unknown): string {
  if (result instanceof RpcError) throw result
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}

export function errorFor(id: unknown, { code, message, data }: RpcError): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } })
}

/** @throws {RpcError} for an error response of Anvil */
export function resultIn(answer: Buffer): unknown {
  const value: unknown = JSON.parse(answer.toString())
  if (!isObject(value)) throw new Error('invalid JSON-RPC answer')
  const { result, error } = value
  if (!isObject(error)) return result
  throw new RpcError(Number(error.code), String(error.message), error.data)
}

/** A quantity in any form that clients use: 12, '12' or '0xc'. */
export function quantityOf(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^(0x[0-9a-f]+|\d+)$/i.test(value)) return undefined
  if (!['string', 'number'].includes(typeof value)) return undefined
  const quantity = Number(value)
  return Number.isSafeInteger(quantity) && quantity >= 0 ? quantity : undefined
}
