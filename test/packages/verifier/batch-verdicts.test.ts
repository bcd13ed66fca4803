import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '@noble/hashes/sha2.js'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Batch, buildBatch } from '#document/batch/batch.ts'
import { type BatchBlock, encodeBatchBlock } from '#document/batch/block.ts'
import { type Document, validUntilOf } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import { formatRegistryId, type RegistryId } from '#document/registry-id.ts'
import { seal } from '#document/sealed.ts'
import { createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import type { BlockSource, ChainReader } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import type { Verdict } from '#verifier/verdict.ts'
import { verify } from '#verifier/verify.ts'
import { type AnvilNode, startAnvilNode } from '../../support/anvil.ts'
import { ADA, randomKey } from '../../support/given.ts'
import { patient } from '../../support/patient.ts'
import { deployRegistry, transact } from '../../support/transact.ts'

// Documents of batches in each status, read from one node, with a proof, and from a bundle.

const REASON = { keyCompromise: 1, superseded: 4, certificateHold: 6 }
const keys = { admin: randomKey(), manager: randomKey(), issuer: randomKey() }
const dir = mkdtempSync(join(tmpdir(), 'batches-'))
const subkeys = deriveSubkeys(new Uint8Array(32))
const stored = new Map<string, Uint8Array>()
const blocks: BlockSource = {
  async get(hash) {
    const bytes = stored.get(toHex(hash))
    return bytes ? { status: 'found', bytes } : { status: 'missing' }
  },
}
const store = (bytes: Uint8Array): Uint8Array => {
  const hash = sha256(bytes)
  stored.set(toHex(hash), bytes)
  return hash
}

type Sealed = {
  documentHash: Uint8Array
  documentKey: Uint8Array
  validUntil: number
}
/** Of the batch blocks that a test makes up, or of the ones that were issued. */
const publicIdOf = (block: BatchBlock, { documentKey }: Sealed, issuerId = 1) =>
  encodePublicId({
    kind: 'batch',
    issuerId,
    hash: store(encodeBatchBlock(block)),
    documentKey,
  })

let anvil: AnvilNode
let registry: RegistryId
let open: Batch
let held: Batch
const documents: Sealed[] = []
const inHeld: Sealed[] = []

const provider = () => patient(createFetchProvider(anvil.url))
const send = (name: string, ...args: unknown[]) =>
  transact(provider(), registry, keys.issuer, name, [1, ...args])

async function sealOne(fields: object = {}): Promise<Sealed> {
  const document: Document = { ...ADA, ...fields, registry, issuerId: 1 }
  const sealing = deriveSealingKeys(subkeys, randomSalt())
  const { bytes } = await seal(document, sealing)
  return {
    documentHash: store(bytes),
    documentKey: sealing.documentKey,
    validUntil: validUntilOf(document),
  }
}

async function issueBatch(entries: Sealed[]): Promise<Batch> {
  const batch = await buildBatch({ registry, issuerId: 1 }, entries)
  await send('issueBatch', batch.root, batch.size, batch.manifest)
  return batch
}

beforeAll(async () => {
  anvil = await startAnvilNode(dir)
  for (const key of Object.values(keys))
    await anvil.request('anvil_setBalance', new Wallet(key).address, '0x56bc75e2d63100000')
  registry = await deployRegistry(provider(), keys, {
    name: 'Registry office of Testville',
    uri: 'https://testville.example',
  })
  for (const fields of [
    { expiresAt: '2090-01-01' },
    { expiresAt: '2026-02-01' },
    ...Array(4).fill({}),
  ])
    documents.push(await sealOne(fields))
  for (let i = 0; i < 3; i++) inHeld.push(await sealOne())
  open = await issueBatch(documents)
  held = await issueBatch(inHeld)
  const revoke = (batch: Batch, one: Sealed | undefined, reason: number) =>
    send('revokeInBatch', batch.root, [one?.documentHash], reason)
  await revoke(open, documents[2], REASON.keyCompromise)
  await revoke(open, documents[3], REASON.certificateHold)
  await revoke(open, documents[4], REASON.superseded)
  await send('revokeBatch', held.root, REASON.certificateHold)
  await revoke(held, inHeld[1], REASON.keyCompromise)
})
afterAll(async () => {
  await anvil?.kill()
  rmSync(dir, { recursive: true, force: true })
})

const one = (): ChainReader => createChainReader(provider(), registry)
const proving = (): ChainReader => createProvingReader(provider(), registry)
const judge = (publicId: string, chain = one(), from = [blocks]) =>
  verify(publicId, { chain, blocks: from })

function blockOf(batch: Batch, sealed: Sealed | undefined): BatchBlock {
  const block = sealed && batch.blockOf(sealed.documentHash)
  if (!block) throw new Error('not in the batch')
  return block
}
const issuedId = (batch: Batch, sealed = documents[0]) =>
  publicIdOf(blockOf(batch, sealed), sealed as Sealed)

/** The check that ended it. */
const ended = ({ status, checks }: Verdict) => {
  const { check, outcome, code } = checks.find(
    (each) => each.outcome !== 'pass' && each.check !== 'event',
  ) ?? { check: null, outcome: null, code: null }
  return [status, check, outcome, code]
}

describe('documents of a batch', () => {
  test.each<[string, () => [Batch, Sealed | undefined], string]>([
    ['valid', () => [open, documents[0]], 'valid'],
    ['past its last day', () => [open, documents[1]], 'expired'],
    ['revoked on its own', () => [open, documents[2]], 'revoked'],
    ['suspended on its own', () => [open, documents[3]], 'suspended'],
    ['superseded', () => [open, documents[4]], 'superseded'],
    ['suspended with its batch', () => [held, inHeld[0]], 'suspended'],
    ['revoked in a suspended batch', () => [held, inHeld[1]], 'revoked'],
  ])('are %s, alike from node, proof and bundle', async (_, which, status) => {
    const [batch, sealed] = which()
    const publicId = issuedId(batch, sealed)
    const verdict = await judge(publicId)
    expect(verdict.status).toBe(status)
    expect(verdict.checks[0]).toEqual({ check: 'batch', outcome: 'pass', code: 'read' })
    expect(verdict.checks.at(-1)?.code).toBe('agrees')
    expect(verdict.document?.subjectName).toBe(ADA.subjectName)
    expect(verdict.blockchainProof).toMatchObject({
      documentHash: toHex(sealed?.documentHash as Uint8Array),
      batchRoot: batch.root,
      issuer: { id: 1, name: 'Registry office of Testville' },
      account: { address: new Wallet(keys.issuer).address.toLowerCase() },
      transactionHash: expect.stringMatching(/^0x/),
    })
    const proven = await judge(publicId, proving())
    expect(proven.blockchainProof).toEqual(verdict.blockchainProof)
    const bundle = await createBundle(publicId, {
      provider: provider(),
      registry,
      blocks: [blocks],
    })
    const trustedBlocks = [readBundle(bundle).block.blockHash]
    const read = await verifyBundle(JSON.stringify(bundle), { registry, trustedBlocks })
    expect([read.status, read.document]).toEqual([status, verdict.document])
  })

  test('are not issued when the publicId is of a single document', async () => {
    const { documentHash: hash, documentKey } = documents[2] as Sealed
    const id = { kind: 'single', issuerId: 1, hash, documentKey } as const
    for (const chain of [one(), proving()])
      expect((await judge(encodePublicId(id), chain)).status).toBe('not_issued')
  })

  test('are unverifiable or erased without the sealed document', async () => {
    const { documentHash } = documents[0] as Sealed
    const without = (status: 'erased' | 'missing'): BlockSource => ({
      get: async (hash) => (toHex(hash) === toHex(documentHash) ? { status } : blocks.get(hash)),
    })
    const statusWith = async (status: 'erased' | 'missing') =>
      (await judge(issuedId(open), one(), [without(status)])).status
    expect(await statusWith('erased')).toBe('erased')
    expect(await statusWith('missing')).toBe('unverifiable')
  })
})

describe('unusable batch blocks', () => {
  const changed = (more: Partial<BatchBlock>) =>
    publicIdOf({ ...blockOf(open, documents[0]), ...more }, documents[0] as Sealed)

  test.each<[string, () => Partial<BatchBlock>]>([
    ['another expiry', () => ({ validUntil: 0 })],
    ['another document', () => ({ documentHash: `0x${'5a'.repeat(32)}` })],
    ['the root of another batch', () => ({ root: held.root })],
    ['a root that was not issued', () => ({ root: `0x${'5a'.repeat(32)}` })],
    ['the proof of another document', () => ({ proof: blockOf(open, documents[1]).proof })],
    ['a proof that fits another size', () => ({ size: 2, proof: new Uint8Array(32) })],
  ])('reports not_issued for %s', async (_, more) => {
    for (const chain of [one(), proving()])
      expect(ended(await judge(changed(more()), chain))).toEqual([
        'not_issued',
        'record',
        'fail',
        'not_issued',
      ])
  })

  test('does not compare size and manifest with the chain', async () => {
    const more = { size: 7, manifest: `0x${'5a'.repeat(32)}` as const }
    expect((await judge(changed(more))).status).toBe('valid')
  })

  test('reports a block of another registry or issuer, and other bytes, as tampered', async () => {
    const foreign = formatRegistryId(31_337, `0x${'5a'.repeat(20)}`)
    const [sealed] = documents as [Sealed]
    const garbage = encodePublicId({
      kind: 'batch',
      issuerId: 1,
      documentKey: sealed.documentKey,
      hash: store(new TextEncoder().encode('{}')),
    })
    const other = publicIdOf(blockOf(open, sealed), sealed, 2)
    for (const [publicId, code] of [
      [changed({ registry: foreign }), 'other_registry'],
      [changed({ issuerId: 2 }), 'other_issuer'],
      [other, 'other_issuer'],
      [garbage, 'batch_malformed'],
    ] as const) {
      const verdict = await judge(publicId)
      expect(ended(verdict)).toEqual(['tampered', 'batch', 'fail', code])
      expect([verdict.asOf, verdict.checks.length]).toEqual([null, 1])
      const bundle = await createBundle(publicId, {
        provider: provider(),
        registry,
        blocks: [blocks],
      })
      const trustedBlocks = [readBundle(bundle).block.blockHash]
      const read = await verifyBundle(JSON.stringify(bundle), { registry, trustedBlocks })
      expect(read).toEqual(verdict)
    }
  })

  test('is unverifiable when it is missing, unreachable or wrong', async () => {
    const publicId = issuedId(open)
    const source = (get: BlockSource['get']) => [{ get }]
    for (const [from, code] of [
      [[], 'missing'],
      [source(async () => ({ status: 'missing' })), 'missing'],
      [source(async () => ({ status: 'erased' })), 'erased'],
      [source(() => Promise.reject(new Error('down'))), 'unreachable'],
      [source(async () => ({ status: 'found', bytes: new Uint8Array(1) })), 'wrong_bytes'],
    ] as const) {
      expect(ended(await judge(publicId, one(), [...from]))).toEqual([
        'unverifiable',
        'batch',
        'unknown',
        code,
      ])
      await expect(
        createBundle(publicId, { provider: provider(), registry, blocks: from }),
      ).rejects.toMatchObject({
        code: 'batch_unknown',
        cause: { check: 'batch', outcome: 'unknown', code },
      })
    }
  })

  test('rejects a bundle without its batch block, or with another', async () => {
    const bundle = await createBundle(issuedId(open), {
      provider: provider(),
      registry,
      blocks: [blocks],
    })
    const trustedBlocks = [readBundle(bundle).block.blockHash]
    const outcome = async (batch: string | null) =>
      ended(await verifyBundle({ ...bundle, batch }, { registry, trustedBlocks }))
    expect(await outcome(null)).toEqual(['unverifiable', 'batch', 'unknown', 'missing'])
    expect(await outcome('{}')).toEqual(['unverifiable', 'batch', 'unknown', 'wrong_bytes'])
  })
})
