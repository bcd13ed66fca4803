import { beforeEach, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { createGroupingReader } from '#chain/grouping-reader.ts'
import type { Hex } from '#document/hex.ts'
import { formatRegistryId, parseRegistryId } from '#document/registry-id.ts'
import type { ChainReader, DocumentKey, Finality } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFinalityReader } from '#verifier/readers/finality.ts'
import { createManyReader } from '#verifier/readers/many.ts'
import { createRequest } from '#verifier/readers/request.ts'
import { REGISTRY } from '../../../support/corpus/payload.ts'
import {
  createRegistryNode,
  eventOf,
  type RegistryNode,
  refusal,
  verificationOf,
} from './registry-node.ts'

const FORK = '1'.repeat(64)
const OTHER_FORK = '2'.repeat(64)
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const keyOf = (n: number, issuerId = 1): DocumentKey => ({
  issuerId,
  documentHash: hashOf(n),
})
const keysTo = (count: number) => Array.from({ length: count }, (_, i) => keyOf(i + 1))

let node: RegistryNode
let alone: ChainReader
let reader: ChainReader
beforeEach(() => {
  node = createRegistryNode()
  alone = createChainReader(node.provider, REGISTRY)
  reader = createGroupingReader(
    alone,
    createManyReader(node.provider, REGISTRY),
    createFinalityReader(createRequest(node.provider)),
  )
  for (let n = 1; n <= 10; n++) issue(n, { revokedBlock: n % 3 ? 0 : 60 + n })
})

function issue(n: number, { issuerId = 1, block = 50 + (n % 2), revokedBlock = 0 } = {}) {
  const entry = { ...keyOf(n, issuerId), block, fork: FORK, revokedBlock }
  node.entries.push(entry)
  return entry
}

const readAll = (keys: readonly DocumentKey[]) => Promise.all(keys.map((key) => reader.read(key)))
const countOf = (method: string, call?: string) =>
  node.asked.filter((one) => one.method === method && one.call === call).length

describe('reading', () => {
  test('reads documents of one turn in one call', async () => {
    const keys = [...keysTo(12), keyOf(1, 2), keyOf(3), keyOf(1)]
    const readings = await readAll(keys)
    expect(node.asked.map(({ call }) => call)).toEqual(['verificationsOf'])
    for (const [i, key] of keys.entries()) expect(readings[i]).toEqual(await alone.read(key))
    expect(readings.map(({ status }) => status)).toEqual([
      'valid',
      'valid',
      'revoked',
      'valid',
      'valid',
      'revoked',
      'valid',
      'valid',
      'revoked',
      'valid',
      'not_issued',
      'not_issued',
      'not_issued',
      'revoked',
      'valid',
    ])
  })

  test('reads two hundred documents in two calls', async () => {
    await readAll(keysTo(200))
    expect(countOf('eth_call', 'verificationsOf')).toBe(2)
    expect(node.asked).toHaveLength(2)
  })

  test('keeps no answer', async () => {
    expect((await reader.read(keyOf(1))).status).toBe('valid')
    const [entry] = node.entries
    if (entry) entry.revokedBlock = 99
    expect((await reader.read(keyOf(1))).status).toBe('revoked')
    expect((await readAll(keysTo(2))).map(({ status }) => status)).toEqual(['revoked', 'valid'])
  })

  test('reads a single document, one of a batch and one of an older block without grouping', async () => {
    const batch = { root: hashOf(9), validUntil: 0, proof: new Uint8Array(32) }
    await reader.read(keyOf(1))
    const at = { block: node.head }
    await Promise.all([
      reader.read({ ...keyOf(2), batch }),
      reader.read(keyOf(3), at),
      reader.read(keyOf(4), at),
    ])
    expect(node.asked.map(({ call }) => call)).toEqual([
      'verificationOf',
      'verificationInBatch',
      'verificationOf',
      'verificationOf',
    ])
  })

  test('repeats a failed group call for each document alone', async () => {
    node.answer = ({ call }, result) => {
      if (call === 'verificationsOf') throw refusal('out of gas')
      return result
    }
    const readings = await readAll(keysTo(3))
    expect(readings.map(({ status }) => status)).toEqual(['valid', 'valid', 'revoked'])
    expect(countOf('eth_call', 'verificationsOf')).toBe(1)
    expect(countOf('eth_call', 'verificationOf')).toBe(3)
  })

  test('a document that the node cannot answer for does not affect others', async () => {
    node.answer = ({ call, params }, result) => {
      if (call === 'verificationsOf') throw refusal('internal error')
      if (JSON.stringify(params).includes(hashOf(2).slice(2))) throw refusal('internal error')
      return result
    }
    const outcomes = await Promise.allSettled(keysTo(3).map((key) => reader.read(key)))
    expect(outcomes).toMatchObject([
      { value: { status: 'valid' } },
      { reason: { code: 'rpc_error' } },
      { value: { status: 'revoked' } },
    ])
  })
})

const wordAt = (hex: string, index: number, word: string) =>
  `${hex.slice(0, 2 + 64 * index)}${word}${hex.slice(2 + 64 * (index + 1))}`
const wordOf = (hex: string, index: number) => hex.slice(2 + 64 * index, 2 + 64 * (index + 1))
const swapped = (hex: string, one: number, other: number) =>
  wordAt(wordAt(hex, one, wordOf(hex, other)), other, wordOf(hex, one))
const encodeMany = (verifications: object[]) =>
  registryAbi.encodeFunctionResult('verificationsOf', [verifications])
const ofKeys = (numbers: number[], changes: object[] = []) =>
  encodeMany(
    numbers.map((n, i) => ({
      ...verificationOf(node, 1, hashOf(n)),
      ...changes[i],
    })),
  )

describe('hostile answers to a group', () => {
  // Of documents 1 and 2, which are valid, and 3, which is revoked.
  test.each<[string, (honest: string) => unknown]>([
    ['nothing', () => '0x'],
    ['no text', () => null],
    ['one too few', () => ofKeys([1, 2])],
    ['one too many', () => ofKeys([1, 2, 3, 4])],
    ['none', () => ofKeys([])],
    ['one of which only half is there', (hex) => hex.slice(0, -640)],
    ['a word too many', (hex) => hex + '0'.repeat(64)],
    ['another number of them', (hex) => wordAt(hex, 1, hashOf(2).slice(2))],
    ['parts in another order', (hex) => swapped(hex, 2, 4)],
    ['one part twice', (hex) => wordAt(hex, 4, wordOf(hex, 2))],
    ['a part outside', (hex) => wordAt(hex, 3, 'f'.repeat(64))],
    ['parts of two blocks', () => ofKeys([1, 2, 3], [{}, { blockNumber: 7 }])],
    ['parts of two times', () => ofKeys([1, 2, 3], [{}, { blockTime: 7 }])],
    ['parts of two chains', () => ofKeys([1, 2, 3], [{}, {}, { chainId: 1 }])],
    ['a status against its record', () => ofKeys([1, 2, 3], [{ status: 4 }])],
    ['another chain', () => ofKeys([1, 2, 3], Array(3).fill({ chainId: 1 }))],
  ])('%s, so each is read alone', async (_, change) => {
    node.answer = ({ call }, result) =>
      call === 'verificationsOf' ? change(String(result)) : result
    const readings = await readAll(keysTo(3))
    expect(readings.map(({ status }) => status)).toEqual(['valid', 'valid', 'revoked'])
    expect(countOf('eth_call', 'verificationOf')).toBe(3)
  })

  test('a registry of another chain is refused for each document', async () => {
    const other = formatRegistryId(1, parseRegistryId(REGISTRY).address)
    const reader = createGroupingReader(
      createChainReader(node.provider, other),
      createManyReader(node.provider, other),
      createFinalityReader(createRequest(node.provider)),
    )
    const outcomes = await Promise.allSettled(keysTo(2).map((key) => reader.read(key)))
    expect(outcomes).toMatchObject([
      { reason: { code: 'wrong_chain' } },
      { reason: { code: 'wrong_chain' } },
    ])
  })
})

/** Reads like `verify`: the record, then event and finality. */
async function look(n: number): Promise<{
  transactionHash: Hex | undefined
  finality: Finality
}> {
  const { record } = await reader.read(keyOf(n))
  const [event, finality] = await Promise.all([
    reader.issuedEvent(keyOf(n), record.anchoredBlock),
    reader.finalityOf(record.anchoredBlock),
  ])
  return { transactionHash: event?.transactionHash, finality }
}

const reorg = () => {
  for (const entry of node.entries) entry.fork = OTHER_FORK
}

describe('events', () => {
  test('reads events of near blocks in one call', async () => {
    // The same hash, issued by another issuer in the same block.
    issue(2, { issuerId: 2, block: 50 })
    const keys = [...keysTo(10), keyOf(2, 2), keyOf(11), keyOf(4)]
    const blocks = keys.map(({ documentHash }) => 50 + (Number(documentHash) % 2))
    const events = await Promise.all(keys.map((key, i) => reader.issuedEvent(key, blocks[i] ?? 0)))
    expect(countOf('eth_getLogs')).toBe(1)
    for (const [i, key] of keys.entries())
      expect(events[i]).toEqual(await alone.issuedEvent(key, blocks[i] ?? 0))
    expect(events[11]).toBeUndefined()
  })

  test('a document that was issued again has the event of its block', async () => {
    const again = { ...issue(2, { block: 52 }), fork: OTHER_FORK }
    node.entries.splice(-1, 1, again)
    const [first, second, none] = await Promise.all([
      reader.issuedEvent(keyOf(2), 50),
      reader.issuedEvent(keyOf(2), 52),
      reader.issuedEvent(keyOf(2), 51),
    ])
    expect(countOf('eth_getLogs')).toBe(1)
    expect(first?.blockHash).toBe(`0x${FORK}`)
    expect(second?.blockHash).toBe(`0x${OTHER_FORK}`)
    expect(none).toBeUndefined()
  })

  test('reads at most a hundred blocks in a call', async () => {
    const blocks = [1, 99, 100, 150, 199, 200, 5_000_000]
    await Promise.all(blocks.map((block) => reader.issuedEvent(keyOf(1), block)))
    const ranges = node.asked.map(({ params }) => {
      const [{ fromBlock, toBlock }] = params as [Record<string, Hex>]
      return [Number(fromBlock), Number(toBlock)]
    })
    expect(ranges).toEqual([
      [1, 99],
      [100, 199],
      [200, 200],
      [5_000_000, 5_000_000],
    ])
  })

  test('reads an event of a final block once', async () => {
    await look(1)
    const first = await look(2)
    const asked = countOf('eth_getLogs')
    expect(await look(2)).toEqual(first)
    expect(await look(2)).toEqual(first)
    expect(countOf('eth_getLogs')).toBe(asked)
    expect(first).toEqual({
      transactionHash: eventOf({ ...keyOf(2), block: 50, fork: FORK }).transactionHash,
      finality: 'finalized',
    })
  })

  test('reads an event again that a reorg can change', async () => {
    node.finalized = 49
    node.safe = 50
    const before = await look(1)
    expect(await look(1)).toEqual(before)
    expect(before.finality).toBe('included')
    reorg()
    const after = await look(1)
    expect(after.transactionHash).toBe(before.transactionHash?.replaceAll('1', '2'))
  })

  test('reads an event again that was read before its block was final', async () => {
    node.finalized = 49
    const before = await look(1)
    node.head++
    node.finalized = 60
    // The read that finds the block final may have seen another fork.
    reorg()
    const after = await look(1)
    expect(after.transactionHash).not.toBe(before.transactionHash)
    expect(after.finality).toBe('finalized')
  })

  test('drops kept events when the final block goes back', async () => {
    await look(1)
    await look(1)
    reorg()
    node.head = 20
    node.finalized = 10
    await look(1)
    const { transactionHash } = await look(1)
    expect(transactionHash).toContain('222')
  })

  test('does not remember that an event was missing', async () => {
    node.answer = ({ method }, result) => (method === 'eth_getLogs' ? [] : result)
    await look(1)
    expect((await look(1)).transactionHash).toBeUndefined()
    node.answer = (_, result) => result
    expect((await look(1)).transactionHash).toBeDefined()
  })

  test('a forced read asks the node and replaces the kept answer', async () => {
    await look(2)
    node.answer = ({ method }, result) =>
      method === 'eth_getLogs'
        ? [{ ...eventOf({ ...keyOf(1), block: 51, fork: OTHER_FORK }) }]
        : result
    await look(1)
    node.answer = (_, result) => result
    const kept = await reader.issuedEvent(keyOf(1), 51)
    expect(kept?.blockHash).toBe(`0x${OTHER_FORK}`)
    const fresh = await reader.issuedEvent(keyOf(1), 51, { fresh: true })
    expect(fresh?.blockHash).toBe(`0x${FORK}`)
    expect(await reader.issuedEvent(keyOf(1), 51)).toEqual(fresh)
  })

  test.each<[string, (logs: object[]) => unknown]>([
    ['no list', () => null],
    ['an event of no one', (logs) => [...logs, null]],
    [
      'an event of another document',
      (logs) => [...logs, eventOf({ ...keyOf(77), block: 50, fork: FORK })],
    ],
    [
      'an event of another contract',
      (logs) => logs.map((log) => ({ ...log, address: `0x${'cd'.repeat(20)}` })),
    ],
    ['an event without data', (logs) => logs.map((log) => ({ ...log, data: '0x' }))],
    ['a thousand events', (logs) => Array(1000).fill(logs[0])],
  ])('%s in the answer to a group, so each is read alone', async (_, change) => {
    let groups = 0
    node.answer = ({ method, params }, result) => {
      const [{ topics }] = params as [{ topics?: unknown[] }]
      const grouped = method === 'eth_getLogs' && Array.isArray(topics?.[1])
      if (!grouped) return result
      groups++
      return change(result as object[])
    }
    const events = await Promise.all([2, 4, 6].map((n) => reader.issuedEvent(keyOf(n), 50)))
    expect(groups).toBe(1)
    for (const [i, n] of [2, 4, 6].entries())
      expect(events[i]).toEqual(await alone.issuedEvent(keyOf(n), 50))
  })

  test('accepts the events of an answer in any order', async () => {
    node.answer = ({ method }, result) =>
      method === 'eth_getLogs' ? (result as object[]).toReversed() : result
    const events = await Promise.all([2, 4, 6].map((n) => reader.issuedEvent(keyOf(n), 50)))
    for (const [i, n] of [2, 4, 6].entries())
      expect(events[i]).toEqual(await alone.issuedEvent(keyOf(n), 50))
  })
})

describe('finality', () => {
  test('is read once for each newest block', async () => {
    const looked = () => countOf('eth_getBlockByNumber')
    await Promise.all([1, 2, 3, 4].map(look))
    expect(looked()).toBe(1)
    await Promise.all([1, 2, 5].map(look))
    expect(looked()).toBe(1)
    node.head++
    await Promise.all([1, 2].map(look))
    expect(looked()).toBe(2)
  })

  test('follows the blocks', async () => {
    node.finalized = 40
    node.safe = 45
    expect((await look(1)).finality).toBe('included')
    node.head++
    node.safe = 51
    expect((await look(1)).finality).toBe('safe')
    node.head++
    node.finalized = 51
    expect((await look(1)).finality).toBe('finalized')
  })

  test('repeats a failed read', async () => {
    node.answer = ({ method }, result) => {
      if (method === 'eth_getBlockByNumber') throw refusal('busy')
      return result
    }
    await expect(look(1)).rejects.toMatchObject({ code: 'rpc_error' })
    node.answer = (_, result) => result
    expect((await look(1)).finality).toBe('finalized')
  })
})
