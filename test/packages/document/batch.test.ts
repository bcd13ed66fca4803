import { sha256 } from '@noble/hashes/sha2.js'
import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import { describe, expect, test } from 'vitest'
import vectors from '#corpus/vectors/batches.json' with { type: 'json' }
import { buildBatch, recountBatch } from '#document/batch/batch.ts'
import {
  type BatchBlock,
  decodeBatchBlock,
  encodeBatchBlock,
  provesRoot,
} from '#document/batch/block.ts'
import type { BatchEntry } from '#document/batch/entry.ts'
import { createRows, sortRows } from '#document/batch/rows.ts'
import { isProofLength } from '#document/batch/tree.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const registry = vectors.registry as RegistryId
const { issuerId } = vectors

/** Builds the entries that `entries` in the vectors describes. */
function* numbered(size: number): Generator<BatchEntry> {
  for (let i = 0; i < size; i++)
    yield {
      documentHash: sha256(bytes(`document ${i}`)),
      validUntil: [0, 172_800, 4_102_444_800][i % 3] as number,
    }
}

const batchOf = (size: number) => buildBatch({ registry, issuerId }, numbered(size))

describe.each(vectors.batches)('the golden batch of $size', (vector) => {
  test('has the root, manifest and chunks of the vector', async () => {
    const batch = await batchOf(vector.size)
    expect(batch).toMatchObject({ registry, issuerId, size: vector.size })
    expect(batch.root).toBe(vector.root)
    expect(text(batch.manifestBlock)).toBe(vector.manifestBlock)
    expect(batch.manifest).toBe(vector.manifest)
    const chunks = [...batch.chunks()].map((chunk) => toHex(chunk).slice(2))
    expect(chunks).toEqual(vector.chunks)
  })

  test('encodes and decodes its batch blocks and publicIds', async () => {
    const batch = await batchOf(vector.size)
    const blocks = [...batch.blocks()]
    expect(blocks.map((block) => text(encodeBatchBlock(block)))).toEqual(
      vector.documents.map(({ block }) => block),
    )
    for (const [i, one] of vector.documents.entries()) {
      const block = decodeBatchBlock(bytes(one.block))
      expect(block).toEqual(blocks[i])
      expect(provesRoot(block)).toBe(true)
      const hash = fromHex(one.documentHash as Hex)
      expect(batch.blockOf(hash)).toEqual(block)
      const publicId = {
        kind: 'batch',
        issuerId,
        hash: sha256(bytes(one.block)),
        documentKey: fromHex(`0x${vectors.documentKey}`),
      } as const
      expect(encodePublicId(publicId)).toBe(one.publicId)
      expect(decodePublicId(one.publicId)).toEqual(publicId)
    }
    expect(batch.blockOf(sha256(bytes('another')))).toBeUndefined()
  })

  test('is recounted from its manifest', async () => {
    const chunks = vector.chunks.map((chunk) => fromHex(`0x${chunk}`))
    const batch = await recountBatch(bytes(vector.manifestBlock), chunks)
    expect(batch.manifest).toBe(vector.manifest)
    expect([...batch.blocks()]).toEqual([...(await batchOf(vector.size)).blocks()])
  })
})

test.each(vectors.large)('the golden batch of $size ends at the end of a chunk', async (vector) => {
  const batch = await batchOf(vector.size)
  expect(text(batch.manifestBlock)).toBe(vector.manifestBlock)
  expect(batch.manifest).toBe(vector.manifest)
  const blocks = [...batch.blocks()]
  const ends = [blocks.at(0), blocks.at(-1)] as BatchBlock[]
  expect(ends.map((block) => text(encodeBatchBlock(block)))).toEqual([
    vector.firstBlock,
    vector.lastBlock,
  ])
  const recounted = await recountBatch(batch.manifestBlock, batch.chunks())
  expect(recounted.manifest).toBe(vector.manifest)
})

test.each([1, 2, 3, 7, 16, 33, 1_000])(
  'agrees with @openzeppelin/merkle-tree on a batch of %i',
  async (size) => {
    const batch = await batchOf(size)
    const leaves = [...numbered(size)].map(({ documentHash, validUntil }) => [
      toHex(documentHash),
      validUntil,
    ])
    const tree = StandardMerkleTree.of(leaves, ['bytes32', 'uint40'])
    expect(batch.root).toBe(tree.root)
    for (const leaf of leaves.slice(0, 40)) {
      const block = batch.blockOf(fromHex(leaf[0] as Hex))
      const proof = tree.getProof(leaf).map((one) => one.slice(2))
      expect(toHex(block?.proof ?? bytes('none'))).toBe(`0x${proof.join('')}`)
    }
  },
)

test('every proof has a length that the contract accepts', async () => {
  for (let size = 1; size <= 130; size++)
    for (const { proof } of (await batchOf(size)).blocks())
      expect(isProofLength(proof.length / 32, size)).toBe(true)
})

test('proves no other leaf and no inner node', async () => {
  const [block] = (await batchOf(9)).blocks()
  if (!block) throw new Error('no block')
  const proof = block.proof.slice()
  proof[0] = (proof[0] ?? 0) ^ 1
  for (const change of [
    { validUntil: block.validUntil + 1 },
    { documentHash: toHex(sha256(bytes('another'))) },
    { root: toHex(sha256(bytes('another'))) },
    { proof },
    { proof: block.proof.subarray(32) },
  ])
    expect(provesRoot({ ...block, ...change })).toBe(false)
})

test('reads entries from a stream, in any order', async () => {
  async function* backwards() {
    yield* [...numbered(9)].reverse()
  }
  const batch = await buildBatch({ registry, issuerId }, backwards())
  expect(batch.root).toBe((await batchOf(9)).root)
})

test.each<[string, BatchEntry[]]>([
  ['manifest_malformed', []],
  ['manifest_repeated', [...numbered(3), ...numbered(1)]],
  ['manifest_repeated', [...numbered(3)].flatMap((one) => [one, { ...one, validUntil: 86_400 }])],
])('%s', async (code, entries) => {
  await expect(buildBatch({ registry, issuerId }, entries)).rejects.toMatchObject({
    name: 'FormatError',
    code,
  })
})

test.each([
  { documentHash: new Uint8Array(31), validUntil: 0 },
  { documentHash: new Uint8Array(32), validUntil: 2 ** 40 },
  { documentHash: new Uint8Array(32), validUntil: -1 },
  { documentHash: new Uint8Array(32), validUntil: 0.5 },
])('rejects a malformed entry: %o', async (entry) => {
  await expect(buildBatch({ registry, issuerId }, [entry])).rejects.toBeInstanceOf(TypeError)
})

test('compares rows with the same prefix to the end', async () => {
  const keys = [3, 1, 2, 1].map((last) => Uint8Array.of(0, 0, 0, 0, last))
  const rows = createRows(5)
  for (const key of keys) rows.push(key)
  expect([...(await sortRows(rows))]).toEqual([1, 3, 2, 0])
})
