import fc from 'fast-check'
import { base58btc } from 'multiformats/bases/base58'
import { expect, test } from 'vitest'
import { decodeBase58 } from '#document/base58.ts'

const decodeWithMultiformats = (text: string) => {
  try {
    return Buffer.from(base58btc.baseDecode(text))
  } catch {
    return undefined
  }
}
const bufferOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes)

test('decodes what multiformats encodes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(3), (bytes, zeros) => {
      const padded = Buffer.concat([Buffer.alloc(zeros), bytes])
      expect(bufferOf(decodeBase58(base58btc.baseEncode(padded)))).toEqual(padded)
    }),
  )
})

test('decodes any text of digits as multiformats does', () => {
  const digits = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
  fc.assert(
    fc.property(fc.string({ unit: digits, maxLength: 80 }), (text) => {
      expect(bufferOf(decodeBase58(text))).toEqual(decodeWithMultiformats(text))
    }),
  )
})

test.each([
  '0',
  'O',
  'I',
  'l',
  ' ',
  '+',
  '-',
  '_',
  '\n',
  '\0',
  'é',
  'ı',
  'ſ',
  '１',
  '\ud800',
  '😀',
])('refuses %j in any position', (character) => {
  for (const text of [character, `${character}2`, `2${character}`, `222222222${character}`])
    expect(decodeBase58(text)).toBeUndefined()
})

test('different texts give different bytes', () => {
  const seen = new Set<string>()
  for (const text of ['', '1', '11', '2', '12', '112', '21', '5R', '15R'])
    seen.add(String(decodeBase58(text)))
  expect(seen.size).toBe(9)
})
