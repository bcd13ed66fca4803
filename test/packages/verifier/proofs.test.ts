import { keccak_256 } from '@noble/hashes/sha3.js'
import { describe, expect, test } from 'vitest'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { decodeRlp, encodeRlp } from '#verifier/proof/rlp.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import {
  anvil,
  before,
  codeOf,
  head,
  honest,
  judge,
  kept,
  provider,
  registry,
  source,
  useNodes,
} from './nodes.ts'

useNodes()

describe('proofs of nodes that omit something', () => {
  const bundleFrom = (change: Eip1193Provider['request']) =>
    createBundle(kept, {
      provider: { request: change },
      registry,
      blocks: [source()],
    })
  const node = () => provider(honest[0].url)
  const bundleOf = ({ url }: { url: string }, block?: number) =>
    createBundle(kept, {
      provider: provider(url),
      registry,
      blocks: [source()],
      ...(block !== undefined && { block }),
    })

  /**
   * The first node makes a block after each reading, and then has the older one no more, as often
   * as it is said.
   *
   * @param dropped The method that fails with it.
   * @returns The blocks that it was asked for with this method.
   */
  function forgetting(dropped: string, times: number): unknown[] {
    const asked: unknown[] = []
    let forgot = 0
    honest[0].answered = async ({ method }) => {
      if (method === 'eth_call' && forgot < times) await anvil.request('evm_mine')
    }
    honest[0].fault = ({ method, params }) => {
      if (method !== dropped) return undefined
      asked.push(params.find((p) => /^0x[0-9a-f]{1,8}$/.test(String(p))))
      const error = { code: -32000, message: 'missing trie node 8f3c' }
      return forgot++ < times ? { kind: 'refusal', error } : undefined
    }
    return asked
  }

  test("reads a header with fields of a later fork from the node's bytes", async () => {
    const good = await bundleFrom((args) => node().request(args))
    const { header } = good.stateProof
    const later = async (raw: unknown, args: Parameters<Eip1193Provider['request']>[0]) => {
      if (args.method === 'debug_getRawHeader') return raw
      const result = await node().request(args)
      return args.method === 'eth_getBlockByNumber'
        ? { ...(result as object), requestsHash: undefined }
        : result
    }
    expect(await bundleFrom((args) => later(header, args))).toEqual(good)
    for (const raw of [null, '0xc0', 'x'])
      await expect(bundleFrom((args) => later(raw, args))).rejects.toMatchObject({
        code: 'proof_unavailable',
      })
  })

  test('reads again when header and proof are of different branches', async () => {
    let asked = 0
    const reorganised = (times: number) => {
      asked = 0
      return bundleFrom(async ({ method, params = [] }) => {
        if (method !== 'eth_getProof') return node().request({ method, params })
        const now = asked++ < times ? `0x${before.toString(16)}` : params[2]
        return node().request({ method, params: [params[0], params[1], now] })
      })
    }
    const bundle = await reorganised(1)
    expect(asked).toBe(2)
    const trustedBlocks = [readBundle(bundle).block.blockHash]
    expect(await verifyBundle(bundle, { registry, trustedBlocks })).toMatchObject({
      status: 'valid',
      asOf: { blockNumber: await head() },
    })
    await expect(reorganised(Infinity)).rejects.toMatchObject({
      code: 'proof_invalid',
    })
    expect(asked).toBe(5)
  })

  test('starts again at a newer block when the node has dropped the first state', async () => {
    for (const dropped of ['eth_getProof', 'eth_getBlockByNumber'])
      for (const times of [1, 4]) {
        const asked = forgetting(dropped, times)
        const bundle = await bundleOf(honest[0])
        expect(readBundle(bundle).block.blockNumber).toBe(await head())
        expect(asked).toHaveLength(times + 1)
        expect(new Set(asked).size).toBe(times + 1)
      }
    forgetting('eth_getProof', 1)
    const proving = createProvingReader(provider(honest[0].url), registry)
    const { status, asOf } = await judge(kept, proving)
    expect([status, asOf?.blockNumber]).toEqual(['valid', await head()])
  })

  test('gives up on a node that drops every state', async () => {
    const asked = forgetting('eth_getProof', Infinity)
    await expect(bundleOf(honest[0])).rejects.toMatchObject({
      code: 'state_unavailable',
    })
    expect(asked).toHaveLength(5)
  })

  test('never uses another block than the requested one', async () => {
    const block = await head()
    const asked = forgetting('eth_getProof', 1)
    await expect(bundleOf(honest[0], block)).rejects.toMatchObject({
      code: 'state_unavailable',
    })
    expect(asked).toEqual([`0x${block.toString(16)}`])
  })

  test('refuses header and proof of a block older than the record', async () => {
    const older = (p: unknown) =>
      /^0x[0-9a-f]{1,8}$/.test(String(p)) ? `0x${before.toString(16)}` : p
    await expect(
      bundleFrom(({ method, params = [] }) =>
        node().request({ method, params: params.map(older) }),
      ),
    ).rejects.toMatchObject({ code: 'state_unavailable' })
  })

  test('accepts embedded nodes, which some clients list again', async () => {
    const good = await bundleFrom((args) => node().request(args))
    const other = await bundleFrom(async (args) => {
      const answer = (await node().request(args)) as {
        accountProof: Hex[]
        storageProof: { proof: Hex[] }[]
      }
      if (args.method !== 'eth_getProof') return answer
      answer.accountProof.push('0xc22005')
      for (const { proof } of answer.storageProof) proof.push('0xC22005' as Hex)
      return answer
    })
    expect(other).toEqual(good)
  })

  test('refuses a block of the same number and state that is not of the chain', async () => {
    const { header } = (await bundleFrom((args) => node().request(args))).stateProof
    const fields = decodeRlp(fromHex(header)) as Uint8Array[]
    const extraData = '0x01'
    const hash = toHex(keccak_256(encodeRlp(fields.with(12, fromHex(extraData)))))
    const forger: Eip1193Provider = {
      async request(args) {
        const result = await node().request(args)
        return args.method === 'eth_getBlockByNumber'
          ? { ...(result as object), extraData, hash }
          : result
      },
    }
    const proving = (one: Eip1193Provider) => createProvingReader(one, registry)
    const forged = proving(forger)
    expect((await judge(kept, forged)).asOf?.blockHash).toBe(hash)
    const two = createQuorumReader([forged, proving(node())], 2)
    expect(await codeOf(kept, two)).toBe('endpoints_disagree')
    const nodes = [node(), provider(honest[1].url)].map(proving)
    const three = createQuorumReader([forged, ...nodes], 2)
    expect((await judge(kept, three)).asOf?.blockHash).toBe(toHex(keccak_256(fromHex(header))))
  })

  test('omits an event that does not agree', async () => {
    const good = await bundleFrom((args) => node().request(args))
    expect(good.unprovenEvent).not.toBeNull()
    const [log] = (await node().request({
      method: 'eth_getLogs',
      params: [{ blockHash: good.unprovenEvent?.blockHash }],
    })) as [object]
    for (const logs of [
      null,
      [],
      [{}],
      [{ ...log, topics: [] }],
      [{ ...log, transactionHash: '0x' }],
      [{ ...log, address: `0x${'5a'.repeat(20)}` }],
      [log, {}],
    ]) {
      const bundle = await bundleFrom(async (args) =>
        args.method === 'eth_getLogs' ? logs : node().request(args),
      )
      expect(readBundle(bundle).bundle).toEqual({
        ...good,
        unprovenEvent: null,
      })
    }
    expect(
      await bundleFrom(async (args) =>
        args.method === 'eth_getLogs' ? [{}, log] : node().request(args),
      ),
    ).toEqual(good)
  })

  test.each<[string, string, unknown, string]>([
    ['no block', 'eth_getBlockByNumber', null, 'state_unavailable'],
    ['no proof', 'eth_getProof', null, 'proof_invalid'],
    ['a proof of nothing', 'eth_getProof', {}, 'proof_invalid'],
    [
      'nodes that are none',
      'eth_getProof',
      { accountProof: ['x'], storageProof: [] },
      'proof_invalid',
    ],
    [
      'slots that are none',
      'eth_getProof',
      { accountProof: [], storageProof: [null] },
      'proof_invalid',
    ],
  ])('%s', async (_, method, answer, code) => {
    await expect(
      bundleFrom((args) =>
        args.method === method ? Promise.resolve(answer) : node().request(args),
      ),
    ).rejects.toMatchObject({ code })
  })
})
