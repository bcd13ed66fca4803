import { Pool } from 'undici'
import type { Hex } from '../../document/hex.ts'
import { registryAbi as abi } from '../../gateway/registry-abi.ts'
import { bodyOf, serveHttp } from '../../test/support/http.ts'
import type { BenchChain } from '../chain.ts'
import { blockHashOf, blockOfDocument, EXPIRY, FIRST_BLOCK } from './pretended.ts'

/**
 * A chain that also pretends to have the blocks and documents that a script wrote into a database.
 */
export type PretendedChain = BenchChain & {
  /** Number of calls of each method about pretended blocks or documents. */
  readonly asked: { blocks: number; records: number }
  /** Makes the pretended blocks final. */
  finalize(): void
}

type Request = { id: unknown; method: string; params: [string, ...unknown[]] }

const RECORDS_OF = abi.getFunction('recordsOf')?.selector ?? ''

/** A proxy in front of a real chain that answers for the pretended blocks and documents. */
export async function pretendBlocks(chain: BenchChain, blocks: number): Promise<PretendedChain> {
  const { origin } = new URL(chain.url)
  const pool = new Pool(origin, { connections: 32 })
  const asked = { blocks: 0, records: 0 }
  let isFinal = false

  async function forward(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const answer = await pool.request({ method: 'POST', path: '/', headers, body })
    return answer.body.text()
  }

  function blockFor(tag: string): { number: string; hash: Hex; timestamp: string } | undefined {
    const last = FIRST_BLOCK + blocks - 1
    const number = tag === 'finalized' && isFinal ? last : Number(tag)
    if (!(number >= FIRST_BLOCK && number <= last)) return undefined
    return { number: `0x${number.toString(16)}`, hash: blockHashOf(number), timestamp: '0x1' }
  }

  /** The records of the real chain, completed with the pretended ones. */
  async function recordsFor(body: string, data: string): Promise<string> {
    const text = await forward(body)
    const hashes = abi.decodeFunctionData('recordsOf', data)[1] as Hex[]
    if (hashes.every((hash) => blockOfDocument(hash, blocks) === 0)) return text
    asked.records++
    const answer = JSON.parse(text)
    const records = abi.decodeFunctionResult('recordsOf', answer.result)[0] as unknown[][]
    const changed = records.map((record, i) => {
      const block = blockOfDocument(hashes[i] ?? '0x', blocks)
      return block === 0 ? [...record] : [1, block, 1, EXPIRY, 0, 0, 0, 0, false]
    })
    return JSON.stringify({
      ...answer,
      result: abi.encodeFunctionResult('recordsOf', [changed]),
    })
  }

  async function answer(body: string): Promise<string> {
    const { id, method, params } = JSON.parse(body) as Request
    if (method === 'eth_getBlockByNumber') {
      const result = blockFor(params[0])
      if (result) asked.blocks++
      return result ? JSON.stringify({ jsonrpc: '2.0', id, result }) : forward(body)
    }
    if (method !== 'eth_call') return forward(body)
    const { data } = params[0] as unknown as { data: string }
    return data.startsWith(RECORDS_OF) ? recordsFor(body, data) : forward(body)
  }

  const server = await serveHttp(async (request, response) => {
    const text = await answer(await bodyOf(request))
    response.setHeader('content-type', 'application/json')
    response.end(text)
  })
  return {
    ...chain,
    url: server.url,
    asked,
    finalize() {
      isFinal = true
    },
    async stop() {
      await server.close()
      await pool.close()
      await chain.stop()
    },
  }
}
