import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Hex } from '#document/hex.ts'
import { bodyOf, serveHttp, type TestServer } from './http.ts'
import type { Random } from './random.ts'

export type RpcCall = { id?: unknown; method: string; params: unknown[] }
export type RpcFailure = { code: number; message: string; data?: unknown }
export type RpcAnswer = { result?: unknown; error?: RpcFailure }

/** The possible faults of one call. */
export type Fault =
  /** The node never sees it. */
  | { kind: 'drop_before' }
  /** The node executes it, and the client gets no answer. */
  | { kind: 'drop_after' }
  | { kind: 'delay'; milliseconds: number }
  /** The node answers at once, but its answer is delayed by this time. */
  | { kind: 'late'; milliseconds: number }
  | { kind: 'status'; status: number }
  | { kind: 'garbage'; text: string }
  /** The node answers as if it were some blocks behind. */
  | { kind: 'stale_head'; blocks: number }
  /** The node has the transaction's block, but has not indexed it. */
  | { kind: 'null_receipt' }
  /** The proxy answers instead of the node. */
  | { kind: 'refusal'; error: RpcFailure }

/**
 * A JSON-RPC proxy in front of a node that can fail like networks and providers. A test may change
 * its behaviour at any time.
 */
export type FaultProxy = TestServer & {
  /** Called before each call is forwarded. */
  fault: (call: RpcCall) => Fault | undefined | Promise<Fault | undefined>
  /** Called after the node answered, before the client gets the answer. */
  answered: (call: RpcCall, answer: RpcAnswer) => void | Promise<void>
  /** Ends all faults. */
  heal(): void
  /** Calls the node itself, without faults. */
  direct<T>(method: string, ...params: unknown[]): Promise<T>
  retarget(url: string): void
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const behaviour: Pick<FaultProxy, 'fault' | 'answered'> = {
    fault: () => undefined,
    answered: () => {},
  }
  let node = nodeAt(target)

  const direct = async <T>(method: string, ...params: unknown[]) => {
    const { result, error } = await node.send({ method, params })
    if (error) throw new Error(`${method}: ${error.message}`)
    return result as T
  }

  async function answerTo(call: RpcCall): Promise<Reply> {
    const fault = await behaviour.fault(call)
    switch (fault?.kind) {
      case 'drop_before':
        return DROPPED
      case 'status':
        return { status: fault.status, text: 'the provider has failed' }
      case 'garbage':
        return { status: 200, text: fault.text }
      case 'refusal':
        return replyTo(call, { error: fault.error })
      case 'delay':
        await sleep(fault.milliseconds)
    }
    const asked =
      fault?.kind === 'stale_head' ? withHead(call, await behind(direct, fault.blocks)) : call
    const answer =
      fault?.kind === 'stale_head' && call.method === 'eth_blockNumber'
        ? { result: await behind(direct, fault.blocks) }
        : await node.send(asked)
    await behaviour.answered(call, answer)
    if (fault?.kind === 'late') await sleep(fault.milliseconds)
    if (fault?.kind === 'drop_after') return DROPPED
    const hidden = fault?.kind === 'null_receipt' && call.method === 'eth_getTransactionReceipt'
    return replyTo(call, hidden ? { result: null } : answer)
  }

  const server = await serveHttp(async (request, response) => {
    const asked = JSON.parse(await bodyOf(request)) as RpcCall | RpcCall[]
    const replies = await Promise.all(
      [asked]
        .flat()
        .map((call) => answerTo({ ...call, params: call.params ?? [] }))
        .map((reply) => reply.catch(() => DROPPED)),
    )
    const told = replies.filter((reply) => reply !== DROPPED)
    const [first] = told
    // A fault of one call affects the whole batch.
    if (first === undefined || told.length < replies.length) {
      response.destroy()
      return
    }
    const texts = told.map(({ text }) => text).join(',')
    response.writeHead(first.status, { 'content-type': 'application/json' })
    response.end(Array.isArray(asked) ? `[${texts}]` : texts)
  })

  return Object.assign(behaviour, {
    ...server,
    direct,
    heal() {
      behaviour.fault = () => undefined
      behaviour.answered = () => {}
    },
    retarget(url: string) {
      void node.close()
      node = nodeAt(url)
    },
    async close() {
      await server.close()
      await node.close()
    },
  })
}

/**
 * Makes random faults: each call gets one with this probability.
 *
 * @param blocksBehind The maximum number of blocks that a node may be behind for this call.
 */
export function randomFaults(
  random: Random,
  probability: number,
  blocksBehind: (call: RpcCall) => number = () => 3,
): FaultProxy['fault'] {
  return (call) => {
    if (random.next() >= probability) return undefined
    return random.pick<Fault>([
      { kind: 'drop_before' },
      { kind: 'drop_after' },
      { kind: 'delay', milliseconds: random.below(200) },
      { kind: 'late', milliseconds: random.below(500) },
      { kind: 'status', status: random.pick([429, 500, 502, 503]) },
      { kind: 'garbage', text: random.pick(GARBAGE) },
      { kind: 'stale_head', blocks: 1 + random.below(blocksBehind(call)) },
      { kind: 'null_receipt' },
      { kind: 'refusal', error: random.pick<RpcFailure>(REFUSALS) },
    ])
  }
}

/**
 * A node that keeps blocks, transactions and receipts only from a block on, like geth with pruned
 * history (EIP-4444). It keeps all state and the genesis block.
 *
 * @param before The oldest block that it keeps.
 */
export function prunedHistory(
  { direct }: Pick<FaultProxy, 'direct'>,
  before: number,
): FaultProxy['fault'] {
  const error = { code: 4444, message: 'pruned history unavailable' }
  const isOld = (block: unknown) =>
    /^0x[0-9a-f]{1,8}$/.test(String(block)) && Number(block) < before
  const isPruned = (block: unknown) => isOld(block) && Number(block) > 0

  return async ({ method, params: [first] }) => {
    switch (method) {
      case 'eth_getLogs': {
        const { fromBlock } = first as { fromBlock?: string }
        return isOld(fromBlock) ? { kind: 'refusal', error } : undefined
      }
      case 'eth_getBlockByNumber':
      case 'eth_getBlockReceipts':
        return isPruned(first) ? { kind: 'refusal', error } : undefined
      case 'eth_getTransactionReceipt': {
        const receipt = await direct<{ blockNumber: Hex } | null>(method, first)
        return isPruned(receipt?.blockNumber) ? { kind: 'null_receipt' } : undefined
      }
    }
    return undefined
  }
}

/** Errors that are not about the call. */
const REFUSALS = [
  { code: -32005, message: 'limit exceeded' },
  { code: -32603, message: 'Internal error' },
  { code: -32000, message: 'header not found' },
] as const

/** Bodies that providers were seen to send with status 200. */
export const GARBAGE = [
  '',
  '<html><body>Bad gateway</body></html>',
  '{"jsonrpc":"2.0","id":1,"resu',
  '{"jsonrpc":"2.0","id":1}',
  'null',
] as const

const DROPPED = 'dropped' as const
type Reply = typeof DROPPED | { status: number; text: string }

function replyTo(call: RpcCall, answer: RpcAnswer): Reply {
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: call.id ?? null,
    ...answer,
  })
  return { status: 200, text }
}

function nodeAt(url: string) {
  const pool = new Pool(url, { connections: 16 })
  return {
    async send({ method, params }: RpcCall): Promise<RpcAnswer> {
      const { body } = await pool.request({
        method: 'POST',
        path: '/',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const { result, error } = (await body.json()) as RpcAnswer
      return error ? { error } : { result }
    },
    close: () => pool.destroy(),
  }
}

async function behind(direct: FaultProxy['direct'], blocks: number): Promise<Hex> {
  const head = Number(await direct<Hex>('eth_blockNumber'))
  return `0x${Math.max(0, head - blocks).toString(16)}`
}

/** @returns The same call with `latest` replaced by an older block. */
function withHead(call: RpcCall, head: Hex): RpcCall {
  const older = (param: unknown) => (param === 'latest' || param === 'pending' ? head : param)
  return { ...call, params: call.params.map(older) }
}
