import { utf8ToBytes } from '@noble/hashes/utils.js'
import type { Result } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import type { NodeKind } from './case.ts'
import type { Reply } from './reply.ts'

export type Call = { id?: unknown; method: string; params?: unknown[] }
export type Answer = { result?: unknown; error?: unknown }

/** @returns The fixed answer of this kind of node; `undefined` for kinds that read the request. */
export function deafReplyOf(kind: NodeKind): Reply | undefined {
  if (kind === 'down') return 'hang up'
  if (kind === 'slow') return 'never'
  if (kind === 'http_500') return jsonReply('the node is not well', 500)
  if (kind === 'garbage') return jsonReply('<html>Welcome</html>')
  return undefined
}

export function replyWith({ id = null }: Call, answer: Answer): Reply {
  return jsonReply(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
}

function jsonReply(text: string, status = 200): Reply {
  return { status, type: 'application/json', body: utf8ToBytes(text) }
}

/**
 * @param ask The real node. @param marks Block numbers by name. @returns The answer of this kind of
 * node.
 */
export async function answerOf(
  kind: NodeKind,
  call: Call,
  ask: (call: Call) => Promise<Answer>,
  marks: Record<string, number>,
): Promise<Answer> {
  const { method } = call
  if (typeof kind === 'object' && 'stale' in kind) return ask(pinned(call, marks[kind.stale] ?? 0))
  if (typeof kind === 'object' && 'asIssuer' in kind) return ask(aboutIssuer(call, kind.asIssuer))
  if (typeof kind === 'object' && 'issuerUri' in kind) {
    const issuer = { uri: kind.issuerUri }
    return answerOf({ lie: { issuer } }, call, ask, marks)
  }
  if (typeof kind === 'object' && 'logsError' in kind)
    return method === 'eth_getLogs' ? { error: kind.logsError } : ask(call)
  if (typeof kind === 'object') {
    const answer = await ask(call)
    const lies = method === 'eth_call' && answer.result !== undefined
    return lies ? { result: changed(String(answer.result), kind.lie) } : answer
  }
  if (kind === 'rpc_error') return { error: { code: -32603, message: 'internal error' } }
  if (kind === 'no_code' && method === 'eth_call') return { result: '0x' }
  if (kind === 'no_logs' && method === 'eth_getLogs') return { result: [] }
  const answer = await ask(call)
  if (kind === 'error_false') return { ...answer, error: false }
  if (kind === 'error_and_result')
    return { ...answer, error: { code: -32603, message: 'internal error' } }
  if (method !== 'eth_getLogs') return answer
  return { result: logsAs(kind, answer.result as object[]) }
}

function logsAs(kind: NodeKind, logs: object[]): unknown {
  switch (kind) {
    case 'wrong_log':
      // Changes account and expiry.
      return logs.map((log) => ({ ...log, data: `0x${'2'.repeat(128)}` }))
    case 'null_log':
      return [null]
    case 'null_log_index':
      return logs.map((log) => ({ ...log, logIndex: null }))
    case 'null_logs':
      return null
    default:
      return logs
  }
}

/** @returns The same call for a node whose newest block is older. */
function pinned(call: Call, block: number): Call {
  const head: Hex = `0x${block.toString(16)}`
  if (call.method === 'eth_blockNumber')
    return { method: 'eth_getBlockByNumber', params: [head, false] }
  const tags = ['latest', 'pending', 'safe', 'finalized']
  const params = (call.params ?? []).map((param) => (tags.includes(String(param)) ? head : param))
  return { ...call, params }
}

/** @returns The same call for another issuer's record. */
function aboutIssuer(call: Call, issuerId: number): Call {
  if (call.method !== 'eth_call') return call
  const [{ data, ...rest }, block] = call.params as [{ data: Hex }, unknown]
  const [, documentHash] = registryAbi.decodeFunctionData('verificationOf', data)
  const changed = registryAbi.encodeFunctionData('verificationOf', [issuerId, documentHash])
  return { ...call, params: [{ ...rest, data: changed }, block] }
}

type Lie = Extract<NodeKind, { lie: unknown }>['lie']

/** @returns The node's answer to `verificationOf` with these members changed. */
function changed(result: string, lie: Lie): string {
  const [answer] = registryAbi.decodeFunctionResult('verificationOf', result)
  const whole = Object.entries(answer.toObject()).map(([name, value]) => {
    const change = lie[name as keyof Lie]
    if (change === undefined) return value
    if (typeof change === 'number') return change
    return changedPart((value as Result).toObject(), change)
  })
  return registryAbi.encodeFunctionResult('verificationOf', [whole])
}

function changedPart(truth: Record<string, unknown>, change: object | null) {
  if (change !== null) return { ...truth, ...change }
  return Object.fromEntries(Object.entries(truth).map(([name, value]) => [name, zeroLike(value)]))
}

function zeroLike(value: unknown): unknown {
  if (typeof value !== 'string') return typeof value === 'boolean' ? false : 0
  return value.startsWith('0x') ? `0x${'0'.repeat(40)}` : ''
}

/** Calls a real node. */
export async function askNode(url: string, { method, params }: Call): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as Answer
  return error === undefined ? { result } : { error }
}
