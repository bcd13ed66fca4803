import { randomBytes } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import { describe, expect, test } from 'vitest'
import { openWithNode } from '#base/node-crypto.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { decodeDocument } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { decodeOpened, type Opener, open, seal } from '#document/sealed.ts'

const keys = {
  salt: randomBytes(16),
  documentKey: randomBytes(16),
  iv: randomBytes(12),
}
const documents = golden.documents.map(({ name, canonical }) => ({
  name,
  document: decodeDocument(new TextEncoder().encode(canonical)),
}))

test.each(documents)('opens $name as WebCrypto does', async ({ document }) => {
  const { bytes } = await seal(document, keys)
  const opened = await openWithNode.open(bytes, keys.documentKey)
  const { plaintext, ...header } = await open(bytes, keys.documentKey)
  expect(opened).toMatchObject(header)
  expect(Buffer.from(opened.plaintext)).toEqual(Buffer.from(plaintext))
  expect(openWithNode.decodeOpened(opened, keys.documentKey)).toEqual(document)
})

test('hashes as the library does', () => {
  const bytes = randomBytes(1000)
  expect(Buffer.from(openWithNode.sha256(bytes))).toEqual(Buffer.from(sha256(bytes)))
})

type Opening = Pick<Opener, 'open' | 'decodeOpened'>

/** @returns What an implementation makes of sealed bytes: a document, or the code of its error. */
async function outcome({ open, decodeOpened }: Opening, sealed: Uint8Array, key: Uint8Array) {
  try {
    return decodeOpened(await open(sealed, key), key)
  } catch (error) {
    if (error instanceof FormatError) return error.code
    throw error
  }
}

describe('what does not open fails as with WebCrypto', async () => {
  const [first] = documents
  if (!first) throw new Error('no documents')
  const { bytes } = await seal(first.document, keys)
  const text = Buffer.from(bytes).toString('latin1')
  const [header = '', , iv, ciphertext = '', tag] = text.split('.')
  const joined = (...parts: unknown[]) => Buffer.from(parts.join('.'))
  const other = Buffer.from(header, 'base64url').toString()
  const spaced = Buffer.from(`${other} `).toString('base64url')
  const { documentKey } = keys

  test.each<[string, Uint8Array, Uint8Array, string]>([
    ['another key', bytes, randomBytes(16), 'wrong_key'],
    ['another tag', joined(header, '', iv, ciphertext, 'A'.repeat(22)), documentKey, 'wrong_key'],
    [
      'a shorter tag',
      joined(header, '', iv, ciphertext, tag?.slice(0, 16)),
      documentKey,
      'sealed_malformed',
    ],
    ['another iv', joined(header, '', 'A'.repeat(16), ciphertext, tag), documentKey, 'wrong_key'],
    ['less ciphertext', joined(header, '', iv, ciphertext.slice(4), tag), documentKey, 'wrong_key'],
    ['no ciphertext', joined(header, '', iv, '', tag), documentKey, 'wrong_key'],
    ['a header in other words', joined(spaced, '', iv, ciphertext, tag), documentKey, 'wrong_key'],
    ['four parts', joined(header, '', iv, ciphertext), documentKey, 'sealed_malformed'],
  ])('%s', async (_, sealed, key, code) => {
    expect(await outcome(openWithNode, sealed, key)).toBe(code)
    expect(await outcome({ open, decodeOpened }, sealed, key)).toBe(code)
  })
})
