import { beforeEach, describe, expect, test } from 'vitest'
import { RpcResponseError } from '#verifier/errors.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFinalityReader, type FinalityRule } from '#verifier/readers/finality.ts'
import { createRequest } from '#verifier/readers/request.ts'

type Answer = () => unknown

const block = (number: number): Answer => {
  return () => ({ number: `0x${number.toString(16)}` })
}
const error = (code: number, message: string): Answer => {
  return () => {
    throw new RpcResponseError(code, message, undefined)
  }
}
const outage: Answer = () => {
  throw new Error('connection refused')
}

/** What the node answers for each tag; the tags that were asked for. */
let node: Record<string, Answer>
let asked: string[]
beforeEach(() => {
  node = { latest: block(1000), safe: block(950), finalized: block(900) }
  asked = []
})

const provider = {
  request: async ({ params = [] }: { params?: readonly unknown[] }) => {
    const tag = String(params[0])
    asked.push(tag)
    return node[tag]?.()
  },
}
const open = (rule?: FinalityRule) => createFinalityReader(createRequest(provider), rule)

/** What nodes that do not know the tag answer. */
const UNKNOWN_TAG = error(-32602, 'hex string without 0x prefix')

/** What nodes that know the tag answer before any block has it. */
const NO_BLOCK: [string, Answer][] = [
  ['geth', error(-32000, 'finalized block not found')],
  ['Besu and Erigon', error(-39001, 'Unknown block')],
  ['Nethermind and reth', () => null],
]

/** Answers that say nothing about finality. */
const NO_ANSWER: [string, Answer][] = [
  ['limits the rate', error(-32005, 'limit exceeded')],
  ['limits the rate with a code of its own', error(429, 'too many requests')],
  ['has an internal error', error(-32603, 'Internal error')],
  ['has a server error', error(-32000, 'header not found')],
  ['does not know the method', error(-32601, 'method not found')],
  ['is down', outage],
  ['answers garbage', () => 'soon'],
  ['answers a block without a number', () => ({})],
  ['answers a block with a bad number', () => ({ number: '900' })],
]

describe('by the tags', () => {
  test('reads finalized, then safe', async () => {
    const { finalityOf, finalizedBlock } = open()
    expect(await finalizedBlock()).toBe(900)
    expect(await finalityOf(900)).toBe('finalized')
    expect(await finalityOf(950)).toBe('safe')
    expect(await finalityOf(951)).toBe('included')
  })

  test.each(NO_BLOCK)('nothing is final while %s names no block', async (_, answer) => {
    node.finalized = answer
    node.safe = answer
    const { finalityOf, finalizedBlock } = open({ depthWithoutTag: 64 })
    expect(await finalizedBlock()).toBe(0)
    expect(await finalityOf(1)).toBe('included')
    expect(asked).not.toContain('latest')
  })

  test.each(NO_ANSWER)('finality is unknown when the node %s', async (_, answer) => {
    node.finalized = answer
    const { finalityOf, finalizedBlock } = open({ depthWithoutTag: 64 })
    await expect(finalizedBlock()).rejects.toMatchObject({
      name: 'ChainError',
    })
    await expect(finalityOf(1)).rejects.toMatchObject({ name: 'ChainError' })
  })

  test('with safe unknown, only a final block is decided', async () => {
    node.safe = error(-32005, 'limit exceeded')
    const { finalityOf } = open()
    expect(await finalityOf(900)).toBe('finalized')
    await expect(finalityOf(901)).rejects.toMatchObject({ code: 'rpc_error' })
  })

  test('a library reader does not estimate at a node without the tag', async () => {
    node.finalized = UNKNOWN_TAG
    const chain = createChainReader(provider, `eip155:1:0x${'ab'.repeat(20)}`)
    await expect(chain.finalityOf(1)).rejects.toMatchObject({
      code: 'rpc_error',
    })
  })

  test.each([0, -1, 1.5, Number.NaN])(
    'block %s has no finality, since no record is in it',
    async (number) => {
      await expect(open().finalityOf(number)).rejects.toThrow(TypeError)
    },
  )
})

describe('by depth', () => {
  test('uses depth instead of the tags', async () => {
    const { finalityOf, finalizedBlock } = open({ depth: 10 })
    expect(await finalizedBlock()).toBe(990)
    expect(await finalityOf(990)).toBe('finalized')
    expect(await finalityOf(991)).toBe('included')
    expect(new Set(asked)).toEqual(new Set(['latest']))
  })

  test('a shorter chain has no final block', async () => {
    node.latest = block(9)
    expect(await open({ depth: 10 }).finalizedBlock()).toBe(0)
  })

  test('uses depthWithoutTag with a node that does not know the tag', async () => {
    node.finalized = UNKNOWN_TAG
    node.safe = UNKNOWN_TAG
    const { finalityOf, finalizedBlock } = open({ depthWithoutTag: 64 })
    expect(await finalizedBlock()).toBe(936)
    expect(await finalityOf(936)).toBe('finalized')
    expect(await finalityOf(937)).toBe('included')
    expect(asked.filter((tag) => tag === 'finalized')).toHaveLength(1)
  })

  test('a node that refuses every block does not count as one without the tag', async () => {
    node.finalized = UNKNOWN_TAG
    node.latest = error(-32602, 'your plan does not include this call')
    const { finalizedBlock } = open({ depthWithoutTag: 64 })
    await expect(finalizedBlock()).rejects.toMatchObject({ code: 'rpc_error' })
    node.latest = block(1000)
    node.finalized = block(900)
    expect(await finalizedBlock()).toBe(900)
  })

  test('a node that once named a final block counts as knowing the tag', async () => {
    const { finalizedBlock } = open({ depthWithoutTag: 64 })
    expect(await finalizedBlock()).toBe(900)
    node.finalized = UNKNOWN_TAG
    await expect(finalizedBlock()).rejects.toMatchObject({ code: 'rpc_error' })
  })
})
