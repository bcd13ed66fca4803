import { Pool } from 'undici'
import type { BlockId } from './journal.ts'
import { answerOf, requestFor } from './rpc.ts'

/** Which process an Anvil is; kept in a file, so that the next start finds one that outlived us. */
export type AnvilProcess = {
  /** 0 while it is being started. */
  pid: number
  port: number
  /** Random, on its command line and in a header of every answer: it tells this Anvil from any other program. */
  nonce: string
  /** Whether it has got all that the journal holds; until then it cannot be taken over. */
  ready: boolean
}

export type Block = BlockId & {
  parentHash: string
  time: number
  transactions: number
}

/** The origin that an Anvil allows in its CORS header. It cannot exist, so no web page reaches Anvil past the front. */
export const originOf = (nonce: string): string => `http://${nonce}.invalid`

type RpcBlock = {
  number: string
  hash: string
  parentHash: string
  timestamp: string
  transactions: unknown[]
}

const blockOf = (block: RpcBlock): Block => ({
  number: Number(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
  time: Number(block.timestamp),
  transactions: block.transactions.length,
})

/** A running Anvil, spoken to over its private port. */
export class Anvil {
  readonly process: AnvilProcess
  readonly #pool: Pool

  constructor(process: AnvilProcess) {
    this.process = process
    this.#pool = new Pool(`http://127.0.0.1:${process.port}`, {
      connections: 16,
      headersTimeout: 120_000,
      bodyTimeout: 120_000,
    })
  }

  /** @throws if Anvil is gone or does not answer; a JSON-RPC error is an answer like any other */
  async post(body: string): Promise<Buffer> {
    const response = await this.#pool.request({
      method: 'POST',
      path: '/',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const answer = Buffer.from(await response.body.arrayBuffer())
    if (response.statusCode >= 400) throw new Error(`Anvil answers HTTP ${response.statusCode}`)
    return answer
  }

  /** @throws also for a JSON-RPC error */
  async call(method: string, ...params: unknown[]): Promise<unknown> {
    const { result, error } = answerOf(await this.post(requestFor(method, params)))
    if (error !== undefined) throw new Error(`Anvil refuses ${method}: ${error.message}`)
    return result
  }

  async block(number: number | 'latest'): Promise<Block> {
    const tag = number === 'latest' ? number : `0x${number.toString(16)}`
    return blockOf((await this.call('eth_getBlockByNumber', tag, false)) as RpcBlock)
  }

  /** Mines one block at exactly this time, with all transactions that are ready. */
  async mine(time: number): Promise<Block> {
    const [block] = (await this.call('evm_mine_detailed', time)) as RpcBlock[]
    if (block === undefined) throw new Error('Anvil mined no block')
    return blockOf(block)
  }

  /** Whether this very Anvil answers on the port; false if nothing does, or another program. */
  async answers(timeoutMs: number): Promise<boolean> {
    const response = await fetch(`http://127.0.0.1:${this.process.port}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: requestFor('eth_chainId', []),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch(() => undefined)
    await response?.body?.cancel()
    return response?.headers.get('access-control-allow-origin') === originOf(this.process.nonce)
  }

  async disconnect(): Promise<void> {
    await this.#pool.destroy()
  }
}
