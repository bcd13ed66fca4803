import { sha256 } from '@noble/hashes/sha2.js'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildBatch } from '#document/batch/batch.ts'
import { type BatchBlock, encodeBatchBlock } from '#document/batch/block.ts'
import { encodeDocument, validUntilOf } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { sealPlaintext } from '#document/sealed.ts'
import { type BlockServer, startBlockServer } from '../support/block-server.ts'
import { NO_DOCUMENT_SD, sealAnything } from '../support/seal-plaintext.ts'
import { ADA, randomKey, type Stack, startStack } from '../support/stack.ts'
import { PERMISSION, transact } from '../support/transact.ts'

let stack: Stack
let blocks: BlockServer
beforeAll(async () => {
  blocks = await startBlockServer()
  stack = await startStack({ IPFS_GATEWAYS: blocks.url })
})
afterAll(async () => {
  await stack.stop()
  await blocks.close()
})

const send = (name: string, args: unknown[], key = stack.issuerKey) =>
  transact(stack.provider, stack.registry, key, name, args)

const bound = (fields: object = {}) => ({
  ...ADA,
  registry: stack.registry,
  issuerId: 1,
  ...fields,
})

/** Anchors a block that the gateway did not make, and serves it. */
async function anchor(
  plaintext: Uint8Array,
  { validUntil = 0, block, sd }: { validUntil?: number; block?: Uint8Array; sd?: string } = {},
) {
  const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32).fill(9)), randomSalt())
  const sealed = await (sd === undefined
    ? sealAnything(plaintext, keys)
    : sealPlaintext(plaintext, sd, keys))
  const bytes = block ?? sealed.bytes
  const hash = block
    ? new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(block)))
    : sealed.documentHash
  blocks.set(hash, bytes)
  await send('issue', [1, hash, validUntil])
  return {
    hash,
    bytes,
    publicId: encodePublicId({
      kind: 'single',
      issuerId: 1,
      hash,
      documentKey: keys.documentKey,
    }),
  }
}

const verdictOf = async (publicId: string) => {
  const { status, body } = await stack.verify(publicId)
  expect(status).toBe(200)
  return body.data
}

const text = (value: string) => new TextEncoder().encode(value)
const document = (fields: object = {}) =>
  encodeDocument(bound(fields) as Parameters<typeof encodeDocument>[0])

test('verifies a document that another program sealed', async () => {
  const { publicId } = await anchor(document())
  expect(await verdictOf(publicId)).toMatchObject({
    valid: true,
    status: 'valid',
  })
})

test('names the document that it supersedes', async () => {
  const supersedes = `0x${'09af'.repeat(16)}`
  const { publicId } = await anchor(document({ supersedes }))
  const { valid, document: shown } = await verdictOf(publicId)
  expect(valid).toBe(true)
  expect(shown.supersedes).toBe(supersedes)
})

describe('a document with the right hash and content that does not fit', () => {
  test.each<[string, () => Uint8Array, string]>([
    ['not JSON', () => text('hello'), 'json_syntax'],
    ['a list', () => text('[]'), 'document_fields'],
    ['a field missing', () => document({ subjectId: undefined }), 'document_fields'],
    ['a field too many', () => document({ extra: '1' }), 'document_fields'],
    ['a bad field', () => document({ subjectId: 'x' }), 'document_fields'],
    ['not canonical', () => text(JSON.stringify(bound(), null, 1)), 'not_canonical'],
    ['a key twice', () => text('{"a":1,"a":1}'), 'json_duplicate_key'],
    [
      'another registry',
      () => document({ registry: `eip155:1:0x${'0'.repeat(40)}` }),
      'other_registry',
    ],
    ['another issuer', () => document({ issuerId: 2 }), 'other_issuer'],
    ['metadata without an entry', () => document({ metadata: {} }), 'document_fields'],
    [
      'an expiry that the record does not have',
      () => document({ expiresAt: '2090-01-01' }),
      'other_expiry',
    ],
  ])('%s', async (_, plaintext, code) => {
    const { publicId } = await anchor(plaintext())
    const verdict = await verdictOf(publicId)
    expect(verdict).toMatchObject({
      valid: false,
      status: 'tampered',
      document: null,
    })
    expect(verdict.checks).toContainEqual({
      check: 'content',
      outcome: 'fail',
      code,
    })
  })

  test('rejects a header that was made for another document', async () => {
    const { publicId } = await anchor(document(), { sd: NO_DOCUMENT_SD })
    const verdict = await verdictOf(publicId)
    expect(verdict).toMatchObject({ status: 'tampered', document: null })
    expect(verdict.checks).toContainEqual({
      check: 'content',
      outcome: 'fail',
      code: 'other_disclosures',
    })
  })

  test('rejects an expiry that the document does not have', async () => {
    const validUntil = validUntilOf({ expiresAt: '2090-01-01' })
    const { publicId } = await anchor(document(), { validUntil })
    expect((await verdictOf(publicId)).status).toBe('tampered')
  })

  test('rejects a block that is not a sealed document', async () => {
    const { publicId } = await anchor(document(), { block: text('hello') })
    expect((await verdictOf(publicId)).status).toBe('tampered')
  })

  test("rejects another issuer's record of this issuer's document", async () => {
    const key = randomKey()
    const { address } = new Wallet(key)
    await send('registerIssuer', [address, 'Forger', ''], stack.adminKey)
    await stack.provider.request({
      method: 'anvil_setBalance',
      params: [address, '0xde0b6b3a7640000'],
    })
    const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32)), randomSalt())
    const sealed = await sealAnything(document(), keys)
    blocks.set(sealed.documentHash, sealed.bytes)
    await send('setPermissions', [2, address, PERMISSION.issue], key)
    await send('issue', [2, sealed.documentHash, 0], key)
    const idOf = (issuerId: number) =>
      encodePublicId({
        kind: 'single',
        issuerId,
        hash: sealed.documentHash,
        documentKey: keys.documentKey,
      })
    const verdict = await verdictOf(idOf(2))
    expect(verdict).toMatchObject({ valid: false, status: 'tampered' })
    expect(verdict.checks).toContainEqual({
      check: 'content',
      outcome: 'fail',
      code: 'other_issuer',
    })
    expect(verdict.blockchainProof.issuer.name).toBe('Forger')
    expect((await verdictOf(idOf(1))).status).toBe('not_issued')
  })
})

test('rejects another key in the publicId', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  const { hash } = decodePublicId(publicId)
  const forged = encodePublicId({
    kind: 'single',
    issuerId: 1,
    hash,
    documentKey: new Uint8Array(16),
  })
  expect(await verdictOf(forged)).toMatchObject({
    valid: false,
    status: 'wrong_key',
    document: null,
  })
})

describe('expired', () => {
  const day = (offset: number) =>
    new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)

  test('is expired the day after its last day', async () => {
    const issued = await stack.issue({ ...ADA, expiresAt: day(-1) })
    expect(issued.status).toBe(201)
    expect(issued.body.data.status).toBe('expired')
    const verdict = await verdictOf(issued.body.data.publicId)
    expect(verdict).toMatchObject({ valid: false, status: 'expired' })
    expect(verdict.document.subjectName).toBe(ADA.subjectName)
  })

  test('is valid through the end of its last day', async () => {
    const today = day(0)
    const issued = await stack.issue({ ...ADA, expiresAt: today })
    if (day(0) !== today) return // midnight, UTC, in between
    expect((await verdictOf(issued.body.data.publicId)).status).toBe('valid')
  })
})

test('a document dated in the future is valid, and a check says so', async () => {
  const { publicId } = await anchor(document({ issuedAt: '2999-03-01' }))
  const verdict = await verdictOf(publicId)
  expect(verdict).toMatchObject({ valid: true, status: 'valid' })
  const names = verdict.checks.map(({ check }: { check: string }) => check)
  expect(names.slice(-3)).toEqual(['expiry', 'dating', 'event'])
  expect(verdict.checks.at(-2)).toEqual({
    check: 'dating',
    outcome: 'fail',
    code: 'in_future',
  })
})

test('verifies a document of a batch that the gateway did not issue', async () => {
  const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32).fill(9)), randomSalt())
  const { bytes, documentHash } = await sealAnything(document(), keys)
  const { registry } = stack
  const entries = [{ documentHash, validUntil: 0 }]
  const batch = await buildBatch({ registry, issuerId: 1 }, entries)
  const block = encodeBatchBlock(batch.blockOf(documentHash) as BatchBlock)
  const hash = sha256(block)
  blocks.set(documentHash, bytes)
  blocks.set(hash, block)
  await send('issueBatch', [1, batch.root, batch.size, batch.manifest])
  const { documentKey } = keys
  const id = { kind: 'batch', issuerId: 1, hash, documentKey } as const
  const verdict = await verdictOf(encodePublicId(id))
  expect(verdict).toMatchObject({
    status: 'valid',
    document: { documentHash: toHex(documentHash) },
    blockchainProof: {
      documentHash: toHex(documentHash),
      batchRoot: batch.root,
    },
  })
  expect(verdict.document.blockchainHash).toMatch(/^0x/)
})

describe('after a theft', () => {
  const stolenKey = randomKey()
  const stolen = new Wallet(stolenKey).address
  const ours = () => new Wallet(stack.issuerKey).address.toLowerCase()
  const manager = () => new Wallet(stack.adminKey).address.toLowerCase()
  const issued = async () => (await stack.issue(ADA)).body.data
  const forged = async () => {
    const keys = deriveSealingKeys(deriveSubkeys(new Uint8Array(32).fill(9)), randomSalt())
    const { documentHash: hash, bytes } = await sealAnything(document(), keys)
    blocks.set(hash, bytes)
    await send('issue', [1, hash, 0], stolenKey)
    const id = { kind: 'single', issuerId: 1, hash } as const
    return { hash, publicId: encodePublicId({ ...id, ...keys }) }
  }

  test('judges what the thief issued, revoked and released, before and after the repair', async () => {
    await send('addAccount', [1, stolen, 3], stack.adminKey)
    await stack.provider.request({
      method: 'anvil_setBalance',
      params: [stolen, '0xde0b6b3a7640000'],
    })
    const { publicId, documentHash } = await issued()
    const [one, two] = [await forged(), await forged()]
    await send('revoke', [1, documentHash, 1], stolenKey)
    await send('revoke', [1, two.hash, 1])
    expect((await verdictOf(one.publicId)).status).toBe('valid')
    const before = await verdictOf(publicId)
    expect(before).toMatchObject({
      status: 'revoked',
      blockchainProof: {
        account: { address: ours(), changedBlock: null, retiredBlock: null },
        revoker: { address: stolen.toLowerCase(), retiredBlock: null },
        setAside: false,
      },
    })

    await send('distrustFrom', [1, stolen, 1], stack.adminKey)
    expect((await verdictOf(one.publicId)).status).toBe('distrusted')
    const both = await verdictOf(two.publicId)
    expect(both.status).toBe('distrusted')
    expect(both.checks).toContainEqual({ check: 'revocation', outcome: 'fail', code: 'revoked' })
    // Distrust alone makes nothing valid.
    expect((await verdictOf(publicId)).status).toBe('revoked')

    await send('setPermissions', [1, manager(), 7], stack.adminKey)
    await send('release', [1, documentHash], stack.adminKey)
    const { blockchainProof, ...after } = await verdictOf(publicId)
    expect(after.status).toBe('valid')
    expect(blockchainProof).toMatchObject({
      revokedAt: null,
      reason: null,
      setAside: true,
      releasedAt: expect.stringMatching(/Z$/),
      revoker: { address: manager(), changedBlock: expect.any(Number) },
    })

    await send('issue', [1, one.hash, 0])
    expect(await verdictOf(one.publicId)).toMatchObject({
      status: 'valid',
      blockchainProof: { account: { address: ours() }, setAside: false },
    })
  })
})

describe('revoked', () => {
  test.each([
    [0, 'revoked', 'unspecified'],
    [1, 'revoked', 'keyCompromise'],
    [4, 'superseded', 'superseded'],
    [9, 'revoked', 'privilegeWithdrawn'],
  ])('reports reason %i', async (reason, status, name) => {
    const { publicId, documentHash } = (await stack.issue(ADA)).body.data
    await send('revoke', [1, documentHash, reason])
    const verdict = await verdictOf(publicId)
    expect(verdict).toMatchObject({ valid: false, status })
    expect(verdict.blockchainProof).toMatchObject({ reason: name })
    expect(Date.parse(verdict.blockchainProof.revokedAt)).toBeGreaterThan(1.7e12)
    expect(verdict.document.subjectName).toBe(ADA.subjectName)
  })

  test('reports revoked before expired', async () => {
    const fields = { ...ADA, expiresAt: '2026-02-01' }
    const { publicId, documentHash } = (await stack.issue(fields)).body.data
    await send('revoke', [1, documentHash, 1])
    expect((await verdictOf(publicId)).status).toBe('revoked')
  })
})

describe('an unavailable payload', () => {
  const unverifiable = async (publicId: string, code: string) => {
    const { status, headers, body } = await stack.verify(publicId)
    expect(status).toBe(503)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(body.error.code).toBe('unverifiable')
    expect(body.error.details).toContainEqual({
      check: 'payload',
      outcome: 'unknown',
      code,
    })
  }

  test('is unverifiable when no source has it', async () => {
    const { publicId, hash } = await anchor(document())
    blocks.set(hash, 404)
    await unverifiable(publicId, 'missing')
  })

  test('is unverifiable when a source answers with an error', async () => {
    const { publicId, hash } = await anchor(document())
    blocks.set(hash, 500)
    await unverifiable(publicId, 'unreachable')
  })

  test('is unverifiable when a source returns other bytes', async () => {
    const { publicId, hash, bytes } = await anchor(document())
    const other = bytes.slice()
    other[300] = (other[300] ?? 0) ^ 1
    blocks.set(hash, other)
    await unverifiable(publicId, 'wrong_bytes')
    blocks.set(hash, bytes)
    expect((await verdictOf(publicId)).status).toBe('valid')
  })

  test("does not treat another gateway's 410 as an erasure", async () => {
    const { publicId, hash } = await anchor(document())
    blocks.set(hash, 410)
    await unverifiable(publicId, 'missing')
  })

  test('reports a revocation anyway', async () => {
    const { publicId, hash } = await anchor(document())
    blocks.set(hash, 404)
    await send('revoke', [1, toHex(hash) satisfies Hex, 1])
    expect(await verdictOf(publicId)).toMatchObject({
      status: 'revoked',
      document: null,
    })
  })
})
