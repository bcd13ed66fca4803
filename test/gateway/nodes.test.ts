import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Document, validUntilOf } from '../../document/document.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '../../document/keys.ts'
import { encodePublicId } from '../../document/public-id.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { seal } from '../../document/sealed.ts'
import { registryAbi } from '../../gateway/registry-abi.ts'
import { startLocalChain } from '../../local-chain/local-chain.ts'
import { createBundle, readBundle, verifyBundle } from '../../verifier/bundle.ts'
import type { BlockSource, ChainReader, Eip1193Provider } from '../../verifier/ports.ts'
import { decodeRlp, encodeRlp } from '../../verifier/proof/rlp.ts'
import { createChainReader } from '../../verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '../../verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '../../verifier/readers/json-rpc.ts'
import { createProvingReader } from '../../verifier/readers/proof.ts'
import { createQuorumReader } from '../../verifier/readers/quorum.ts'
import type { Check } from '../../verifier/verdict.ts'
import { type VerifyOptions, verify } from '../../verifier/verify.ts'
import { type AnvilNode, startAnvilNode } from '../support/anvil.ts'
import { type BlockServer, startBlockServer } from '../support/block-server.ts'
import { type FaultProxy, prunedHistory, startFaultProxy } from '../support/fault-proxy.ts'
import { serveHttp } from '../support/http.ts'
import { patient } from '../support/patient.ts'
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts'
import { ADA, randomKey } from '../support/stack.ts'
import { deployRegistry, transact } from '../support/transact.ts'

// Three nodes of one chain: two that can be behind, slow or down, and one that can lie.

const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey() }
const dir = mkdtempSync(join(tmpdir(), 'nodes-'))
const DAY = 86_400

let anvil: AnvilNode
let blocks: BlockServer
let registry: RegistryId
let honest: [FaultProxy, FaultProxy]
let liar: RpcProxy
/** Never revoked. */
let kept: string
let revoked: string
/** Of which the last day has passed at the newest block. */
let lapsed: string
/** The block before the revocation, days before the newest. */
let before: number

const send = (name: string, args: unknown[], key = keys.issuer) =>
  transact(patient(createFetchProvider(anvil.url)), registry, key, name, args)

async function issue(fields: object = {}): Promise<string> {
  const document: Document = { ...ADA, ...fields, registry, issuerId: 1 }
  const sealing = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
  const { bytes, documentHash: hash } = await seal(document, sealing)
  blocks.set(hash, bytes)
  await send('issue', [1, hash, validUntilOf(document)])
  hashes.set(bytes, toHex(hash))
  return encodePublicId({
    kind: 'single',
    issuerId: 1,
    hash,
    documentKey: sealing.documentKey,
  })
}
const hashes = new Map<Uint8Array, Hex>()

beforeAll(async () => {
  anvil = await startAnvilNode(dir)
  for (const key of Object.values(keys))
    await anvil.request('anvil_setBalance', new Wallet(key).address, '0x56bc75e2d63100000')
  registry = await deployRegistry(patient(createFetchProvider(anvil.url)), keys, {
    name: 'Registry office of Testville',
    uri: 'https://testville.example',
  })
  blocks = await startBlockServer()
  const [proxy, other] = [await startFaultProxy(anvil.url), await startFaultProxy(anvil.url)]
  honest = [proxy, other]
  liar = await startRpcProxy(anvil.url)
  kept = await issue({ expiresAt: '2090-01-01' })
  revoked = await issue()
  const revokedHash = [...hashes.values()][1]
  lapsed = await issue({
    expiresAt: new Date().toISOString().slice(0, 10),
  })
  before = Number(await anvil.request<Hex>('eth_blockNumber'))
  await anvil.request('evm_increaseTime', 3 * DAY)
  await send('revoke', [1, revokedHash, 1])
  await anvil.request('anvil_mine', '0x3')
})

afterEach(() => {
  for (const proxy of honest) proxy.heal()
  liar.change = (_, result) => result
  liar.refuse = () => false
  liar.fail = () => undefined
})

afterAll(async () => {
  // Also after a start that failed half-way.
  await anvil?.kill()
  for (const server of [...(honest ?? []), liar, blocks]) await server?.close()
  rmSync(dir, { recursive: true, force: true })
})

const provider = (url: string): Eip1193Provider => createFetchProvider(url, 2_000)
const reader = ({ url }: { url: string }) => createChainReader(provider(url), registry)
const source = (): BlockSource => createIpfsGatewaySource(blocks.url)
const judge = (publicId: string, chain: ChainReader, options: Partial<VerifyOptions> = {}) =>
  verify(publicId, { chain, blocks: [source()], ...options })
const codeOf = async (...args: Parameters<typeof judge>) => (await judge(...args)).checks[0]?.code

const twoOfThree = () => createQuorumReader([reader(liar), ...honest.map(reader)], 2)
const both = (maxLag?: number) =>
  createQuorumReader([reader(liar), reader(honest[0])], 2, {
    ...(maxLag !== undefined && { maxLag }),
  })
const behind = (proxy: FaultProxy, count: number) => {
  proxy.fault = () => ({ kind: 'stale_head', blocks: count })
}
const head = async () => Number(await anvil.request<Hex>('eth_blockNumber'))

type Part = Record<string, unknown>
type Told = Part & Record<'record' | 'account' | 'revoker' | 'issuer', Part>
/** The liar's answers to `verificationOf`, well-formed and false. */
function tell(change: (told: Told) => object): void {
  liar.change = (method, result) => {
    if (method !== 'eth_call') return result
    const [told] = registryAbi.decodeFunctionResult('verificationOf', String(result))
    const lie = change(told.toObject(true) as Told)
    return registryAbi.encodeFunctionResult('verificationOf', [lie])
  }
}
/** As the registry answers where there is none. */
const zeros = (part: Part): Part =>
  Object.fromEntries(Object.entries(part).map(([name, value]) => [name, zeroOf(name, value)]))
function zeroOf(name: string, value: unknown): unknown {
  if (name === 'account') return `0x${'00'.repeat(20)}`
  return typeof value === 'string' ? '' : typeof value === 'boolean' ? false : 0
}
const NOT_REVOKED = {
  revokerIndex: 0,
  revokedBlock: 0,
  revokedAt: 0,
  reason: 0,
}
const LIES: [string, () => void][] = [
  [
    'a revocation hidden',
    () =>
      tell((told) => ({
        ...told,
        status: 1,
        record: { ...told.record, ...NOT_REVOKED },
        revoker: zeros(told.revoker),
      })),
  ],
  [
    'a record hidden',
    () =>
      tell((told) => ({
        ...told,
        status: 0,
        record: zeros(told.record),
        account: zeros(told.account),
        revoker: zeros(told.revoker),
        issuer: zeros(told.issuer),
      })),
  ],
  [
    'a revocation made up',
    () =>
      tell((told) => ({
        ...told,
        status: 4,
        record: {
          ...told.record,
          ...{ revokerIndex: told.record.accountIndex, revokedBlock: 9 },
          reason: 1,
        },
        revoker: told.account,
      })),
  ],
  [
    'a suspension in the place of a revocation',
    () =>
      tell((told) => ({
        ...told,
        status: 3,
        record: {
          ...told.record,
          ...{ revokerIndex: told.record.accountIndex, revokedBlock: 9 },
          reason: 6,
        },
        revoker: told.account,
      })),
  ],
  [
    'another issuer',
    () =>
      tell((told) => ({
        ...told,
        issuer: { ...told.issuer, name: 'Somebody else' },
      })),
  ],
  [
    'an account that was there before',
    () =>
      tell((told) => {
        const account = { ...told.account, addedBlock: 1 }
        const isRevoked = told.record.revokedBlock !== 0n
        return { ...told, account, ...(isRevoked && { revoker: account }) }
      }),
  ],
  [
    'a revocation set aside',
    () => tell((told) => ({ ...told, record: { ...told.record, setAside: true } })),
  ],
  ['a block that is not there', () => tell((told) => ({ ...told, blockNumber: 10_000_000 }))],
  ['another time', () => tell((told) => ({ ...told, blockTime: 1 }))],
]

describe('trusting one node', () => {
  test('default: makes one eth_call, one eth_getLogs of one block and one fetch of the block', async () => {
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

  test('args: reads finality for two more requests', async () => {
    liar.asked.length = 0
    const { blockchainProof } = await judge(kept, reader(liar), {
      finality: true,
    })
    expect(['included', 'safe', 'finalized']).toContain(blockchainProof?.finality)
    expect(liar.asked).toHaveLength(4)
  })

  test('behavior: a lying node can hide a revocation, hence quorums and proofs', async () => {
    LIES[0]?.[1]()
    expect((await judge(revoked, reader(liar))).status).toBe('valid')
    const proving = createProvingReader(provider(liar.url), registry)
    expect((await judge(revoked, proving)).status).toBe('revoked')
    LIES[1]?.[1]()
    expect(await codeOf(revoked, proving)).toBe('proof_invalid')
  })

  test('error: refuses a node of another chain, without a registry, or behind', async () => {
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
  test('default: is valid when they do', async () => {
    expect((await judge(kept, twoOfThree())).valid).toBe(true)
    const { blockchainProof } = await judge(kept, twoOfThree(), {
      finality: true,
    })
    expect(blockchainProof).toMatchObject({
      transactionHash: expect.stringMatching(/^0x/),
      finality: expect.any(String),
    })
  })

  test.each(LIES)('behavior: a lie changes nothing: %s', async (_, lie) => {
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
  ])('behavior: a node %s changes nothing', async (_, trouble) => {
    trouble()
    expect((await judge(revoked, twoOfThree())).status).toBe('revoked')
    expect((await judge(kept, twoOfThree())).status).toBe('valid')
  })

  test('behavior: a forged log changes nothing', async () => {
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

  test('behavior: a lie about finality changes nothing', async () => {
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

  test('behavior: one head that is behind changes nothing', async () => {
    behind(honest[0], (await head()) - before)
    expect(await judge(revoked, twoOfThree())).toMatchObject({
      status: 'revoked',
      asOf: { blockNumber: await head() },
    })
  })

  test('behavior: a lie about the head and one head that is behind', async () => {
    tell((told) => ({ ...told, blockNumber: 1e7, blockTime: 4e9 }))
    behind(honest[0], 1)
    expect(await judge(revoked, twoOfThree())).toMatchObject({
      status: 'revoked',
      asOf: { blockNumber: (await head()) - 1 },
    })
  })
})

describe('both of two nodes must agree', () => {
  test.each(LIES)('error: %s', async (_, lie) => {
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

  test('behavior: reads the block that both have when one head is a little behind', async () => {
    behind(honest[0], 2)
    expect(await judge(revoked, both())).toMatchObject({
      status: 'revoked',
      asOf: { blockNumber: (await head()) - 2 },
    })
  })

  test('error: refuses a head days behind, which could hide a revocation', async () => {
    behind(honest[0], (await head()) - before)
    expect(await codeOf(revoked, both())).toBe('endpoints_disagree')
    expect(await judge(revoked, both(30 * DAY))).toMatchObject({
      status: 'valid',
      asOf: { blockNumber: before },
    })
  })

  test('error: reports one node down, both down, and both of another chain', async () => {
    liar.refuse = () => true
    expect(await codeOf(kept, both())).toBe('rpc_unreachable')
    honest[0].fault = () => ({ kind: 'status', status: 503 })
    expect(await codeOf(kept, both())).toBe('rpc_unreachable')
    liar.refuse = () => false
    tell((told) => ({ ...told, chainId: 1 }))
    const wrong = createQuorumReader([reader(liar), reader(liar)], 2)
    expect(await codeOf(kept, wrong)).toBe('wrong_chain')
  })

  test('error: refuses readers of two registries, none, one twice, and an impossible quorum', () => {
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

  test('default: the state alone decides, also about a revocation', async () => {
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

  test('behavior: changes nothing else with a proof, with finality or as of a block', async () => {
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

  test('behavior: makes a bundle without an event, with the same verdict', async () => {
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

  test('behavior: takes the event from several nodes if enough have it', async () => {
    await prune(honest[0])
    const known = await judge(kept, twoOfThree())
    expect(ofEvent(known)?.code).toBe('agrees')
    await prune(honest[0], honest[1])
    const unknown = await judge(kept, twoOfThree())
    expect(unknown.status).toBe('valid')
    expect(ofEvent(unknown)).toEqual(PRUNED)
  })

  test('error: cannot prove a header of the pruned past', async () => {
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

describe('as of a block', () => {
  const past = (publicId: string, asOf = before) => judge(publicId, reader(honest[0]), { asOf })

  test('default: judges by the state and the time of that block', async () => {
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

  test('behavior: ignores the clock and the age of the block', async () => {
    const late = { now: 9_999_999_999, maxHeadAge: 1 }
    const verdict = await judge(kept, reader(honest[0]), {
      ...late,
      asOf: before,
    })
    expect(verdict.status).toBe('valid')
  })

  test('behavior: agrees for two of three nodes, and with a proof', async () => {
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

  test('behavior: makes a bundle of that block, and one of now', async () => {
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

  test('error: refuses anything but a block number', async () => {
    for (const asOf of [-1, 0.5, Number.NaN, 2 ** 60])
      await expect(past(kept, asOf)).rejects.toThrow(TypeError)
  })

  test('error: refuses a clock or an age that is not a number', async () => {
    for (const name of ['now', 'maxHeadAge'])
      await expect(judge(lapsed, reader(honest[0]), { [name]: Number.NaN })).rejects.toThrow(
        TypeError,
      )
  })

  test('error: rejects an asOf that is later than the head', async () => {
    const future = (await head()) + 1
    expect((await past(kept, future)).checks).toEqual([
      { check: 'chain', outcome: 'unknown', code: 'state_unavailable' },
    ])
  })

  test('error: reports a block before the registry was deployed', async () => {
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
  ])('error: reports a node that answers %i, %s', async (code, message, told) => {
    liar.fail = () => ({ code, message })
    expect(await codeOf(kept, reader(liar), { asOf: before })).toBe(told)
    expect(await codeOf(kept, reader(liar))).toBe('rpc_error')
  })

  test('error: refuses a node that answers for the newest block instead', async () => {
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

  test('error: refuses a node that proves an older block instead, before the revocation', async () => {
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

  test('error: reports a real node that keeps ten states', async () => {
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

describe('abort, time-outs and progress', () => {
  const slow = () => {
    for (const proxy of honest) proxy.fault = () => ({ kind: 'delay', milliseconds: 60_000 })
  }

  test('behavior: asks nobody if it was aborted before', async () => {
    liar.asked.length = 0
    const reason = new Error('enough')
    const signal = AbortSignal.abort(reason)
    await expect(judge(kept, reader(liar), { signal })).rejects.toBe(reason)
    expect(liar.asked).toEqual([])
  })

  test.each<[string, () => ChainReader]>([
    ['one node', () => reader(honest[0])],
    ['two of three', () => createQuorumReader(honest.map(reader), 2)],
    ['a proof', () => createProvingReader(provider(honest[0].url), registry)],
  ])('behavior: aborted while %s does not answer', async (_, chain) => {
    slow()
    const controller = new AbortController()
    const reason = new Error('enough')
    const running = judge(kept, chain(), { signal: controller.signal })
    controller.abort(reason)
    await expect(running).rejects.toBe(reason)
  })

  test('behavior: can be aborted while a block does not come', async () => {
    const controller = new AbortController()
    const never: BlockSource = {
      get: () => {
        controller.abort(new Error('enough'))
        return new Promise(() => {})
      },
    }
    await expect(
      judge(kept, reader(liar), {
        blocks: [never],
        signal: controller.signal,
      }),
    ).rejects.toThrow('enough')
  })

  test('error: gives up on a node that takes too long', async () => {
    slow()
    const impatient = createChainReader(createFetchProvider(honest[0].url, 50), registry)
    expect(await codeOf(kept, impatient)).toBe('rpc_unreachable')
  })

  test('error: gives up on a node that never ends its answer', async () => {
    let sent = 0
    const endless = await serveHttp((_, response) => {
      const chunk = Buffer.alloc(2 ** 20, ' ')
      const more = () => {
        while (sent < 2 ** 28 && !response.closed) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
        response.end()
      }
      response.on('drain', more)
      more()
    })
    const chain = createChainReader(createFetchProvider(endless.url, 60_000), registry)
    expect(await codeOf(kept, chain)).toBe('rpc_unreachable')
    await endless.close()
    expect(sent).toBeLessThan(2 ** 27)
  })

  test('behavior: leaves a source that takes too long for the next', async () => {
    const silent = await serveHttp(() => {})
    const verdict = await judge(kept, reader(liar), {
      blocks: [createIpfsGatewaySource(silent.url, 50), source()],
    })
    await silent.close()
    expect(verdict.status).toBe('valid')
  })

  test('behavior: reports each check once, those of the record first', async () => {
    for (const publicId of [kept, revoked]) {
      const told: Check[] = []
      const { checks } = await judge(publicId, reader(liar), {
        onCheck: (check) => told.push(check),
      })
      expect(told).toHaveLength(checks.length)
      expect(new Set(told)).toEqual(new Set(checks))
      const ofRecord = checks.filter(({ check }) => check !== 'identity')
      expect(told.slice(0, 6)).toEqual(ofRecord.slice(0, 6))
    }
  })
})

describe('proofs of nodes that leave something out', () => {
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

  test("behavior: reads a header with fields of a later fork from the node's bytes", async () => {
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

  test('behavior: reads again when header and proof are of different branches', async () => {
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

  test('behavior: starts again at a newer block when the node has dropped the state of the first', async () => {
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

  test('error: gives up on a node that drops every state', async () => {
    const asked = forgetting('eth_getProof', Infinity)
    await expect(bundleOf(honest[0])).rejects.toMatchObject({
      code: 'state_unavailable',
    })
    expect(asked).toHaveLength(5)
  })

  test('error: never takes another block than the one asked for', async () => {
    const block = await head()
    const asked = forgetting('eth_getProof', 1)
    await expect(bundleOf(honest[0], block)).rejects.toMatchObject({
      code: 'state_unavailable',
    })
    expect(asked).toEqual([`0x${block.toString(16)}`])
  })

  test('error: refuses header and proof of a block older than the record', async () => {
    const older = (p: unknown) =>
      /^0x[0-9a-f]{1,8}$/.test(String(p)) ? `0x${before.toString(16)}` : p
    await expect(
      bundleFrom(({ method, params = [] }) =>
        node().request({ method, params: params.map(older) }),
      ),
    ).rejects.toMatchObject({ code: 'state_unavailable' })
  })

  test('behavior: accepts embedded nodes, which some clients list again', async () => {
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

  test('behavior: refuses a block of the same number and state that is not of the chain', async () => {
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

  test('behavior: leaves out an event that does not agree', async () => {
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
  ])('error: %s', async (_, method, answer, code) => {
    await expect(
      bundleFrom((args) =>
        args.method === method ? Promise.resolve(answer) : node().request(args),
      ),
    ).rejects.toMatchObject({ code })
  })
})
