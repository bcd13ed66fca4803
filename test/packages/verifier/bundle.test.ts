import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { Wallet } from 'ethers'
import { beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import type { Hex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { formatRegistryId, parseRegistryId } from '#document/registry-id.ts'
import { seal } from '#document/sealed.ts'
import { presentProof } from '#http/resources/present.ts'
import { type Bundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import type * as Verifier from '#verifier/index.ts'
import {
  blocks,
  bundleOf,
  issue,
  revoked,
  send,
  stack,
  trusting,
  useBundles,
} from '../../support/bundles.ts'
import { ADA, randomKey } from '../../support/given.ts'

useBundles()

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

describe('every verdict has a bundle that gives the same verdict offline', () => {
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
  ])('%s', async (status, make) => {
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
    expect(verdict.blockchainProof && presentProof(verdict.blockchainProof)).toEqual(
      online.blockchainProof && {
        ...online.blockchainProof,
        transactionHash: null,
        blockHash: null,
        logIndex: null,
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

  test('holds the event as the chain has it', async () => {
    const { publicId } = await issue()
    const { body } = await bundleOf(publicId)
    const { transactionHash, blockHash, logIndex } = (await stack.verify(publicId)).body.data
      .blockchainProof
    expect(body.unprovenEvent).toEqual({ transactionHash, blockHash, logIndex })
  })

  test('takes at most 4 KB beside the document and the nodes of the proof', async () => {
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

  test('verifies without fetch, sockets and Node', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export { verifyBundle, readBundle } from '#verifier/index.ts'`,
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
      AbortSignal,
      atob,
      btoa,
      crypto,
      CryptoKey,
      TextDecoder,
      TextEncoder,
      Uint8Array: globalThis.Uint8Array,
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

  test('an unchanged bundle is valid', async () => {
    expect(await outcomeOf(bundle)).toBe('valid: unproven')
    expect(await outcomeOf(JSON.stringify(bundle))).toBe('valid: unproven')
  })

  test('whole numbers are read by their value', async () => {
    const written = (version: string, logIndex: string) =>
      JSON.stringify({ ...bundle, unprovenEvent: { ...bundle.unprovenEvent, logIndex: 77 } })
        .replace('"v":1', `"v":${version}`)
        .replace('"logIndex":77', `"logIndex":${logIndex}`)
    for (const text of [written('1.0', '-0'), written('1e0', '0.0'), written('10e-1', '7e1')])
      expect(await outcomeOf(text)).toBe('valid: unproven')
    for (const text of [written('1.5', '0'), written('1', '-1'), written('1', '9007199254740992')])
      expect(await outcomeOf(text)).toBe('bundle_malformed')
  })

  test.each<[string, () => unknown, string]>([
    ['another type', () => ({ ...bundle, type: 'x' }), 'bundle_malformed'],
    ['another version', () => ({ ...bundle, v: 2 }), 'bundle_malformed'],
    ['a batch, of kind 1', () => ({ ...bundle, batch: '{}' }), 'bundle_malformed'],
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
  ])('%s', async (_, change, outcome) => {
    expect(await outcomeOf(change())).toBe(outcome)
  })

  test('rejects a change to the key, value or any node of each slot', async () => {
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

  test('the event does not affect the verdict, and is reported as unproven', async () => {
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

  test('names every bad field, and none of their values', async () => {
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
      { field: 'x', message: 'is an unknown member' },
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

  test('accepts the block, registry and code that the reader trusts', async () => {
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

  test('rejects a proof of an account at the address that is not a registry', async () => {
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
