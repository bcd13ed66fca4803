import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hkdfWithNode, hmacWithNode, sealWithNode } from '#base/node-crypto.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { decodeDocument } from '#document/document.ts'
import { seal } from '#document/sealed.ts'

const documents = golden.documents.map(({ name, canonical }) => ({
  name,
  document: decodeDocument(new TextEncoder().encode(canonical)),
}))
const metadata = (entries: number) =>
  Object.fromEntries(Array.from({ length: entries }, (_, i) => [`clé ${i}`, 'x'.repeat(i * 9)]))

for (const { name, document } of [
  ...documents,
  ...[1, 7, 8, 9, 63, 64].map((entries) => ({
    name: `${entries} entries of metadata`,
    document: {
      ...documents[0]?.document,
      metadata: metadata(entries),
    } as (typeof documents)[number]['document'],
  })),
])
  test(`seals as WebCrypto does: ${name}`, async () => {
    const keys = {
      salt: randomBytes(16),
      documentKey: randomBytes(16),
      iv: randomBytes(12),
    }
    const { bytes, documentHash } = await sealWithNode(document, keys)
    const expected = await seal(document, keys)
    expect(Buffer.from(bytes)).toEqual(Buffer.from(expected.bytes))
    expect(Buffer.from(documentHash)).toEqual(Buffer.from(expected.documentHash))
  })

test.each([16, 31, 32, 33, 384, 1120, 8160])('derives %i bytes as hkdfSync does', (length) => {
  const [key, salt] = [randomBytes(16), randomBytes(16)]
  expect(Buffer.from(hkdfWithNode(key, salt)('info', length))).toEqual(
    Buffer.from(hkdfSync('sha256', key, salt, 'info', length)),
  )
})

test.each([0, 1, 55, 56, 64, 4096])('authenticates %i bytes as createHmac does', (length) => {
  const [key, message] = [randomBytes(32), randomBytes(length)]
  expect(Buffer.from(hmacWithNode(key, message))).toEqual(
    createHmac('sha256', key).update(message).digest(),
  )
})
