import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { formatRegistryId, parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import {
  ChainError,
  type CompletenessProof,
  createCompletenessProof,
  type Eip1193Provider,
  FormatError,
  type Listing,
  readCompleteness,
  verifyCompleteness,
} from '#verifier/index.ts'
import {
  distrustFrom,
  documents,
  hashOf,
  hashOfNewest,
  ISSUER,
  type IssuedList,
  inBatch,
  ofAnother,
  releaseAsThief,
  roots,
  startIssuedList,
  THIEF,
} from '../../support/issued-list.ts'

const refused = (code: string) => expect.objectContaining({ code })

let list: IssuedList
let provider: Eip1193Provider
let registry: RegistryId
let proof: CompletenessProof
let trustedBlocks: Hex[]
beforeAll(async () => {
  list = await startIssuedList()
  ;({ provider, registry } = list)
  proof = await createCompletenessProof(provider, registry, 1, {
    documentHashes: documents,
    roots,
  })
  trustedBlocks = [await hashOfNewest(provider)]
})
afterAll(() => list?.close())

const check = (input: unknown) => verifyCompleteness(input, { registry, trustedBlocks })
const prove = (given: { documentHashes?: Hex[]; roots?: Hex[] }) =>
  createCompletenessProof(provider, registry, 1, {
    documentHashes: documents,
    roots,
    ...given,
  })

test('proves every document and batch, and that there are no others', () => {
  const listing = check(proof) as Listing
  expect(listing).toMatchObject({
    status: 'complete',
    issuerId: 1,
    asOf: { blockHash: trustedBlocks[0] },
    documents: { count: 30, notIssued: [] },
    batches: { count: 2, notIssued: [] },
  })
  const { listed } = listing.documents
  expect(listed.map(({ documentHash }) => documentHash)).toEqual(documents)
  expect(listed.slice(2, 6).map(({ status }) => status)).toEqual([
    'valid',
    'revoked',
    'suspended',
    'valid',
  ])
  expect(new Set(listed.map(({ account }) => account))).toEqual(new Set([ISSUER]))
  expect(listing.batches.listed.map(({ root, size }) => ({ root, size }))).toEqual(
    roots.map((root) => ({ root, size: 7 })),
  )
})

test('reads text and bytes, and contains every node once', () => {
  const text = JSON.stringify(proof)
  expect(check(text)).toEqual(check(proof))
  expect(check(new TextEncoder().encode(text))).toEqual(check(proof))
  expect(new Set(proof.nodes).size).toBe(proof.nodes.length)
})

test('the views of the contract agree', async () => {
  const read = await readCompleteness(provider, registry, 1, {
    documentHashes: [...documents, ofAnother],
    roots,
  })
  const proven = check(await prove({ documentHashes: [...documents, ofAnother] })) as Listing
  expect(read).toEqual({
    ...proven,
    asOf: { ...proven.asOf, blockHash: null },
  })
  expect(read.documents.notIssued).toEqual([ofAnother])
})

test('an issuer without documents has a complete empty list', async () => {
  const empty = { documentHashes: [], roots: [] }
  const of3 = await createCompletenessProof(provider, registry, 3, empty)
  expect(check(of3)).toMatchObject({
    status: 'complete',
    documents: { count: 0 },
  })
})

test('checks a list longer than one request, most of it never issued', async () => {
  const strange = Array.from({ length: 600 }, (_, i) => hashOf(10 + (i >> 8), i & 0xff))
  const given = { documentHashes: [...strange, ...documents], roots }
  const methods: string[] = []
  const counting: Eip1193Provider = {
    request(args) {
      methods.push(args.method)
      return provider.request(args)
    },
  }
  const made = await createCompletenessProof(counting, registry, 1, given)
  // 633 slots by 256, then the account.
  expect(methods.filter((name) => name === 'eth_getProof')).toHaveLength(4)
  const read = await readCompleteness(provider, registry, 1, given)
  for (const listing of [check(made) as Listing, read]) {
    expect(listing.status).toBe('complete')
    expect(listing.documents.notIssued).toEqual(strange)
  }
})

test('documents of a stolen key are distrusted, and still count', async () => {
  const { listed } = (check(proof) as Listing).documents
  const stolenIn = listed.at(-1)?.record.anchoredBlock ?? 0
  const snapshot = await list.anvil.request('evm_snapshot')
  try {
    await distrustFrom(provider, registry, stolenIn)
    const after = await prove({})
    const trusted = { registry, trustedBlocks: [await hashOfNewest(provider)] }
    const proven = verifyCompleteness(after, trusted) as Listing
    const keys = { documentHashes: documents, roots }
    const read = await readCompleteness(provider, registry, 1, keys)
    for (const { status, documents, batches } of [proven, read]) {
      expect(status).toBe('complete')
      const statuses = documents.listed.map((one) => one.status)
      expect(statuses.slice(18, 22)).toEqual(['valid', 'valid', 'distrusted', 'distrusted'])
      expect(batches.listed[0]?.status).toBe('distrusted')
    }
  } finally {
    await list.anvil.request('evm_revert', snapshot)
  }
})

test('reads the distrust of an account that only released', async () => {
  const snapshot = await list.anvil.request('evm_snapshot')
  const statusesNow = async () => {
    const trusted = { registry, trustedBlocks: [await hashOfNewest(provider)] }
    const proven = verifyCompleteness(await prove({}), trusted) as Listing
    const read = await readCompleteness(provider, registry, 1, { documentHashes: documents, roots })
    return [proven, read].map(({ status, documents, batches }) => [
      status,
      ...documents.listed.slice(2, 6).map((one) => one.status),
      ...batches.listed.map((one) => one.status),
    ])
  }
  try {
    await releaseAsThief(provider, registry)
    const before = ['complete', 'valid', 'revoked', 'valid', 'valid', 'valid', 'valid']
    expect(await statusesNow()).toEqual([before, before])
    await distrustFrom(provider, registry, 1, THIEF)
    const after = ['complete', 'valid', 'revoked', 'suspended', 'valid', 'suspended', 'valid']
    expect(await statusesNow()).toEqual([after, after])
  } finally {
    await list.anvil.request('evm_revert', snapshot)
  }
})

test('checks a view against the hash of the code', async () => {
  const keys = { documentHashes: documents, roots }
  const read = (codeHash: Hex) => readCompleteness(provider, registry, 1, { ...keys, codeHash })
  await expect(read(hashOf(9, 9))).rejects.toThrow(refused('other_code'))
  const { address } = parseRegistryId(registry)
  const code = await list.anvil.request<Hex>('eth_getCode', address, 'latest')
  const good = toHex(keccak_256(fromHex(code)))
  expect((await read(good)).status).toBe('complete')
  expect(verifyCompleteness(proof, { registry, trustedBlocks, codeHash: good }).status).toBe(
    'complete',
  )
})

test('an omitted document or batch makes the list incomplete', async () => {
  for (const given of [{ documentHashes: documents.slice(1) }, { roots: roots.slice(1) }]) {
    expect(check(await prove(given)).status).toBe('incomplete')
    const lists = { documentHashes: documents, roots, ...given }
    const read = await readCompleteness(provider, registry, 1, lists)
    expect(read.status).toBe('incomplete')
  }
})

test.each([
  ["another issuer's document", ofAnother],
  ['a document of a batch with a revocation of its own', inBatch],
  ['the root of a batch', roots[0] as Hex],
])('%s does not replace an omitted one', async (_, other) => {
  const documentHashes = [...documents.slice(1), other]
  expect(check(await prove({ documentHashes }))).toMatchObject({
    status: 'incomplete',
    documents: { count: 30, notIssued: [other] },
  })
})

test('a repeated document counts once, also in upper case', async () => {
  const upper = `0x${documents[1]?.slice(2).toUpperCase()}` as Hex
  const documentHashes = [...documents.slice(1), documents[1] as Hex, upper]
  expect(check(await prove({ documentHashes }))).toMatchObject({
    status: 'incomplete',
    documents: { listed: { length: 29 } },
  })
})

test('proves an earlier block, with fewer documents', async () => {
  const { blockNumber } = (check(proof) as Listing).asOf
  const early = await createCompletenessProof(provider, registry, 1, {
    documentHashes: documents.slice(0, 20),
    roots: [],
    block: blockNumber - 7,
  })
  const header = await provider.request({
    method: 'eth_getBlockByNumber',
    params: [`0x${(blockNumber - 7).toString(16)}`, false],
  })
  const hashes = [(header as { hash: Hex }).hash]
  expect(verifyCompleteness(early, { registry, trustedBlocks: hashes })).toMatchObject({
    status: 'complete',
    documents: { count: 20 },
  })
})

test('reports an untrusted block, another registry and other code', () => {
  const other = formatRegistryId(1, `0x${'a'.repeat(40)}`)
  const codeHash = hashOf(9, 9)
  for (const [options, code] of [
    [{ registry, trustedBlocks: [] }, 'block_untrusted'],
    [{ registry: other, trustedBlocks }, 'other_registry'],
    [{ registry, trustedBlocks, codeHash }, 'other_code'],
  ] as const)
    expect(verifyCompleteness(proof, options)).toMatchObject({
      status: 'unverifiable',
      code,
    })
})

test('refuses a node that is repeated', () => {
  const nodes = [...proof.nodes, proof.nodes[0]]
  expect(() => check({ ...proof, nodes })).toThrow(refused('completeness_malformed'))
})

test('refuses a list that is repeated, out of order or too long', () => {
  const [first = '0x', ...rest] = documents
  for (const documentHashes of [
    [first, first, ...rest],
    [...rest, first],
    [...documents, '0x12'],
    Array(100_001).fill(first),
    { length: 1 },
  ])
    expect(() => check({ ...proof, documentHashes })).toThrow(refused('completeness_malformed'))
})

test.each<[string, (proof: CompletenessProof) => unknown]>([
  ['a node too few', (p) => ({ ...p, nodes: p.nodes.slice(1) })],
  ['a node too many', (p) => ({ ...p, nodes: [...p.nodes, '0xc0'] })],
  [
    'a document more',
    (p) => ({
      ...p,
      documentHashes: [...p.documentHashes, hashOf(0xff, 0)],
    }),
  ],
  ['another issuer', (p) => ({ ...p, issuerId: 2 })],
  ['no account', (p) => ({ ...p, accountProof: [] })],
])('%s proves nothing', (_, change) => {
  expect(check(change(proof))).toMatchObject({
    status: 'unverifiable',
    code: 'proof_invalid',
  })
})

test('a proof with an omitted document is never complete', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 29 }), (index) => {
      const documentHashes = documents.toSpliced(index, 1)
      expect(check({ ...proof, documentHashes }).status).not.toBe('complete')
    }),
  )
})

test('no change of the proof reads as complete with another list', () => {
  const names = Object.keys(proof) as (keyof CompletenessProof)[]
  const text = JSON.stringify(proof)
  fc.assert(
    fc.property(
      fc.oneof(
        fc
          .tuple(fc.constantFrom(...names), fc.jsonValue())
          .map(([name, value]) => ({ ...proof, [name]: value })),
        fc
          .tuple(fc.nat(text.length - 1), fc.constantFrom(...'0a9"[],{}x'))
          .map(([at, character]) => text.slice(0, at) + character + text.slice(at + 1)),
        fc.anything(),
      ),
      (input) => {
        const result = checkOrRefuse(input)
        if (result?.status !== 'complete') return
        expect(result).toEqual(check(proof))
      },
    ),
    { numRuns: 400 },
  )
})

function checkOrRefuse(input: unknown) {
  try {
    return check(input)
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    expect(error).toMatchObject({ code: 'completeness_malformed' })
    return undefined
  }
}

test('detects a node that lies while the proof is made', async () => {
  const lying = (method: string, change: (answer: never) => unknown) => ({
    async request(args: { method: string }) {
      const answer = await provider.request(args)
      return args.method === method ? change(answer as never) : answer
    },
  })
  type Answer = { storageProof: { proof: Hex[] }[] }
  for (const [node, code] of [
    [lying('eth_chainId', () => '0x1'), 'wrong_chain'],
    [
      lying('eth_getProof', (answer: Answer) => ({
        ...answer,
        storageProof: answer.storageProof.slice(0, 1),
      })),
      'proof_invalid',
    ],
    [lying('eth_getProof', () => null), 'proof_invalid'],
    [lying('eth_blockNumber', () => '0xffffff'), 'state_unavailable'],
  ] as const)
    await expect(
      createCompletenessProof(node, registry, 1, {
        documentHashes: documents,
        roots,
      }),
    ).rejects.toThrow(refused(code))
  for (const method of ['eth_call', 'eth_getBlockByNumber'])
    for (const answer of ['0x', '0x12', null, {}, `0x${'ff'.repeat(640)}`])
      await expect(
        readCompleteness(
          lying(method, () => answer),
          registry,
          1,
          { documentHashes: documents, roots },
        ),
      ).rejects.toThrow(ChainError)
})
