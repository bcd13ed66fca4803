import { Pool } from 'undici'
import type { Hex } from '#document/hex.ts'
import { bodyOf, serveHttp } from '#test/support/http.ts'
import type { BenchChain } from '../chain.ts'

// The blocks of rows that a script wrote are not on the chain. Their numbers are beyond those of its
// real blocks.

/** The number of the first pretended block. */
export const FIRST_BLOCK = 1_000_000_000
/** The expiry of every document. */
export const EXPIRY = 4_102_444_800

/** A chain that also pretends to have the blocks that a script wrote into a database. */
export type PretendedChain = BenchChain & {
  /** The number of pretended blocks that it was asked for. */
  readonly asked: { blocks: number }
  /** Makes the pretended blocks final. */
  finalize(): void
}

type Request = { id: unknown; method: string; params: [string, ...unknown[]] }

const word = (value: number) => value.toString(16).padStart(64, '0')

/** A proxy in front of a real chain that answers for the pretended blocks. */
export async function pretendBlocks(chain: BenchChain, blocks: number): Promise<PretendedChain> {
  const { origin } = new URL(chain.url)
  const pool = new Pool(origin, { connections: 32 })
  const asked = { blocks: 0 }
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
    return { number: `0x${number.toString(16)}`, hash: `0x${word(number)}`, timestamp: '0x1' }
  }

  async function answer(body: string): Promise<string> {
    const { id, method, params } = JSON.parse(body) as Request
    const result = method === 'eth_getBlockByNumber' ? blockFor(params[0]) : undefined
    if (!result) return forward(body)
    asked.blocks++
    return JSON.stringify({ jsonrpc: '2.0', id, result })
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
