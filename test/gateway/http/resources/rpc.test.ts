import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { createRpcPolicy } from '#http/resources/rpc-policy.ts'
import {
  createBundle,
  createChainReader,
  createCompletenessProof,
  createFetchProvider,
  createIpfsGatewaySource,
  verify,
} from '#verifier/index.ts'
import { slotsOf, slotsOfIssuer, unpackRecord, unpackState } from '#verifier/proof/slots.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { NO_ACCOUNT } from '#verifier/status.ts'
import { ADA, type Stack, startStack } from '../../../support/stack.ts'

const RPC_URL = 'https://user:secret@node.example/v3/a-key-of-the-gateway'
const OTHER = `0x${'1'.repeat(40)}`
const HASH: Hex = `0x${'2'.repeat(64)}`
/** `statusOf` of {@link HASH}. */
const DATA = registryAbi.encodeFunctionData('statusOf', [1, HASH])
const WRITING = registryAbi.encodeFunctionData('issue', [1, HASH, 0])

let stack: Stack
let address: Hex
beforeAll(async () => {
  stack = await startStack()
  address = parseRegistry(stack.registry).address
})
afterAll(() => stack.stop())

const post = (body: string, headers: Record<string, string> = {}) =>
  stack.request('/rpc', { method: 'POST', body, headers })
const call = async (method: string, params: unknown) => {
  const { body } = await post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))
  return body
}

test('verifies a document and makes its proof using only this route', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  const provider = createFetchProvider(`${stack.url}/rpc`)
  const blocks = [createIpfsGatewaySource(stack.url)]
  const { registry } = stack
  const verdict = await verify(publicId, {
    chain: createChainReader(provider, registry),
    blocks,
    finality: true,
  })
  expect(verdict.status).toBe('valid')
  expect(verdict.blockchainProof?.finality).not.toBeNull()
  const bundle = await createBundle(publicId, { provider, registry, blocks })
  expect(bundle.sealed).not.toBeNull()
})

test('proves that a long list is complete, with few slots per proof', async () => {
  const many = Array.from({ length: 40 }, (_, i) => stack.issue({ ...ADA, subjectId: `${i}` }))
  const documentHashes = (await Promise.all(many)).map(({ body }) => body.data.documentHash)
  const provider = createFetchProvider(`${stack.url}/rpc`)
  const keys = { documentHashes, roots: [] }
  const proof = await createCompletenessProof(provider, stack.registry, 1, keys)
  expect(proof.documentHashes).toHaveLength(40)
})

test('permits the proof of the verdict with most slots', () => {
  const account = { ...NO_ACCOUNT, accountIndex: 1 }
  const revoker = { ...account, account: `0x${'1'.repeat(40)}`, accountIndex: 2 } as const
  const ofIssuer = slotsOfIssuer(1)
  // Batch and document, released by accounts 3 and 2.
  const releasedBy = (index: bigint) => (8n << 232n) | (1n << 152n) | (index << 136n)
  const slots = slotsOf(
    {
      issuerId: 1,
      documentHash: HASH,
      batch: { root: HASH, validUntil: 0, proof: new Uint8Array() },
    },
    {
      status: 'suspended',
      record: { ...unpackRecord(0n), anchoredBlock: 1 },
      account,
      revoker,
      // The most that the registry accepts.
      issuer: { ...unpackState(0n), id: 1, name: 'n'.repeat(200), uri: 'u'.repeat(400) },
    },
    new Map([
      [ofIssuer.batch(HASH), releasedBy(3n)],
      [ofIssuer.record(HASH), releasedBy(2n)],
    ]),
  )
  expect(slots).toHaveLength(30)
  const permit = createRpcPolicy(address)
  expect(permit('eth_getProof', [address, slots, '0x1'])).toMatchObject({ method: 'eth_getProof' })
})

describe('requests that are served', () => {
  test.each<[string, () => unknown[]]>([
    ['eth_chainId', () => []],
    ['eth_blockNumber', () => []],
    ['eth_getBlockByNumber', () => ['finalized', false]],
    ['eth_getBlockByHash', () => [HASH, false]],
    ['eth_call', () => [{ to: address, data: DATA }, 'latest']],
    ['eth_getCode', () => [address, 'latest']],
    ['eth_getCode', () => [address.toUpperCase().replace('0X', '0x'), '0x1']],
    ['eth_getProof', () => [address, [HASH], 'latest']],
    ['eth_getLogs', () => [{ address, fromBlock: '0x1', toBlock: '0x1' }]],
    [
      'eth_getLogs',
      () => [
        {
          address: [address],
          topics: [null, [HASH]],
          fromBlock: '0x0',
          toBlock: '0x0',
        },
      ],
    ],
  ])('%s', async (method, params) => {
    const answer = await call(method, params())
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: 7 })
    expect(answer.error).toBeUndefined()
  })
})

describe('requests that are refused', () => {
  test.each([
    'eth_sendRawTransaction',
    'eth_sendTransaction',
    'eth_accounts',
    'eth_estimateGas',
    'eth_getStorageAt',
    'eth_getBalance',
    'eth_newFilter',
    'eth_subscribe',
    'debug_traceTransaction',
    'anvil_setBalance',
    'evm_mine',
    'constructor',
    'toString',
    '__proto__',
    '',
  ])('%s', async (method) => {
    const before = stack.proxy.asked.length
    expect((await call(method, [])).error.code).toBe(-32601)
    expect(stack.proxy.asked.slice(before)).not.toContain(method)
  })

  test.each<[string, string, () => unknown]>([
    ['another contract', 'eth_call', () => [{ to: OTHER, data: DATA }, 'latest']],
    ['no contract', 'eth_call', () => [{ data: DATA }, 'latest']],
    ['a sender', 'eth_call', () => [{ from: OTHER, to: address, data: DATA }, 'latest']],
    ['gas to burn', 'eth_call', () => [{ to: address, data: DATA, gas: '0xffffffff' }, 'latest']],
    [
      'state of one’s own',
      'eth_call',
      () => [{ to: address, data: DATA }, 'latest', { [address]: { code: '0x00' } }],
    ],
    ['a function that writes', 'eth_call', () => [{ to: address, data: WRITING }, 'latest']],
    ['an unknown function', 'eth_call', () => [{ to: address, data: '0x12345678' }, 'latest']],
    ['no selector', 'eth_call', () => [{ to: address, data: '0x' }, 'latest']],
    ['half a byte', 'eth_call', () => [{ to: address, data: `${DATA}1` }, 'latest']],
    ['the pool', 'eth_call', () => [{ to: address, data: DATA }, 'pending']],
    ['many blocks of logs', 'eth_getLogs', () => [{ address, fromBlock: '0x0', toBlock: '0x1' }]],
    [
      'logs up to the head',
      'eth_getLogs',
      () => [{ address, fromBlock: 'latest', toBlock: 'latest' }],
    ],
    ['logs of all', 'eth_getLogs', () => [{ fromBlock: '0x1', toBlock: '0x1' }]],
    [
      'logs of others',
      'eth_getLogs',
      () => [{ address: [address, OTHER], fromBlock: '0x1', toBlock: '0x1' }],
    ],
    ['whole transactions', 'eth_getBlockByNumber', () => ['latest', true]],
    ['proofs of others', 'eth_getProof', () => [OTHER, [HASH], 'latest']],
    ['proofs without end', 'eth_getProof', () => [address, Array(33).fill(HASH), 'latest']],
    ['code of others', 'eth_getCode', () => [OTHER, 'latest']],
    ['params by name', 'eth_chainId', () => ({})],
    ['params too many', 'eth_chainId', () => [1]],
  ])('%s', async (_, method, params) => {
    const sent = { method, params: params() }
    expect((await call(method, sent.params)).error.code).toBe(-32602)
    // The gateway's own reads of the same method differ.
    expect(stack.proxy.requests).not.toContainEqual(sent)
  })

  test.each([
    ['not JSON', '{', 400, -32700],
    ['no request', '"x"', 400, -32600],
    ['no version', '{"id":1,"method":"eth_chainId","params":[]}', 400, -32600],
    ['a malformed id', '{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}', 400, -32600],
    ['an empty batch', '[]', 400, -32600],
    [
      'a batch too large',
      JSON.stringify(Array(11).fill({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })),
      400,
      -32600,
    ],
    ['a body too large', `"${'x'.repeat(32 * 1024)}"`, 413, -32600],
  ])('%s', async (_, body, status, code) => {
    const answer = await post(body)
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
    expect(answer.body.id).toBeNull()
  })

  test('refuses GET', async () => {
    const { status, headers } = await stack.request('/rpc')
    expect([status, headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
  })
})

test('answers a batch one by one, in order', async () => {
  const request = (id: number, method: string) => ({
    jsonrpc: '2.0',
    id,
    method,
  })
  const { status, body } = await post(
    JSON.stringify([
      request(1, 'eth_chainId'),
      request(2, 'eth_mining'),
      request(3, 'eth_blockNumber'),
    ]),
  )
  expect(status).toBe(200)
  expect(
    body.map(({ id, error }: { id: number; error?: { code: number } }) => [id, error?.code]),
  ).toEqual([
    [1, undefined],
    [2, -32601],
    [3, undefined],
  ])
})

describe('a failing node', () => {
  test('slow reads do not block issuing', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    stack.proxy.change = (method, result) =>
      method === 'eth_getProof' ? answered.then(() => result) : result
    const proofs = () => stack.proxy.asked.filter((method) => method === 'eth_getProof').length
    const before = proofs()
    const reads = Array.from({ length: 40 }, () =>
      call('eth_getProof', [address, [HASH], 'latest']),
    )
    await expect.poll(() => proofs() - before).toBeGreaterThanOrEqual(8)
    const first = await Promise.race([
      stack.issue(ADA).then(({ status }) => status),
      Promise.any(reads).then(() => 'a read'),
    ])
    answer()
    await Promise.all(reads)
    stack.proxy.change = (_, result) => result
    expect(first).toBe(201)
  })

  test("does not pass on the text of the node's error", async () => {
    stack.proxy.fail = () => ({ code: -32000, message: `limit of ${RPC_URL}` })
    const { status, body } = await post(
      '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
    )
    stack.proxy.fail = () => undefined
    expect(status).toBe(200)
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32000, message: 'the node answered with an error' },
    })
  })

  test.each<[number, string]>([
    [4444, `pruned at ${RPC_URL}`],
    [-32000, `Receipt not available for From block 1. ${RPC_URL}`],
    [-32701, `History has been pruned for this block: ${RPC_URL}`],
  ])('reports that it has pruned its history: %i, without its text', async (code, message) => {
    const { publicId, blockchainHash } = (await stack.issue(ADA)).body.data
    stack.proxy.fail = (method) => (method === 'eth_getLogs' ? { code, message } : undefined)
    const filter = { address, fromBlock: '0x1', toBlock: '0x1' }
    const { error } = await call('eth_getLogs', [filter])
    const chain = createChainReader(createFetchProvider(`${stack.url}/rpc`), stack.registry)
    const blocks = [createIpfsGatewaySource(stack.url)]
    const { status, checks } = await verify(publicId, { chain, blocks })
    const overRest = (await stack.verify(publicId)).body.data
    stack.proxy.fail = () => undefined
    expect(error).toEqual({
      code: 4444,
      message: 'pruned history unavailable',
    })
    for (const verdict of [{ status, checks }, overRest]) {
      expect(verdict.status).toBe('valid')
      expect(verdict.checks.at(-1)).toMatchObject({ code: 'pruned' })
    }
    // The gateway keeps what the node forgot.
    expect(overRest.document.blockchainHash).toBe(blockchainHash)
  })

  test('reports a node that does not answer', async () => {
    stack.proxy.refuse = () => true
    const { status, headers, body } = await post('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}')
    stack.proxy.refuse = () => false
    expect(status).toBe(503)
    expect(headers.get('retry-after')).toBe('2')
    expect(body.error.code).toBe(-32002)
    expect(JSON.stringify(body)).not.toContain(new URL(stack.proxy.url).port)
  })
})

describe('PUBLIC_RPC_URL', () => {
  test('the page uses this route, and never sees RPC_URL', async () => {
    const own = await startStack({
      PUBLIC_RPC_URL: 'https://a.example/key, https://b.example, https://a.example/key/',
    })
    try {
      const html = Buffer.from((await own.request('/verify')).body).toString()
      const config = JSON.parse(/id="config">(.*?)<\/script>/.exec(html)?.[1] ?? '')
      expect(config).toEqual({
        registry: own.registry,
        rpc: ['https://a.example/key', 'https://b.example'],
        ipfs: [own.url],
        service: own.url,
        liveChains: [],
      })
      expect(html).not.toContain(own.proxy.url)
    } finally {
      await own.stop()
    }
  })
})
