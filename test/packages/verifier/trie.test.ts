import { keccak_256 } from '@noble/hashes/sha3.js'
import { decodeRlp as ethersDecode, encodeRlp as ethersEncode } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import tries from '#corpus/vectors/tries.json' with { type: 'json' }
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodeRlp, encodeRlp, type RlpItem, sizeOfRlp } from '#verifier/proof/rlp.ts'
import { readTrie } from '#verifier/proof/trie.ts'

const cases = tries.cases as {
  name: string
  root: Hex
  key: Hex
  proof: Hex[]
  value: Hex | null
}[]

const read = (root: Hex, key: Hex, proof: readonly Hex[]) => {
  const value = readTrie(fromHex(root), fromHex(key), proof.map(fromHex))
  return value === undefined ? null : toHex(value)
}
const refused = expect.objectContaining({ code: 'proof_invalid' })

describe("go-ethereum's proofs", () => {
  test.each(cases)('$name', ({ root, key, proof, value }) => {
    expect(read(root, key, proof)).toBe(value)
  })

  test('the vectors have embedded nodes, both found and absent', () => {
    // A proof of one node whose key parts late is one of nodes in a node.
    const inside = cases.filter(({ name, proof }) => name.includes('inside') && proof.length <= 2)
    expect(inside.some(({ value }) => value === null)).toBe(true)
    expect(inside.some(({ value }) => value !== null)).toBe(true)
  })

  test.each(cases)('$name is refused when changed', ({ root, key, proof }) => {
    const flipped = (hex: Hex, at: number): Hex => {
      const bytes = fromHex(hex)
      bytes[at] = (bytes[at] ?? 0) ^ 1
      return toHex(bytes)
    }
    const other: Hex = `0x${'5a'.repeat(32)}`
    const changed: [Hex, Hex[]][] = [
      [root, [...proof, '0x80']],
      [root, [...proof, ...proof, '0x80']],
      [flipped(root, 0), proof],
      [other, proof],
    ]
    if (proof.length > 0) changed.push([root, proof.slice(0, -1)])
    if (proof.length > 0) changed.push([root, [proof[0] ?? '0x', ...proof]])
    if (proof.length > 1) changed.push([root, proof.slice(1)])
    if (proof.length > 1) changed.push([root, [...proof].reverse()])
    for (const [i, node] of proof.entries())
      for (let at = 0; at < (node.length - 2) / 2; at += 7)
        changed.push([root, proof.map((one, j) => (j === i ? flipped(node, at) : one))])
    for (const [changedRoot, nodes] of changed)
      expect(() => read(changedRoot, key, nodes)).toThrow(refused)
  })

  test('a leaf on the way to the key is not the key', () => {
    const leaf = encodeRlp([fromHex('0x2012'), fromHex('0x05')])
    const root = toHex(keccak_256(leaf))
    expect(read(root, '0x12', [toHex(leaf)])).toBe('0x05')
    expect(read(root, `0x12${'00'.repeat(31)}`, [toHex(leaf)])).toBeNull()
  })

  test('a node under 32 bytes, and no other, is inside its parent', () => {
    const empty = new Uint8Array()
    /** A branch above a leaf of this many bytes with the rest of the key 0x12. */
    const readBelow = (size: number, isInside: boolean) => {
      const leaf: RlpItem = [fromHex('0x32'), new Uint8Array(size - 3).fill(5)]
      const bytes = encodeRlp(leaf)
      expect([bytes.length, sizeOfRlp(leaf)]).toEqual([size, size])
      const children: RlpItem[] = Array(17).fill(empty)
      children[1] = isInside ? leaf : keccak_256(bytes)
      const branch = encodeRlp(children)
      const proof = [branch, ...(isInside ? [] : [bytes])].map(toHex)
      return read(toHex(keccak_256(branch)), '0x12', proof)
    }
    expect(readBelow(31, true)).toMatch(/^0x(05)+$/)
    expect(readBelow(32, false)).toMatch(/^0x(05)+$/)
    expect(() => readBelow(32, true)).toThrow(refused)
    expect(() => readBelow(31, false)).toThrow(refused)
  })

  test('an extension has a path', () => {
    const readUnder = (path: Hex, key: Hex) => {
      const extension = encodeRlp([fromHex(path), [fromHex('0x32'), fromHex('0x05')]])
      return read(toHex(keccak_256(extension)), key, [toHex(extension)])
    }
    expect(readUnder('0x11', '0x12')).toBe('0x05')
    expect(() => readUnder('0x00', '0x12')).toThrow(refused)
  })

  test('refuses the proof of another key', () => {
    const many = cases.filter(({ name }) => name.startsWith('2000'))
    for (const { root, key } of many)
      for (const { key: other, proof } of many)
        if (other !== key) expect(() => read(root, key, proof)).toThrow(refused)
  })
})

describe('RLP', () => {
  const bytes = fc.uint8Array({ maxLength: 70 })
  const item = fc.letrec<{ item: RlpItem; list: RlpItem[] }>((tie) => ({
    item: fc.oneof({ maxDepth: 4 }, bytes, tie('list')),
    list: fc.array(tie('item'), { maxLength: 6 }),
  })).item
  const hexOf = (value: RlpItem): unknown =>
    value instanceof Uint8Array ? toHex(value) : value.map(hexOf)

  test('encodes and decodes as ethers does', () => {
    fc.assert(
      fc.property(item, (value) => {
        const encoded = encodeRlp(value)
        expect(toHex(encoded)).toBe(ethersEncode(hexOf(value) as string))
        expect(sizeOfRlp(value)).toBe(encoded.length)
        expect(hexOf(decodeRlp(encoded))).toEqual(hexOf(value))
        expect(ethersDecode(encoded)).toEqual(hexOf(value))
      }),
    )
    const large = new Uint8Array(70_000).fill(3)
    expect(decodeRlp(encodeRlp([large]))).toEqual([large])
  })

  test('accepts items inside at most 32 lists', () => {
    const nested = (lists: number, innermost: RlpItem = []): RlpItem =>
      lists === 1 ? innermost : [nested(lists - 1, innermost)]
    expect(decodeRlp(encodeRlp(nested(33)))).toEqual(nested(33))
    expect(decodeRlp(encodeRlp(nested(32, [fromHex('0x05')])))).toHaveLength(1)
    for (const deep of [nested(34), nested(33, [fromHex('0x05')])])
      expect(() => decodeRlp(encodeRlp(deep))).toThrow(refused)
  })

  test('encodes what it decoded to the same bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 12 }), (input) => {
        let decoded: RlpItem
        try {
          decoded = decodeRlp(input)
        } catch (error) {
          expect(error).toEqual(refused)
          return
        }
        expect(encodeRlp(decoded)).toEqual(input)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each<[string, Hex]>([
    ['nothing', '0x'],
    ['two items', '0x0102'],
    ['a byte that is its own', '0x8105'],
    ['bytes cut off', '0x8301'],
    ['a long form of a short length', '0xb801ff'],
    ['a length with a leading zero', `0xb90038${'ff'.repeat(56)}`],
    ['a length cut off', '0xb9ff'],
    ['a length over all numbers', `0xbf${'ff'.repeat(8)}`],
    ['a list cut off', '0xc3c0'],
    ['an item over the end of its list', '0xc28301'],
    ['a long form of a short list', '0xf801c0'],
    ['lists in lists without end', `0x${'c1'.repeat(2000)}c0`],
  ])('%s', (_, input) => {
    expect(() => decodeRlp(fromHex(input))).toThrow(refused)
  })
})
