import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { hkdfWithNode } from '#base/node-crypto.ts'
import type { Document } from '#document/document.ts'
import { fromHex } from '#document/hex.ts'
import { hkdf } from '#document/hkdf.ts'
import { deriveSubkeys } from '#document/keys.ts'
import { blindIndexOf, createIndexEntryOf, dayOf } from '#promise/blind-index.ts'

const subkeys = deriveSubkeys(fromHex(`0x${'11'.repeat(32)}`))
const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-01-31',
  registry: `eip155:1:0x${'22'.repeat(20)}`,
  issuerId: 1,
}

describe('blind indexes', () => {
  test('equal values have equal indexes, with one key and in one field', () => {
    const one = blindIndexOf(subkeys, 'subjectId', '42', hkdf)
    expect(blindIndexOf(subkeys, 'subjectId', '42', hkdf)).toBe(one)
    expect(blindIndexOf(subkeys, 'subjectId', '43', hkdf)).not.toBe(one)
    expect(blindIndexOf(subkeys, 'category', '42', hkdf)).not.toBe(one)
    const others = deriveSubkeys(randomBytes(32))
    expect(blindIndexOf(others, 'subjectId', '42', hkdf)).not.toBe(one)
  })

  test('both implementations of HKDF agree, beyond ASCII too', () => {
    for (const value of ['', '42', 'Standesamt Köln', '戸籍'.repeat(40)])
      expect(blindIndexOf(subkeys, 'subjectId', value, hkdfWithNode)).toBe(
        blindIndexOf(subkeys, 'subjectId', value, hkdf),
      )
  })

  test('an entry has the dates of a document, its tenant, and no other text', () => {
    const indexEntryOf = createIndexEntryOf(hkdf)
    const entry = indexEntryOf(subkeys, { ...document, expiresAt: '2036-01-30' }, 'a')
    expect(indexEntryOf(subkeys, { ...document, expiresAt: '2036-01-30' }, 'a')).toEqual(entry)
    expect(entry).toMatchObject({
      issuedOn: dayOf('2026-01-31'),
      validUntil: Date.UTC(2036, 0, 31) / 1000,
    })
    const { tenant, ...others } = entry
    expect(tenant).toBe('a')
    const kinds = new Set(Object.values(others).map((value) => typeof value))
    expect([...kinds].sort()).toEqual(['bigint', 'number'])
    expect(indexEntryOf(subkeys, document, null)).toMatchObject({
      tenant: null,
      validUntil: 0,
    })
  })

  test('counts days from 1970-01-01', () => {
    expect(dayOf('1970-01-02')).toBe(1)
    expect(dayOf('2026-01-31')).toBe(20_484)
  })
})
