import { describe, expect, test } from 'vitest'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import type { BlockSource, ChainReader } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import type { Check } from '#verifier/verdict.ts'
import { type FaultProxy, prunedHistory } from '../../support/fault-proxy.ts'
import {
  before,
  behind,
  both,
  codeOf,
  DAY,
  head,
  honest,
  judge,
  kept,
  LIES,
  lapsed,
  liar,
  provider,
  reader,
  registry,
  revoked,
  source,
  tell,
  twoOfThree,
  useNodes,
} from './nodes.ts'

useNodes()

describe('trusting one node', () => {
  test('makes one eth_call, one eth_getLogs of one block and one fetch of the block', async () => {
    let fetched = 0
    const counted: BlockSource = {
      get: (hash, options) => {
        fetched++
        return source().get(hash, options)
      },
    }
    liar.asked.length = 0
    const verdict = await judge(kept, reader(liar), { blocks: [counted] })
    expect(verdict.status).toBe('valid')
    expect(verdict.blockchainProof?.finality).toBeNull()
    expect([...liar.asked].sort()).toEqual(['eth_call', 'eth_getLogs'])
    expect(fetched).toBe(1)
  })

  test('reads finality with two more requests', async () => {
    liar.asked.length = 0
    const { blockchainProof } = await judge(kept, reader(liar), {
      finality: true,
    })
    expect(['included', 'safe', 'finalized']).toContain(blockchainProof?.finality)
    expect(liar.asked).toHaveLength(4)
  })

  test('a lying node can hide a revocation, hence quorums and proofs', async () => {
    LIES[0]?.[1]()
    expect((await judge(revoked, reader(liar))).status).toBe('valid')
    const proving = createProvingReader(provider(liar.url), registry)
    expect((await judge(revoked, proving)).status).toBe('revoked')
    LIES[1]?.[1]()
    expect(await codeOf(revoked, proving)).toBe('proof_invalid')
  })

  test('refuses a node of another chain, without a registry, or behind', async () => {
    tell((told) => ({ ...told, chainId: 1 }))
    expect(await codeOf(kept, reader(liar))).toBe('wrong_chain')
    liar.change = (_, result) => (typeof result === 'string' ? '0x' : result)
    expect(await codeOf(kept, reader(liar))).toBe('no_registry')
    behind(honest[0], 4)
    const now = Math.floor(Date.now() / 1000) + 3 * DAY
    const stale = { now, maxHeadAge: 900 }
    expect(await codeOf(kept, reader(honest[0]), stale)).toBe('head_stale')
    expect(await codeOf(kept, reader(honest[1]), stale)).toBe('read')
  })
})

describe('two of three nodes must agree', () => {
  test('is valid when they do', async () => {
    expect((await judge(kept, twoOfThree())).valid).toBe(true)
    const { blockchainProof } = await judge(kept, twoOfThree(), {
      finality: true,
    })
    expect(blockchainProof).toMatchObject({
      transactionHash: expect.stringMatching(/^0x/),
      finality: expect.any(String),
    })
  })

  test.each(LIES)('a lie changes nothing: %s', async (_, lie) => {
    const truth = await Promise.all([
      judge(kept, reader(honest[0])),
      judge(revoked, reader(honest[0])),
    ])
    lie()
    expect(await Promise.all([judge(kept, twoOfThree()), judge(revoked, twoOfThree())])).toEqual(
      truth,
    )
  })

  test.each<[string, () => void]>([
    ['of another chain', () => tell((told) => ({ ...told, chainId: 1 }))],
    [
      'without a registry',
      () => {
        liar.change = () => '0x'
      },
    ],
    [
      'that refuses',
      () => {
        liar.fail = () => ({ code: -32005, message: 'limit exceeded' })
      },
    ],
    [
      'that is down',
      () => {
        liar.refuse = () => true
      },
    ],
  ])('a node %s changes nothing', async (_, trouble) => {
    trouble()
    expect((await judge(revoked, twoOfThree())).status).toBe('revoked')
    expect((await judge(kept, twoOfThree())).status).toBe('valid')
  })

  test('a forged log changes nothing', async () => {
    const truth = await judge(kept, reader(honest[0]))
    liar.change = (method, result) =>
      method === 'eth_getLogs'
        ? (result as object[]).map((log) => ({
            ...log,
            transactionHash: `0x${'66'.repeat(32)}`,
          }))
        : result
    expect(await judge(kept, twoOfThree())).toEqual(truth)
    const { status, checks, blockchainProof } = await judge(kept, both())
    expect([status, checks.at(-1)?.code, blockchainProof?.blockHash]).toEqual([
      'valid',
      'endpoints_disagree',
      null,
    ])
  })

  test('a lie about finality changes nothing', async () => {
    const finality = async (chain: ChainReader) =>
      (await judge(kept, chain, { finality: true })).blockchainProof?.finality
    const truth = await finality(reader(honest[0]))
    for (const number of ['0xfffffff', '0x0']) {
      liar.change = (method, result) =>
        method === 'eth_getBlockByNumber' ? { ...(result as object), number } : result
      const lie = number === '0x0' ? 'included' : 'finalized'
      expect(await finality(reader(liar))).toBe(lie)
      expect(await finality(twoOfThree())).toBe(truth)
    }
  })

  test('one head that is behind changes nothing', async () => {
    behind(honest[0], (await head()) - before)
    expect(await judge(revoked, twoOfThree())).toMatchObject({
      status: 'revoked',
      asOf: { blockNumber: await head() },
    })
  })

  test('survives a lie about the head and one head that is behind', async () => {
    tell((told) => ({ ...told, blockNumber: 1e7, blockTime: 4e9 }))
    behind(honest[0], 1)
    expect(await judge(revoked, twoOfThree())).toMatchObject({
      status: 'revoked',
      asOf: { blockNumber: (await head()) - 1 },
    })
  })
})

describe('both of two nodes must agree', () => {
  test.each(LIES)('%s', async (_, lie) => {
    lie()
    expect(await judge(revoked, both())).toEqual({
      valid: false,
      status: 'unverifiable',
      document: null,
      blockchainProof: null,
      checks: [{ check: 'chain', outcome: 'unknown', code: 'endpoints_disagree' }],
      asOf: null,
    })
  })

  test('reads the block that both have when one head is a little behind', async () => {
    behind(honest[0], 2)
    expect(await judge(revoked, both())).toMatchObject({
      status: 'revoked',
      asOf: { blockNumber: (await head()) - 2 },
    })
  })

  test('refuses a head days behind, which could hide a revocation', async () => {
    behind(honest[0], (await head()) - before)
    expect(await codeOf(revoked, both())).toBe('endpoints_disagree')
    expect(await judge(revoked, both(30 * DAY))).toMatchObject({
      status: 'valid',
      asOf: { blockNumber: before },
    })
  })

  test('reports one node down, both down, and both of another chain', async () => {
    liar.refuse = () => true
    expect(await codeOf(kept, both())).toBe('rpc_unreachable')
    honest[0].fault = () => ({ kind: 'status', status: 503 })
    expect(await codeOf(kept, both())).toBe('rpc_unreachable')
    liar.refuse = () => false
    tell((told) => ({ ...told, chainId: 1 }))
    const wrong = createQuorumReader([reader(liar), reader(liar)], 2)
    expect(await codeOf(kept, wrong)).toBe('wrong_chain')
  })

  test('refuses readers of two registries, none, a repeated one, and an impossible quorum', () => {
    const other = createChainReader(provider(liar.url), `eip155:1:0x${'0'.repeat(40)}`)
    const one = reader(liar)
    expect(() => createQuorumReader([one, other], 1)).toThrow(TypeError)
    expect(() => createQuorumReader([], 0)).toThrow(TypeError)
    expect(() => createQuorumReader([one, one], 2)).toThrow(TypeError)
    for (const quorum of [0, 2, 0.5, Number.NaN])
      expect(() => createQuorumReader([one], quorum)).toThrow(TypeError)
  })
})

describe('nodes that have pruned their history', () => {
  const prune = async (...proxies: FaultProxy[]) => {
    const newest = await head()
    for (const proxy of proxies) proxy.fault = prunedHistory(proxy, newest)
  }
  const PRUNED = { check: 'event', outcome: 'unknown', code: 'pruned' }
  const ofEvent = ({ checks }: { checks: Check[] }) => checks.at(-1)

  test('decide by the state alone, also about a revocation', async () => {
    await prune(honest[0])
    for (const [publicId, status] of [
      [kept, 'valid'],
      [revoked, 'revoked'],
      [lapsed, 'expired'],
    ] as const) {
      const verdict = await judge(publicId, reader(honest[0]))
      expect(verdict.status).toBe(status)
      expect(ofEvent(verdict)).toEqual(PRUNED)
      expect(verdict.document).not.toBeNull()
      expect(verdict.blockchainProof).toMatchObject({
        transactionHash: null,
        blockNumber: expect.any(Number),
      })
    }
  })

  test('give the same otherwise with a proof, with finality or as of a block', async () => {
    await prune(honest[0])
    const { url } = honest[0]
    const chain = createProvingReader(provider(url), registry)
    const proven = await judge(kept, chain, { finality: true })
    expect(proven.checks[0]?.code).toBe('proven')
    expect(proven.status).toBe('valid')
    expect(proven.blockchainProof?.finality).not.toBeNull()
    expect(ofEvent(proven)).toEqual(PRUNED)
    const then = await judge(revoked, reader(honest[0]), { asOf: before })
    expect(then.status).toBe('valid')
  })

  test('make a bundle without an event, with the same verdict', async () => {
    await prune(honest[0])
    const bundle = await createBundle(kept, {
      provider: provider(honest[0].url),
      registry,
      blocks: [source()],
    })
    expect(bundle.unprovenEvent).toBeNull()
    const trustedBlocks = [readBundle(bundle).block.blockHash]
    const verdict = await verifyBundle(bundle, { registry, trustedBlocks })
    expect(verdict.status).toBe('valid')
  })

  test('give the event if enough of several have it', async () => {
    await prune(honest[0])
    const known = await judge(kept, twoOfThree())
    expect(ofEvent(known)?.code).toBe('agrees')
    await prune(honest[0], honest[1])
    const unknown = await judge(kept, twoOfThree())
    expect(unknown.status).toBe('valid')
    expect(ofEvent(unknown)).toEqual(PRUNED)
  })

  test('cannot prove an old header', async () => {
    await prune(honest[0])
    const bundle = createBundle(kept, {
      provider: provider(honest[0].url),
      registry,
      blocks: [source()],
      block: before,
    })
    await expect(bundle).rejects.toMatchObject({ code: 'state_unavailable' })
  })
})
