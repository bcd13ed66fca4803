import { sha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRpcPool, type RpcPool } from '#chain/rpc.ts'
import stateProofs from '#corpus/vectors/state-proofs.json' with { type: 'json' }
import { FormatError } from '#document/errors.ts'
import { toHex } from '#document/hex.ts'
import { encodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import { createBundle } from '#verifier/bundle.ts'
import { ChainError, RpcResponseError } from '#verifier/errors.ts'
import type { BlockSource, ChainReader, Eip1193Provider } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import { createQuorumReader } from '#verifier/readers/quorum.ts'
import { verify } from '#verifier/verify.ts'
import { jsonValue, mangled, mutated } from '../support/arbitraries.ts'
import { FIELDS, REGISTRY } from '../support/corpus/payload.ts'
import { serveHttp, type TestServer } from '../support/http.ts'
import { memoryNode, nodeWith, resultsFor } from './memory-node.ts'

// Any answer of a node or a gateway ends in a verdict, and functions that can be called alone end
// in a ChainError.

const documentKey = new Uint8Array(16).fill(7)
const { bytes: sealed, documentHash: hash } = await seal(
  { ...FIELDS, registry: REGISTRY, issuerId: 1 },
  { salt: new Uint8Array(16), documentKey, iv: new Uint8Array(12) },
)
const documentHash = toHex(hash)
const publicId = encodePublicId({
  kind: 'single',
  issuerId: 1,
  hash,
  documentKey,
})
const key = { issuerId: 1, documentHash }
const GOOD = resultsFor(documentHash)
const has: BlockSource = {
  get: async () => ({ status: 'found', bytes: sealed }),
}
const reader = (node: Eip1193Provider) => createChainReader(node, REGISTRY)

const judge = (chain: ChainReader, blocks: BlockSource[] = [has]) =>
  verify(publicId, { chain, blocks, finality: true })

/** The verdict about a good document is valid, or nothing is known. */
async function endsInVerdicts(node: Eip1193Provider): Promise<void> {
  const proving = createProvingReader(node, REGISTRY)
  const quorum = createQuorumReader([reader(node), reader(nodeWith(GOOD))], 2)
  for (const chain of [reader(node), proving, quorum]) {
    const { status, checks } = await judge(chain)
    expect(['valid', 'unverifiable']).toContain(status)
    expect(checks.map(({ code }) => code)).not.toContain('internal_error')
  }
  const asked = [
    reader(node).issuedEvent(key, 10),
    reader(node).finalityOf(10),
    reader(node).read(key, { block: 20 }),
    proving.read(key),
    createBundle(publicId, { provider: node, registry: REGISTRY, blocks: [] }),
  ]
  for (const settled of await Promise.allSettled(asked))
    if (settled.status === 'rejected') expect(settled.reason).toBeInstanceOf(ChainError)
}

const answer = (members: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, ...members })

describe('the answer itself', () => {
  test('an honest node leads to valid, with event and finality', async () => {
    const { status, blockchainProof } = await judge(reader(nodeWith(GOOD)))
    expect(status).toBe('valid')
    expect(blockchainProof).toMatchObject({
      logIndex: 3,
      finality: 'finalized',
    })
  })

  test('any text ends in a verdict', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      jsonValue.map((value) => JSON.stringify(value)),
      mangled(Buffer.from(answer({ result: GOOD.eth_call }))).map((bytes) =>
        Buffer.from(bytes).toString(),
      ),
    )
    await fc.assert(
      fc.asyncProperty(text, (one) => endsInVerdicts(memoryNode(() => one))),
      { numRuns: 200 },
    )
  })

  test('any result and any error, together or alone, end in a verdict', async () => {
    const members = fc.record({ result: jsonValue, error: jsonValue }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(members, (one) => endsInVerdicts(memoryNode(() => answer(one)))),
      { numRuns: 200 },
    )
  })

  const ERROR = { code: -32000, message: 'no' }
  test.each<[string, object]>([
    ['error false next to a result', { result: '0x1', error: false }],
    ['error 0', { result: '0x1', error: 0 }],
    ['an empty error text', { result: '0x1', error: '' }],
    ['an error text alone', { error: 'no' }],
    ['an error that is a list', { error: [ERROR] }],
    ['an error without a code', { error: { message: 'no' } }],
    ['an error without a message', { error: { code: -32000 } }],
    ['a code that is text', { error: { ...ERROR, code: '-32000' } }],
    ['a code that is not a whole number', { error: { ...ERROR, code: 1.5 } }],
    ['an error and a result', { result: '0x1', error: ERROR }],
    ['neither', {}],
    ['error null alone', { error: null }],
  ])('refuses %s as an answer', async (_, members) => {
    const node = memoryNode(() => answer(members))
    await expect(node.request({ method: 'x' })).rejects.toMatchObject({
      code: 'rpc_malformed',
    })
    expect((await judge(reader(node))).checks).toEqual([
      { check: 'chain', outcome: 'unknown', code: 'rpc_unreachable' },
    ])
  })

  test.each(['null', '[]', '"x"', '7', 'true', '', '\ufeff{"result":"0x1"}'])(
    'refuses %j as an answer',
    async (text) => {
      const node = memoryNode(() => text)
      await expect(node.request({ method: 'x' })).rejects.toMatchObject({
        code: 'rpc_malformed',
      })
    },
  )

  test('an error, also beside a result of null, is the error of the node', async () => {
    for (const members of [{ error: ERROR }, { result: null, error: ERROR }]) {
      const node = memoryNode(() => answer(members))
      const error = await node.request({ method: 'x' }).catch((e) => e)
      expect(error).toBeInstanceOf(RpcResponseError)
      expect(error).toMatchObject(ERROR)
    }
    const nothing = memoryNode(() => answer({ result: null, error: null }))
    expect(await nothing.request({ method: 'x' })).toBeNull()
  })
})

const methods = [...Object.keys(GOOD), 'eth_getProof', 'debug_getRawHeader']
const [block]: unknown[] = stateProofs.blocks
const [proven] = stateProofs.cases
const PROOF = {
  accountProof: proven?.stateProof.accountProof,
  storageProof: proven?.stateProof.storageProof,
}
const ALL: Record<string, unknown> = {
  ...GOOD,
  eth_getProof: PROOF,
  debug_getRawHeader: proven?.stateProof.header,
}

describe('results', () => {
  test.each(methods)('any result of %s ends in a verdict', async (method) => {
    const good = ALL[method]
    const result = fc.oneof(
      jsonValue,
      mutated(good),
      fc.string({ unit: fc.constantFrom(...'0123456789abcdefx') }),
      fc.uint8Array({ maxLength: 64 }).map((bytes) => toHex(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(result, (one) => endsInVerdicts(nodeWith({ ...ALL, [method]: one }))),
      { numRuns: 150 },
    )
  })

  test('a changed answer to verificationOf counts only for what it then reports', async () => {
    const good = Buffer.from(String(GOOD.eth_call).slice(2), 'hex')
    await fc.assert(
      fc.asyncProperty(mangled(good), async (bytes) => {
        const node = nodeWith({ ...GOOD, eth_call: toHex(bytes) })
        await reader(node)
          .read(key)
          .catch((error) => expect(error).toBeInstanceOf(ChainError))
        expect((await judge(reader(node))).checks).not.toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('a block with a genuine header and anything else ends in a verdict', async () => {
    const header = fc.oneof(mutated(block), fc.constantFrom(...stateProofs.blocks))
    await fc.assert(
      fc.asyncProperty(header, (one) =>
        endsInVerdicts(nodeWith({ ...ALL, eth_getBlockByNumber: one })),
      ),
      { numRuns: 200 },
    )
  })
})

const NOT_QUANTITIES = [
  null,
  true,
  false,
  3,
  '',
  '3',
  '0x',
  '0x03',
  '0X3',
  '0xA',
  ' 0x3',
  {},
  [],
  ['0x3'],
  '0x20000000000000',
  `0x${'f'.repeat(64)}`,
  '3n',
  '-0x3',
]

describe('the event', () => {
  const [log] = GOOD.eth_getLogs as [Record<string, unknown>]
  const eventOf = async (logs: unknown) => {
    const node = nodeWith({ ...GOOD, eth_getLogs: logs })
    const { status, checks } = await judge(reader(node))
    expect(status).toBe('valid')
    return checks.at(-1)?.code
  }

  test('agrees, also with an EIP-55 checksum in its address', async () => {
    expect(await eventOf([log])).toBe('agrees')
    const address = String(log.address).toUpperCase().replace('0X', '0x')
    expect(await eventOf([{ ...log, address }])).toBe('agrees')
    expect(await eventOf([])).toBe('missing')
  })

  test.each(NOT_QUANTITIES)('refuses a logIndex of %j', async (logIndex) => {
    expect(await eventOf([{ ...log, logIndex }])).toBe('contradicts')
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a text', 'log'],
    ['a list', []],
    ['an address of 19 bytes', { ...log, address: `0x${'1'.repeat(38)}` }],
    ['no address', { ...log, address: undefined }],
    ['a short transactionHash', { ...log, transactionHash: '0x1' }],
    ['a blockHash of null', { ...log, blockHash: null }],
    ['upper-case data', { ...log, data: String(log.data).toUpperCase() }],
    ['topics that are an object', { ...log, topics: { 0: '0x' } }],
    ['a topic of null', { ...log, topics: [...(log.topics as []), null] }],
  ])('does not agree: %s', async (_, one) => {
    expect(await eventOf([one])).toBe('contradicts')
  })

  test.each([null, false, {}, '', { length: 0 }])('refuses %j as a list of logs', async (logs) => {
    expect(await eventOf(logs)).toBe('unreachable')
  })
})

describe('finality', () => {
  test.each(NOT_QUANTITIES)('is unknown when a block has the number %j', async (number) => {
    const node = nodeWith({ ...GOOD, eth_getBlockByNumber: { number } })
    await expect(reader(node).finalityOf(10)).rejects.toMatchObject({
      code: 'rpc_unreachable',
    })
    const { blockchainProof } = await judge(reader(node))
    expect(blockchainProof?.finality).toBeNull()
  })
})

describe('answers as large as are read', () => {
  const result = (method: string, value: unknown) => ({
    ...ALL,
    [method]: value,
  })
  test.each<[string, () => { [method: string]: unknown }]>([
    ['verificationOf', () => result('eth_call', `0x${'0'.repeat(16e6)}`)],
    ['verificationOf, not hex', () => result('eth_call', 'x'.repeat(16e6))],
    ['logs', () => result('eth_getLogs', Array(1e6).fill(null))],
    [
      'a number of the block',
      () => result('eth_getBlockByNumber', { number: `0x${'f'.repeat(8e6)}` }),
    ],
    [
      'a decimal number in the block',
      () =>
        result('eth_getBlockByNumber', {
          ...(block as object),
          difficulty: '9'.repeat(8e6),
        }),
    ],
    [
      'nodes of a proof',
      () => result('eth_getProof', { ...PROOF, accountProof: Array(1e6).fill('') }),
    ],
  ])('%s end in a verdict in time', async (_, results) => {
    const node = nodeWith(results())
    const start = performance.now()
    await judge(reader(node))
    await judge(createProvingReader(node, REGISTRY))
    // The limit is in milliseconds.
    expect(performance.now() - start).toBeLessThan(60_000)
  })
})

describe('over HTTP', () => {
  const good = answer({ result: '0x1' })
  let body: Uint8Array
  let server: TestServer
  let pool: RpcPool
  beforeAll(async () => {
    server = await serveHttp((_, response) => response.end(body))
    pool = createRpcPool([server.url], 2_000)
  })
  afterAll(async () => {
    await pool.close()
    await server.close()
  })
  const ask = (node: Eip1193Provider) => node.request({ method: 'x' })

  test.each<[string, Uint8Array]>([
    ['a byte order mark', Buffer.from(`\ufeff${good}`)],
    [
      'a byte that is not UTF-8',
      Buffer.concat([
        Buffer.from(good.slice(0, -1)),
        Buffer.from(',"x":"'),
        Buffer.of(0xff),
        Buffer.from('"}'),
      ]),
    ],
    ['UTF-16', Buffer.from(good, 'utf16le')],
  ])('refuses an answer in %s, in the library and in the gateway', async (_, bytes) => {
    const library = createFetchProvider(server.url)
    body = Buffer.from(good)
    expect([await ask(library), await ask(pool)]).toEqual(['0x1', '0x1'])
    body = bytes
    await expect(ask(library)).rejects.toBeInstanceOf(FormatError)
    await expect(ask(pool)).rejects.toBeInstanceOf(FormatError)
  })
})

describe('a gateway', () => {
  type Reply = { status: number; headers: [string, string][]; body: Uint8Array }
  let reply: Reply
  let server: TestServer
  beforeAll(async () => {
    server = await serveHttp((_, response) => {
      try {
        response.writeHead(reply.status, Object.fromEntries(reply.headers))
      } catch {
        // The server cannot send such a header.
        response.writeHead(200)
      }
      response.end(reply.body)
    })
  })
  afterAll(() => server.close())

  test('any status, headers and body end in a verdict', async () => {
    const header = fc.constantFrom<[string, string]>(
      ['content-type', 'text/html'],
      ['content-encoding', 'gzip'],
      ['content-encoding', 'br'],
      ['content-encoding', 'unheard-of'],
      ['content-length', '5'],
      ['content-length', '100000'],
      ['transfer-encoding', 'chunked'],
      ['location', '/'],
      ['location', 'http://['],
      ['location', 'file:///etc/hosts'],
    )
    const any = fc.record({
      status: fc.constantFrom(200, 201, 204, 206, 301, 304, 404, 410, 451, 500),
      headers: fc.array(header, { maxLength: 2 }),
      body: fc.oneof(fc.uint8Array(), mangled(sealed), fc.constant(sealed)),
    })
    const source = createIpfsGatewaySource(server.url, 300)
    await fc.assert(
      fc.asyncProperty(any, async (one) => {
        reply = one
        const { checks, status } = await judge(reader(nodeWith(GOOD)), [source])
        const payload = checks.find(({ check }) => check === 'payload')
        expect(payload?.outcome).toBe(status === 'valid' ? 'pass' : 'unknown')
      }),
      { numRuns: 150 },
    )
  })

  test('a source that throws or returns no bytes is unreachable', async () => {
    const sources = [
      {
        get() {
          throw new TypeError('at once')
        },
      },
      { get: async () => undefined },
      { get: async () => ({ status: 'found', bytes: 'text' }) },
    ] as unknown as BlockSource[]
    for (const source of sources) {
      const { checks } = await judge(reader(nodeWith(GOOD)), [source])
      expect(checks).toContainEqual({
        check: 'payload',
        outcome: 'unknown',
        code: 'unreachable',
      })
    }
    const blocks = [...sources, has]
    expect((await judge(reader(nodeWith(GOOD)), blocks)).valid).toBe(true)
    expect(toHex(sha256(sealed))).toBe(documentHash)
  })
})
