import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Hex, toHex } from '../../document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '../../document/keys.ts'
import { decodePublicId, encodePublicId } from '../../document/public-id.ts'
import { formatRegistryId, parseRegistryId } from '../../document/registry-id.ts'
import { seal } from '../../document/sealed.ts'
import { instant, presentProof } from '../../gateway/http/present.ts'
import { type Bundle, readBundle, verifyBundle } from '../../verifier/bundle.ts'
import type * as Verifier from '../../verifier/index.ts'
import { startBlockServer } from '../support/block-server.ts'
import { ADA, API_KEY, randomKey, type Stack, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'
import golden from '../vectors/documents.json' with { type: 'json' }

let stack: Stack
let blocks: Awaited<ReturnType<typeof startBlockServer>>
beforeAll(async () => {
  blocks = await startBlockServer()
  stack = await startStack({ IPFS_GATEWAYS: blocks.url })
})
afterAll(async () => {
  await stack.stop()
  await blocks.close()
})

const authorization = `Bearer ${API_KEY}`
const bundleOf = (publicId: string) =>
  stack.request(`/v1/documents/${publicId}/bundle`, {
    headers: { authorization },
  })
const send = (name: string, args: unknown[], key = stack.issuerKey) =>
  transact(stack.provider, stack.registry, key, name, args)
/** As a reader does who trusts the very block that the bundle is for. */
const trusting = (bundle: unknown) => ({
  registry: stack.registry,
  trustedBlocks: [readBundle(bundle).block.blockHash],
})

/** Issued by an account of its own, which is then said to be stolen. */
async function distrusted(): Promise<string> {
  const key = randomKey()
  const { address } = new Wallet(key)
  await send('addAccount', [1, address, 1], stack.adminKey)
  await stack.provider.request({
    method: 'anvil_setBalance',
    params: [address, '0xde0b6b3a7640000'],
  })
  const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
  const document = { ...ADA, registry: stack.registry, issuerId: 1 }
  const { bytes, documentHash } = await seal(document, keys)
  blocks.set(documentHash, bytes)
  await send('issue', [1, documentHash, 0], key)
  await send('distrustFrom', [1, address, 1], stack.adminKey)
  const { documentKey } = keys
  return encodePublicId({
    kind: 'single',
    issuerId: 1,
    hash: documentHash,
    documentKey,
  })
}

const issue = async (fields: object = {}) => (await stack.issue({ ...ADA, ...fields })).body.data

const revoked = async (reason: number) => {
  const { publicId, documentHash } = await issue()
  await send('revoke', [1, documentHash, reason])
  return publicId as string
}

/** More than the states that the local chain keeps, which are ten. */
async function makeBlocks(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const hash = toHex(crypto.getRandomValues(new Uint8Array(32)))
    await send('issue', [1, hash, 0])
  }
}

describe('every verdict has a bundle that gives the same verdict without a network', () => {
  test.each<[string, () => Promise<string>]>([
    ['valid', async () => (await issue()).publicId],
    ['expired', async () => (await issue({ expiresAt: '2026-02-01' })).publicId],
    ['revoked', () => revoked(1)],
    ['superseded', () => revoked(4)],
    ['suspended', () => revoked(6)],
    ['distrusted', distrusted],
    ['not_issued', async () => golden.documents[0]?.publicId ?? ''],
    [
      'wrong_key',
      async () => {
        const { hash } = decodePublicId((await issue()).publicId)
        const documentKey = new Uint8Array(16)
        return encodePublicId({
          kind: 'single',
          issuerId: 1,
          hash,
          documentKey,
        })
      },
    ],
  ])('behavior: %s', async (status, make) => {
    const publicId = await make()
    const { status: http, headers, body } = await bundleOf(publicId)
    expect(http).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('content-disposition')).not.toContain(publicId)

    const verdict = await verifyBundle(body, trusting(body))
    expect(verdict.status).toBe(status)
    expect(verdict.valid).toBe(status === 'valid')
    expect(verdict.asOf).toEqual(readBundle(body).block)
    const online = (await stack.verify(publicId)).body.data
    expect(online.status).toBe(status)
    expect(online.document === null).toBe(verdict.document === null)
    expect(presentProof(verdict.blockchainProof)).toEqual(
      online.blockchainProof && {
        ...online.blockchainProof,
        ...{ transactionHash: null, blockHash: null, logIndex: null },
        finality: null,
      },
    )
    const { blockNumber, blockHash, blockTime } = readBundle(body).block
    expect(
      await stack.provider.request({
        method: 'eth_getBlockByNumber',
        params: [`0x${blockNumber.toString(16)}`, false],
      }),
    ).toMatchObject({
      hash: blockHash,
      timestamp: `0x${blockTime.toString(16)}`,
    })
  })

  test('behavior: holds the event, as the chain has it', async () => {
    const { publicId } = await issue()
    const { body } = await bundleOf(publicId)
    const { transactionHash, blockHash, logIndex } = (await stack.verify(publicId)).body.data
      .blockchainProof
    expect(body.unprovenEvent).toEqual({ transactionHash, blockHash, logIndex })
  })

  test('behavior: takes at most 4 KB beside the document and the nodes of the proof', async () => {
    const metadata = { note: 'x'.repeat(20_000) }
    for (const fields of [{}, { metadata }]) {
      const { publicId } = await issue(fields)
      const { body } = await bundleOf(publicId)
      const { sealed, stateProof } = body as Bundle
      const nodes = [
        ...stateProof.accountProof,
        ...stateProof.storageProof.flatMap(({ proof }) => proof),
      ]
      const own = JSON.stringify(body).length - (sealed?.length ?? 0) - nodes.join('').length
      expect(own).toBeLessThan(4096)
    }
  })

  test('behavior: verifies without fetch, sockets and Node', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export { verifyBundle, readBundle } from '../../verifier/index.ts'`,
        resolveDir: import.meta.dirname,
        loader: 'ts',
      },
      bundle: true,
      platform: 'browser',
      format: 'iife',
      globalName: 'loaded',
      target: 'es2022',
      write: false,
    })
    const { AbortSignal, atob, btoa, crypto, CryptoKey } = globalThis
    const { TextDecoder, TextEncoder } = globalThis
    const denied = {
      ...{ AbortSignal, atob, btoa, crypto, CryptoKey },
      ...{ TextDecoder, TextEncoder, Uint8Array: globalThis.Uint8Array },
    }
    const offline = runInContext(`${outputFiles[0]?.text}; loaded`, createContext(denied)) as Pick<
      typeof Verifier,
      'readBundle' | 'verifyBundle'
    >
    const text = JSON.stringify((await bundleOf((await issue()).publicId)).body)
    const verdict = await offline.verifyBundle(text, trusting(text))
    expect(verdict.status).toBe('valid')
  })
})

describe('a change to a bundle changes its verdict', () => {
  let bundle: Bundle
  /** Of another document, at the same block. */
  let other: Bundle
  /** Of the same document, at another block. */
  let later: Bundle
  beforeAll(async () => {
    const first = (await issue({ expiresAt: '2090-01-01' })).publicId
    const second = (await issue()).publicId
    bundle = (await bundleOf(first)).body
    other = (await bundleOf(second)).body
    await issue()
    later = (await bundleOf(first)).body
  })

  /**
   * @returns The outcome for the reader of the bundle as it was made: the status with the code of
   * its first bad check but `identity`, which no bundle can answer; or the error.
   */
  async function outcomeOf(changed: unknown): Promise<string> {
    try {
      const verdict = await verifyBundle(changed, trusting(bundle))
      const bad = verdict.checks.find(
        ({ check, outcome }) => check !== 'identity' && outcome !== 'pass',
      )
      return `${verdict.status}: ${bad?.code}`
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  const flip = (hex: Hex, at = hex.length - 1): Hex => {
    const digit = Number.parseInt(hex[at] ?? '', 16) ^ 1
    return `${hex.slice(0, at)}${digit.toString(16)}${hex.slice(at + 1)}` as Hex
  }

  const mistype = (publicId: string) =>
    `${publicId.slice(0, -1)}${publicId.endsWith('2') ? '3' : '2'}`

  const withProof = (change: Partial<Bundle['stateProof']>): Bundle => ({
    ...bundle,
    stateProof: { ...bundle.stateProof, ...change },
  })
  const withSlot = (
    index: number,
    change: (
      slot: Bundle['stateProof']['storageProof'][number],
    ) => Bundle['stateProof']['storageProof'][number],
  ) =>
    withProof({
      storageProof: bundle.stateProof.storageProof.map((slot, i) =>
        i === index ? change(slot) : slot,
      ),
    })

  test('default: an unchanged bundle is valid', async () => {
    expect(await outcomeOf(bundle)).toBe('valid: unproven')
    expect(await outcomeOf(JSON.stringify(bundle))).toBe('valid: unproven')
  })

  test.each<[string, () => unknown, string]>([
    ['another type', () => ({ ...bundle, type: 'x' }), 'bundle_malformed'],
    ['another version', () => ({ ...bundle, v: 2 }), 'bundle_malformed'],
    ['a field too many', () => ({ ...bundle, x: 1 }), 'bundle_malformed'],
    ['a field missing', () => ({ ...bundle, sealed: undefined }), 'bundle_malformed'],
    ['no object', () => [bundle], 'bundle_malformed'],
    ['nothing', () => null, 'bundle_malformed'],
    ['no JSON', () => '{', 'json_syntax'],
    ['a key twice', () => JSON.stringify(bundle).replace('{', '{"v":1,'), 'json_duplicate_key'],
    [
      'a mistyped publicId',
      () => ({ ...bundle, publicId: mistype(bundle.publicId) }),
      'public_id_checksum',
    ],
    [
      'the publicId of another document',
      () => ({ ...bundle, publicId: other.publicId }),
      'unverifiable: proof_invalid',
    ],
    [
      'another registry',
      () => ({ ...bundle, registry: `eip155:1:0x${'0'.repeat(40)}` }),
      'unverifiable: other_registry',
    ],
    [
      'the sealed bytes of another document',
      () => ({ ...bundle, sealed: other.sealed }),
      'unverifiable: wrong_bytes',
    ],
    ['no sealed bytes', () => ({ ...bundle, sealed: null }), 'unverifiable: missing'],
    [
      'the header of another block',
      () => withProof({ header: later.stateProof.header }),
      'unverifiable: block_untrusted',
    ],
    [
      'a byte of the header',
      () => withProof({ header: flip(bundle.stateProof.header) }),
      'unverifiable: block_untrusted',
    ],
    ['no header', () => withProof({ header: '0xc0' }), 'bundle_malformed'],
    [
      'the whole proof of another block',
      () => ({ ...bundle, stateProof: later.stateProof }),
      'unverifiable: block_untrusted',
    ],
    [
      'upper case',
      () =>
        withProof({
          header: bundle.stateProof.header.replace('f', 'F') as Hex,
        }),
      'bundle_malformed',
    ],
    [
      'a node of the account cut off',
      () =>
        withProof({
          accountProof: bundle.stateProof.accountProof.slice(0, -1),
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'a node of the account too many',
      () =>
        withProof({
          accountProof: [...bundle.stateProof.accountProof, '0x80'],
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'the nodes of the account in another order',
      () =>
        withProof({
          accountProof: [...bundle.stateProof.accountProof].reverse(),
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'a slot missing',
      () =>
        withProof({
          storageProof: bundle.stateProof.storageProof.slice(0, -1),
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'a slot twice',
      () =>
        withProof({
          storageProof: bundle.stateProof.storageProof.flatMap((slot) => [slot, slot]),
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'a slot too many',
      () =>
        withProof({
          storageProof: [
            ...bundle.stateProof.storageProof,
            ...other.stateProof.storageProof.slice(0, 1),
          ],
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'the slots in another order',
      () =>
        withProof({
          storageProof: [...bundle.stateProof.storageProof].reverse(),
        }),
      'unverifiable: proof_invalid',
    ],
    [
      'the record of another document',
      () =>
        withSlot(0, (slot) => ({
          ...slot,
          proof: other.stateProof.storageProof[0]?.proof ?? [],
        })),
      'unverifiable: proof_invalid',
    ],
    [
      'a record without its proof',
      () => withSlot(0, (slot) => ({ ...slot, proof: [] })),
      'unverifiable: proof_invalid',
    ],
  ])('error: %s', async (_, change, outcome) => {
    expect(await outcomeOf(change())).toBe(outcome)
  })

  test('error: rejects a change to the key, value or any node of each slot', async () => {
    for (const index of bundle.stateProof.storageProof.keys()) {
      const nodes = bundle.stateProof.storageProof[index]?.proof ?? []
      const changes: Bundle[] = [
        withSlot(index, (slot) => ({ ...slot, key: flip(slot.key) })),
        withSlot(index, (slot) => ({ ...slot, value: flip(slot.value) })),
        withSlot(index, (slot) => ({ ...slot, proof: slot.proof.slice(1) })),
        ...nodes.map((_, at) =>
          withSlot(index, (slot) => ({
            ...slot,
            proof: slot.proof.map((node, i) => (i === at ? flip(node) : node)),
          })),
        ),
      ]
      for (const changed of changes)
        expect(await outcomeOf(changed)).toBe('unverifiable: proof_invalid')
    }
  })

  test('behavior: the event decides nothing, and is reported as unproven', async () => {
    const forged = `0x${'66'.repeat(32)}` as const
    const unprovenEvent = {
      transactionHash: forged,
      blockHash: forged,
      logIndex: 7,
    }
    const verdict = await verifyBundle({ ...bundle, unprovenEvent }, trusting(bundle))
    expect(verdict.status).toBe('valid')
    expect(JSON.stringify(verdict)).not.toContain(forged)
    expect(await outcomeOf({ ...bundle, unprovenEvent: null })).toBe('valid: unproven')
  })

  test('error: names every bad field and none of their values', async () => {
    const bad = { ...bundle, v: 2, sealed: 5, stateProof: { header: 'x' } }
    const error = await verifyBundle(bad, trusting(bundle)).catch((e) => e)
    expect(error.code).toBe('bundle_malformed')
    expect(error.fields.map(({ field }: { field: string }) => field)).toEqual([
      'v',
      'sealed',
      'stateProof.header',
      'stateProof.accountProof',
      'stateProof.storageProof',
    ])
    const { sealed: _, ...without } = { ...bundle, x: 1, unprovenEvent: [] }
    const named = await verifyBundle(without, trusting(bundle)).catch((e) => e)
    expect(named.fields).toEqual([
      { field: 'sealed', message: 'is required' },
      expect.objectContaining({ field: 'unprovenEvent.transactionHash' }),
      expect.objectContaining({ field: 'unprovenEvent.blockHash' }),
      expect.objectContaining({ field: 'unprovenEvent.logIndex' }),
      { field: 'x', message: 'is not a member here' },
    ])
    const secret = bundle.publicId
    for (const leaky of [
      { ...bundle, type: secret, v: secret, registry: secret },
      { ...bundle, x: secret },
      { ...bundle, stateProof: secret, unprovenEvent: secret, sealed: [] },
      withProof({ header: secret, accountProof: secret } as object),
      withProof({ storageProof: [secret] } as object),
      { ...bundle, unprovenEvent: { logIndex: secret } },
      secret,
    ]) {
      const leak = await verifyBundle(leaky, trusting(bundle)).catch((e) => e)
      expect(leak.code).toMatch(/^(bundle_malformed|json_syntax)$/)
      const { code, message, fields } = leak
      expect(JSON.stringify([code, message, fields])).not.toContain(secret)
    }
  })

  test('args: accepts the block, the registry and the code that the reader trusts', async () => {
    const { registry, trustedBlocks } = trusting(bundle)
    const codeOf = async (options: Parameters<typeof verifyBundle>[1]) =>
      (await verifyBundle(bundle, options)).checks[0]?.code
    const [hash = '0x'] = trustedBlocks
    const elsewhere = formatRegistryId(31_337, `0x${'00'.repeat(20)}`)
    expect(await codeOf({ registry, trustedBlocks: [] })).toBe('block_untrusted')
    const many = [trusting(later).trustedBlocks[0] ?? '0x', hash]
    expect(await codeOf({ registry, trustedBlocks: many })).toBe('proven')
    expect(await codeOf({ registry: elsewhere, trustedBlocks })).toBe('other_registry')
    const { keccak256 } = await import('ethers')
    const code = await stack.provider.request({
      method: 'eth_getCode',
      params: [parseRegistryId(registry).address, 'latest'],
    })
    const codeHash = keccak256(code as Hex) as Hex
    expect(await codeOf({ registry, trustedBlocks, codeHash })).toBe('proven')
    expect(await codeOf({ registry, trustedBlocks, codeHash: flip(codeHash) })).toBe('other_code')
    await expect(
      verifyBundle(bundle, { registry: 'eip155:1:0xABC', trustedBlocks }),
    ).rejects.toThrow(TypeError)
  })

  test('error: rejects a proof of an account at the address that is not a registry', async () => {
    for (const address of [new Wallet(stack.issuerKey).address, flip(`0x${'9'.repeat(40)}`)]) {
      const registry = formatRegistryId(31_337, address)
      const { accountProof } = (await stack.provider.request({
        method: 'eth_getProof',
        params: [address, [], 'latest'],
      })) as { accountProof: Hex[] }
      const { body } = await bundleOf(golden.documents[0]?.publicId ?? '')
      const forged = {
        ...body,
        registry,
        stateProof: { ...body.stateProof, accountProof },
      }
      const { checks } = await verifyBundle(forged, {
        ...trusting(body),
        registry,
      })
      expect(checks).toEqual([{ check: 'chain', outcome: 'unknown', code: 'no_registry' }])
    }
  })
})

describe('GET /v1/documents/{publicId}/bundle', () => {
  test('error: refuses a mistyped publicId, no key, and a key without the scope', async () => {
    const publicId = golden.documents[0]?.publicId ?? ''
    const malformed = await bundleOf('abc')
    expect([malformed.status, malformed.body.error.code]).toEqual([400, 'bad_public_id'])
    const path = `/v1/documents/${publicId}/bundle`
    expect((await stack.request(path)).status).toBe(401)
    const key = `Bearer ${stack.key(['verify'])}`
    expect((await stack.request(path, { headers: { authorization: key } })).status).toBe(403)
  })

  test('error: reports a node without proofs, and no node at all', async () => {
    const { publicId } = await issue()
    const codeOf = async () => {
      const { status, headers, body } = await bundleOf(publicId)
      expect([status, headers.get('retry-after')]).toEqual([503, '2'])
      return [body.error.code, body.error.details[0]?.code]
    }
    stack.proxy.fail = (method) =>
      method === 'eth_getProof' ? { code: -32601, message: 'no' } : undefined
    expect(await codeOf()).toEqual(['unverifiable', 'proof_unavailable'])
    stack.proxy.fail = () => undefined
    stack.proxy.refuse = () => true
    expect(await codeOf()).toEqual(['unverifiable', 'rpc_unreachable'])
    stack.proxy.refuse = () => false
  })

  test('behavior: starts again at a newer block when the node has dropped the state meanwhile', async () => {
    const { publicId } = await issue()
    for (const proven of [
      () => bundleOf(publicId),
      () =>
        stack.request(`/v1/verify?publicId=${publicId}&proof=full`, {
          headers: { authorization },
        }),
    ]) {
      let overtaken = 0
      stack.proxy.change = async (method, result) => {
        if (method === 'eth_call' && overtaken++ === 0) await makeBlocks(12)
        return result
      }
      stack.proxy.asked.length = 0
      expect(await proven()).toMatchObject({ status: 200 })
      stack.proxy.change = (_, result) => result
      const proofs = stack.proxy.asked.filter((m) => m === 'eth_getProof')
      expect(proofs).toHaveLength(2)
    }
  })

  test('error: refuses a node that proves something else', async () => {
    const { publicId } = await issue()
    stack.proxy.change = (method, result) =>
      method === 'eth_getProof' ? { ...(result as object), accountProof: ['0x80'] } : result
    const { status, body } = await bundleOf(publicId)
    stack.proxy.change = (_, result) => result
    expect([status, body.error.details[0]?.code]).toEqual([503, 'proof_invalid'])
  })

  test('error: a document in flight gives no proof of absence', async () => {
    stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
    const issued = await stack.issue(ADA, { prefer: 'respond-async' })
    expect(issued.status).toBe(202)
    const { publicId } = issued.body.data
    const { status, body } = await bundleOf(publicId)
    expect([status, body.error.details[0].code]).toEqual([503, 'head_behind'])
    stack.proxy.refuse = () => false
    await expect.poll(async () => (await bundleOf(publicId)).status, { timeout: 20_000 }).toBe(200)
  })

  test('error: refuses a node that stands still', async () => {
    const impatient = await startStack({ MAX_HEAD_AGE_SECONDS: '1' })
    try {
      const { publicId } = (await impatient.issue(ADA)).body.data
      const path = `/v1/documents/${publicId}/bundle`
      const codeOf = async () =>
        (await impatient.request(path, { headers: { authorization } })).body.error?.details[0].code
      await expect.poll(codeOf, { timeout: 20_000 }).toBe('head_stale')
    } finally {
      await impatient.stop()
    }
  })

  test('error: reports that the block of the document is unavailable', async () => {
    const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
    const hash = new Uint8Array(32).fill(7)
    await send('issue', [1, hash, 0])
    const { documentKey } = keys
    const publicId = encodePublicId({
      kind: 'single',
      issuerId: 1,
      hash,
      documentKey,
    })
    const { status, body } = await bundleOf(publicId)
    expect([status, body.error.code]).toEqual([503, 'unverifiable'])
    await send('revoke', [1, toHex(hash), 1])
    const bundle = await bundleOf(publicId)
    expect([bundle.status, bundle.body.sealed]).toEqual([200, null])
    const verdict = await verifyBundle(bundle.body, trusting(bundle.body))
    expect(verdict.status).toBe('revoked')
  })
})

describe('GET /v1/verify?proof=full', () => {
  const verify = (query: string) =>
    stack.request(`/v1/verify?${query}`, { headers: { authorization } })

  test('default: proves a record, and the absence of one', async () => {
    const { publicId } = await issue()
    const issued = (await verify(`publicId=${publicId}&proof=full`)).body.data
    expect(issued).toMatchObject({ valid: true, document: ADA_ISSUED })
    expect(issued.checks[0].code).toBe('proven')
    expect(issued.blockchainProof.transactionHash).toMatch(/^0x/)
    expect(issued.asOf.blockHash).toMatch(/^0x[0-9a-f]{64}$/)

    const never = golden.documents[0]?.publicId
    const absent = (await verify(`publicId=${never}&proof=full`)).body.data
    expect(absent).toMatchObject({ status: 'not_issued', document: null })
    expect(Object.keys(absent.blockchainProof)).toEqual([
      'chainId',
      'registry',
      'documentHash',
      'stateProof',
    ])
    for (const [id, { blockchainProof, asOf }] of [
      [publicId, issued],
      [never, absent],
    ]) {
      const bundle = {
        type: 'document-registry-bundle',
        v: 1,
        publicId: id,
        registry: stack.registry,
        batch: null,
        sealed: null,
        stateProof: blockchainProof.stateProof,
        unprovenEvent: null,
      }
      const { asOf: block } = await verifyBundle(bundle, {
        registry: stack.registry,
        trustedBlocks: [asOf.blockHash],
      })
      expect(block && { ...block, blockTime: instant(block.blockTime) }).toEqual(asOf)
    }
  })

  test('behavior: without it, returns no proof and no block hash', async () => {
    const { publicId } = await issue()
    const { blockchainProof, asOf } = (await verify(`publicId=${publicId}`)).body.data
    expect(blockchainProof).not.toHaveProperty('stateProof')
    expect(asOf.blockHash).toBeNull()
  })

  test('error: refuses another value, or the parameter twice', async () => {
    for (const query of ['proof=half', 'proof=full&proof=full', 'proof=']) {
      const { status, body } = await verify(`publicId=x&${query}`)
      expect([status, body.error.details[0].field]).toEqual([400, 'proof'])
    }
  })
})

const ADA_ISSUED = { subjectName: ADA.subjectName }
