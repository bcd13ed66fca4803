import fc from 'fast-check'
import { base32 } from 'multiformats/bases/base32'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { expect, test } from 'vitest'
import { cidOf, hashOfCid } from '#document/cid.ts'

const PREFIX = [0x01, 0x55, 0x12, 0x20]
const hashes = fc.uint8Array({ minLength: 32, maxLength: 32 })

test('writes and reads what multiformats does', () => {
  fc.assert(
    fc.property(hashes, (hash) => {
      const bytes = Uint8Array.of(...PREFIX, ...hash)
      expect(cidOf(hash)).toBe(base32.encode(bytes))
      for (const base of [base32, base36, base58btc])
        expect(hashOfCid(base.encode(bytes))).toEqual(hash)
    }),
  )
})

test('refuses other text for a CID, and a CID of another length', () => {
  const refused = expect.objectContaining({ code: 'cid_malformed' })
  const bytes = Uint8Array.of(...PREFIX, ...new Uint8Array(32).fill(7))
  for (const base of [base32, base36, base58btc]) {
    const good = base.encode(bytes)
    const zero = base === base32 ? 'a' : base === base36 ? '0' : '1'
    for (const text of [
      good.slice(0, -1),
      `${good}${zero}`,
      `${base.prefix}${zero}${good.slice(1)}`,
      `${good.slice(0, -1)}!`,
      base.encode(bytes.subarray(1)),
      base.encode(Uint8Array.of(0, ...bytes)),
    ])
      expect(() => hashOfCid(text)).toThrow(refused)
  }
})
