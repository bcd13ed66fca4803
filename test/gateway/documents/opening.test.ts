import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { openWithNode } from '#base/node-crypto.ts'
import type { Document } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { hkdf } from '#document/hkdf.ts'
import { deriveSealingKeys, deriveSubkeys, randomSalt } from '#document/keys.ts'
import { decodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import { createOpenIndexed } from '#documents/opening.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { BlockRead } from '#verifier/ports.ts'

const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  registry: `eip155:1:0x${'22'.repeat(20)}`,
  issuerId: 7,
}
const [newest, older, foreign] = [1, 2, 3].map(() => deriveSubkeys(randomBytes(32)))
if (!newest || !older || !foreign) throw new Error('three')

function openFrom(read: BlockRead, subkeys = [newest, older]) {
  const store = { get: async () => read } as unknown as PayloadStore
  return createOpenIndexed({
    issuerId: 7,
    store,
    opener: openWithNode,
    hkdf,
    subkeys: subkeys.flatMap((one) => one ?? []),
  })
}

describe('opening by documentHash', () => {
  test('restores the publicId, whichever secret sealed it', async () => {
    for (const subkeys of [newest, older]) {
      const keys = deriveSealingKeys(subkeys, randomSalt())
      const { bytes, documentHash } = await seal(document, keys)
      const open = openFrom({ status: 'found', bytes })
      const opening = await open({ documentHash: toHex(documentHash), batchBlock: null })
      if (opening.status !== 'opened') throw new Error(opening.status)
      expect(opening.document).toEqual(document)
      expect(decodePublicId(opening.publicId)).toMatchObject({
        kind: 'single',
        issuerId: 7,
        documentKey: keys.documentKey,
      })
    }
  })

  test('reports a malformed payload, or one of another secret, as missing', async () => {
    const { bytes, documentHash } = await seal(document, deriveSealingKeys(foreign, randomSalt()))
    for (const payload of [bytes, randomBytes(64)]) {
      const open = openFrom({ status: 'found', bytes: payload })
      const opening = await open({ documentHash: toHex(documentHash), batchBlock: null })
      expect(opening.status).toBe('missing')
    }
  })

  test('distinguishes an erased payload from a missing one', async () => {
    for (const status of ['missing', 'erased'] as const)
      expect(
        await openFrom({ status })({ documentHash: `0x${'00'.repeat(32)}`, batchBlock: null }),
      ).toEqual({ status, key: { issuerId: 7, documentHash: `0x${'00'.repeat(32)}` } })
  })
})
