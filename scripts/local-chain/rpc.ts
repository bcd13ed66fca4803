/** One JSON-RPC call as the client sent it. A call without an id is a notification. */
export type Call = { id?: unknown; method: string; params: unknown }

export type RpcFailure = { code: number; message: string; data?: unknown }

export type Answer = { result?: unknown; error?: RpcFailure }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (value: unknown): boolean =>
  value === null || typeof value === 'string' || Number.isSafeInteger(value)

/** @returns The call that a JSON value is; `undefined` if it is not a valid JSON-RPC 2.0 request. */
export const callOf = (value: unknown): Call | undefined => {
  if (!isObject(value)) return undefined
  const { jsonrpc, id = null, method, params = [], ...more } = value
  const isCall =
    jsonrpc === '2.0' &&
    isId(id) &&
    typeof method === 'string' &&
    typeof params === 'object' &&
    Object.keys(more).length === 0
  if (!isCall) return undefined
  return { ...('id' in value && { id }), method, params: params ?? [] }
}

/** @returns The JSON text of a call: what Anvil gets is what was read here, and not what a client wrote. */
export const textOf = (call: Call): string => JSON.stringify({ jsonrpc: '2.0', ...call })

export const requestFor = (method: string, params: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

export const resultFor = (call: Call, result: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: call.id ?? null, result })

export const errorFor = (call: Call | undefined, error: RpcFailure): string =>
  JSON.stringify({ jsonrpc: '2.0', id: call?.id ?? null, error })

/** @throws if the bytes are not a single JSON-RPC answer */
export const answerOf = (bytes: Buffer | string): Answer => {
  const value: unknown = JSON.parse(bytes.toString())
  if (!isObject(value) || !('result' in value || 'error' in value))
    throw new Error('not a JSON-RPC answer')
  return value as Answer
}

/** A quantity as clients write it: 12, '12' or '0xc'. */
export const quantityOf = (value: unknown): number | undefined => {
  if (typeof value === 'string' && !/^(0x[0-9a-f]+|\d+)$/i.test(value)) return undefined
  const quantity =
    typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
  return Number.isSafeInteger(quantity) && quantity >= 0 ? quantity : undefined
}
