import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import { id } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freshRegistry } from '#scripts/fresh-registry.ts'

const VALID = 1n
const NOT_ISSUED = 0n
type Leaf = [documentHash: string, validUntil: number]

let chain: Awaited<ReturnType<typeof freshRegistry>>
beforeAll(async () => {
  chain = await freshRegistry()
})
afterAll(() => chain.connection.close())

const leaves = (count: number): Leaf[] =>
  Array.from({ length: count }, (_, index) => [
    id(`${count}/${index}`),
    index % 3 === 0 ? 0 : 4_000_000_000 + index,
  ])

async function anchored(count: number): Promise<StandardMerkleTree<Leaf>> {
  const tree = StandardMerkleTree.of(leaves(count), ['bytes32', 'uint40'])
  await chain.registry.connect(chain.issuer).issueBatch(1, tree.root, count, id('manifest'))
  return tree
}

describe('the registry and @openzeppelin/merkle-tree', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33])(
    'agree on every leaf of %i',
    async (count) => {
      const tree = await anchored(count)
      for (const [index, [hash, validUntil]] of tree.entries()) {
        const proof = tree.getProof(index)
        expect(await chain.registry.statusInBatch(1, tree.root, hash, validUntil, proof)).toBe(
          VALID,
        )
        expect(await chain.registry.statusInBatch(1, tree.root, hash, validUntil + 1, proof)).toBe(
          NOT_ISSUED,
        )
        expect(await chain.registry.statusInBatch(1, tree.root, id(hash), validUntil, proof)).toBe(
          NOT_ISSUED,
        )
        expect(
          await chain.registry.statusInBatch(1, tree.root, hash, validUntil, [...proof, tree.root]),
        ).toBe(NOT_ISSUED)
        if (count > 1) {
          expect(
            await chain.registry.statusInBatch(1, tree.root, hash, validUntil, proof.slice(1)),
          ).toBe(NOT_ISSUED)
          const anothers = tree.getProof((index + 1) % count)
          const library = tree.verify([hash, validUntil], anothers)
          expect(await chain.registry.statusInBatch(1, tree.root, hash, validUntil, anothers)).toBe(
            library ? VALID : NOT_ISSUED,
          )
        }
      }
    },
  )

  test.each([1_000, 4_097])('agree on sampled leaves of a tree of %i', async (count) => {
    const tree = await anchored(count)
    for (let index = 0; index < count; index += Math.ceil(count / 50)) {
      const [hash, validUntil] = tree.at(index) as Leaf
      const verification = await chain.registry.verificationInBatch(
        1,
        tree.root,
        hash,
        validUntil,
        tree.getProof(index),
      )
      expect(verification.status).toBe(VALID)
      expect(verification.record.validUntil).toBe(BigInt(validUntil))
    }
  })
})
