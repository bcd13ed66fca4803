import { Pool } from 'undici'
import { registryAbi as abi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { bodyOf, serveHttp } from '#test/support/http.ts'
import type { BenchChain } from '../chain.ts'

// The blocks of rows that a script wrote are not on the chain. Their numbers are beyond those of its
// real blocks, and a document's hash ends with the index of its block.

/** The number of the first pretended block. */
export const FIRST_BLOCK = 1_000_000_000
/** Used in place of the index for a document in no pretended block. */
export const NO_BLOCK = 0xffff_ffff
/** The expiry of every document. */
export const EXPIRY = 4_102_444_800

/**
 * A chain that also pretends to have the blocks and documents that a script wrote into a database.
 */
export type PretendedChain = BenchChain & {
  /** The number of pretended blocks that it was asked for. */
  readonly asked: { blocks: number }
  /** Makes the pretended blocks final. */
  finalize(): void
}

type Request = { id: unknown; method: string; params: [string, ...unknown[]] }

const RECORDS_OF = abi.getFunction('recordsOf')?.selector ?? ''
/** The number of hexadecimal digits in a word, and in a record of nine words. */
const DIGITS = 64
const RECORD_DIGITS = 9 * DIGITS

const word = (value: number) => value.toString(16).padStart(DIGITS, '0')

/** @returns The block number of a document from its hash; 0 = in no pretended block. */
function blockOfDocument(documentHash: string, blocks: number): number {
  const index = Number.parseInt(documentHash.slice(-8), 16)
  return index < blocks ? FIRST_BLOCK + index : 0
}

/** @returns The hashes in the calldata of `recordsOf(uint32, bytes32[])`. */
function hashesIn(data: string): string[] {
  const words = data.slice(RECORDS_OF.length).match(/.{64}/g) ?? []
  return words.slice(3)
}

/** @returns The record of a document that was anchored in this block. */
function recordIn(block: number): string {
  return [1, block, 1, EXPIRY, 0, 0, 0, 0, 0].map(word).join('')
}

/** A proxy in front of a real chain that answers for the pretended blocks and documents. */
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

  /**
   * @returns The records of the real chain, completed with the pretended ones. ethers is not used,
   * because it takes a quarter of a millisecond for each record.
   */
  async function recordsFor(body: string, data: string, id: unknown): Promise<string> {
    const wanted = hashesIn(data).map((hash) => blockOfDocument(hash, blocks))
    if (wanted.every((block) => block === 0)) return forward(body)
    const head = `0x${word(32)}${word(wanted.length)}`
    const real: string = wanted.includes(0) ? JSON.parse(await forward(body)).result : ''
    const records = wanted.map((block, i) =>
      block === 0
        ? real.slice(head.length + i * RECORD_DIGITS).slice(0, RECORD_DIGITS)
        : recordIn(block),
    )
    return JSON.stringify({ jsonrpc: '2.0', id, result: `${head}${records.join('')}` })
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
    return data.startsWith(RECORDS_OF) ? recordsFor(body, data, id) : forward(body)
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
