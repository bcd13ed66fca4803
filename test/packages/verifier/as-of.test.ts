import { join } from 'node:path'
import { Wallet } from 'ethers'
import { describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { startLocalChain } from '#local-chain/local-chain.ts'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { deployRegistry, transact } from '../../support/transact.ts'
import {
  before,
  both,
  codeOf,
  dir,
  head,
  honest,
  judge,
  kept,
  keys,
  LIES,
  lapsed,
  liar,
  provider,
  reader,
  registry,
  revoked,
  source,
  twoOfThree,
  useNodes,
} from './nodes.ts'

useNodes()

describe('a verdict as of a block', () => {
  const past = (publicId: string, asOf = before) => judge(publicId, reader(honest[0]), { asOf })

  test('uses the state and the time of that block', async () => {
    for (const [publicId, now] of [
      [kept, 'valid'],
      [revoked, 'revoked'],
      [lapsed, 'expired'],
    ] as const) {
      expect((await judge(publicId, reader(honest[0]))).status).toBe(now)
      expect(await past(publicId)).toMatchObject({
        status: 'valid',
        asOf: { blockNumber: before },
      })
      expect((await past(publicId, before - 3)).status).toBe('not_issued')
    }
  })

  test('ignores the clock and the age of the block', async () => {
    const late = { now: 9_999_999_999, maxHeadAge: 1 }
    const verdict = await judge(kept, reader(honest[0]), {
      ...late,
      asOf: before,
    })
    expect(verdict.status).toBe('valid')
  })

  test('agrees for two of three nodes, and with a proof', async () => {
    LIES[1]?.[1]()
    const options = { asOf: before }
    expect((await judge(revoked, twoOfThree(), options)).status).toBe('valid')
    expect(await codeOf(revoked, both(), options)).toBe('endpoints_disagree')
    const proving = createProvingReader(provider(honest[0].url), registry)
    expect(await judge(revoked, proving, options)).toMatchObject({
      status: 'valid',
      asOf: { blockNumber: before, blockHash: expect.stringMatching(/^0x/) },
    })
  })

  test('makes a bundle of that block, and one of the newest', async () => {
    for (const [publicId, now] of [
      [revoked, 'revoked'],
      [lapsed, 'expired'],
    ] as const) {
      const bundleOf = (block?: number) =>
        createBundle(publicId, {
          provider: provider(honest[0].url),
          registry,
          blocks: [source()],
          ...(block !== undefined && { block }),
        })
      const outcome = async (block?: number) => {
        const bundle = await bundleOf(block)
        const trustedBlocks = [readBundle(bundle).block.blockHash]
        return verifyBundle(bundle, { registry, trustedBlocks })
      }
      expect(await outcome(before)).toMatchObject({
        status: 'valid',
        asOf: { blockNumber: before },
      })
      expect((await outcome()).status).toBe(now)
    }
  })

  test('refuses anything but a block number', async () => {
    for (const asOf of [-1, 0.5, Number.NaN, 2 ** 60])
      await expect(past(kept, asOf)).rejects.toThrow(TypeError)
  })

  test('refuses a clock or an age that is not a number', async () => {
    for (const name of ['now', 'maxHeadAge'])
      await expect(judge(lapsed, reader(honest[0]), { [name]: Number.NaN })).rejects.toThrow(
        TypeError,
      )
  })

  test('rejects an asOf that is later than the head', async () => {
    const future = (await head()) + 1
    expect((await past(kept, future)).checks).toEqual([
      { check: 'chain', outcome: 'unknown', code: 'state_unavailable' },
    ])
  })

  test('reports a block before the registry was deployed', async () => {
    expect((await past(kept, 1)).checks[0]?.code).toBe('no_registry')
  })

  test.each([
    [-32000, 'missing trie node 8f3c (path ) <nil>', 'state_unavailable'],
    [-32000, 'header not found', 'state_unavailable'],
    [-32001, 'resource not found', 'state_unavailable'],
    [-32602, 'BlockOutOfRangeError', 'state_unavailable'],
    [-32603, 'historical state is not available', 'state_unavailable'],
    [-32005, 'limit exceeded', 'rpc_error'],
    [-32601, 'method not found', 'rpc_error'],
    [3, 'execution reverted', 'rpc_error'],
  ])('reports a node that answers %i, %s', async (code, message, told) => {
    liar.fail = () => ({ code, message })
    expect(await codeOf(kept, reader(liar), { asOf: before })).toBe(told)
    expect(await codeOf(kept, reader(liar))).toBe('rpc_error')
  })

  test('refuses a node that answers for the newest block instead', async () => {
    const { url } = liar
    const deaf: Eip1193Provider = {
      request: ({ method, params = [] }) =>
        provider(url).request({
          method,
          params: params.map((p) => (method === 'eth_call' && p === quantity ? 'latest' : p)),
        }),
    }
    const quantity = `0x${before.toString(16)}`
    expect(
      await codeOf(revoked, createChainReader(deaf, registry), {
        asOf: before,
      }),
    ).toBe('state_unavailable')
  })

  test('refuses a node that proves an older block instead, before the revocation', async () => {
    const asOf = await head()
    const other: Eip1193Provider = {
      request: ({ method, params = [] }) =>
        provider(honest[0].url).request({
          method,
          params: params.map((p) =>
            p === `0x${asOf.toString(16)}` ? `0x${before.toString(16)}` : p,
          ),
        }),
    }
    const proving = createProvingReader(other, registry)
    expect(await codeOf(revoked, proving, { asOf })).toBe('state_unavailable')
    await expect(
      createBundle(revoked, {
        provider: other,
        registry,
        blocks: [source()],
        block: asOf,
      }),
    ).rejects.toMatchObject({ code: 'state_unavailable' })
  })

  test('reports a real node that keeps ten states', async () => {
    const chain = await startLocalChain({
      dataDir: join(dir, 'pruning'),
      port: 0,
      host: '127.0.0.1',
      log: () => {},
      fund: Object.values(keys).map((key) => new Wallet(key).address),
    })
    try {
      const local = createFetchProvider(chain.url)
      const issuer = { name: 'Pruned', uri: '' }
      const there = await deployRegistry(local, keys, issuer)
      const write = (byte: number) =>
        transact(local, there, keys.issuer, 'issue', [
          1,
          `0x${byte.toString(16).padStart(2, '0').repeat(32)}`,
          0,
        ])
      await write(1)
      const block = Number(await local.request({ method: 'eth_blockNumber' }))
      const chainReader = createChainReader(local, there)
      const documentHash: Hex = `0x${'01'.repeat(32)}`
      const key = { issuerId: 1, documentHash }
      expect((await chainReader.read(key, { block })).status).toBe('valid')
      for (let byte = 2; byte <= 14; byte++) await write(byte)
      await expect(chainReader.read(key, { block })).rejects.toMatchObject({
        code: 'state_unavailable',
      })
    } finally {
      await chain.stop()
    }
  })
})
