import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import tries from '#corpus/vectors/tries.json' with { type: 'json' }
import { decodeBase64url } from '#document/base64url.ts'
import { decodeUtf8 } from '#document/bytes.ts'
import { fromCanonical } from '#document/canonical.ts'
import { hashOfCid } from '#document/cid.ts'
import { parseClaims, parseDisclosure } from '#document/disclosures.ts'
import { decodeDocument, parseDocumentFields } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { parseStrictJson } from '#document/json.ts'
import { decodePublicId } from '#document/public-id.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import { readSealedHeader } from '#document/sealed.ts'
import { readBundle } from '#verifier/bundle.ts'
import { decodeHeader } from '#verifier/proof/header.ts'
import { decodeRlp, encodeRlp, type RlpItem } from '#verifier/proof/rlp.ts'
import { readTrie } from '#verifier/proof/trie.ts'
import {
  readAddress,
  readBigQuantity,
  readBytes,
  readHash,
  readLog,
  readQuantity,
} from '#verifier/readers/rpc-codec.ts'
import { decodeVerification, decodeVerifications } from '#verifier/readers/verification-codec.ts'
import { jsonValue, mangled, mutated } from '../support/arbitraries.ts'

// A codec refuses input that violates its format with a FormatError, and throws nothing else.

function refuses(decode: () => unknown): void {
  try {
    decode()
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
  }
}

const RUNS = { numRuns: 400 }
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'ABab019-_=+/ .\n0xX') }),
  fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0019a\ud800 ') }),
  jsonValue.map((value) => JSON.stringify(value)),
)

const ofText: [string, (text: string) => unknown][] = [
  ['base64url', decodeBase64url],
  ['hexadecimal', (one) => fromHex(one as Hex)],
  ['hexadecimal after 0x', (one) => fromHex(`0x${one}`)],
  ['strict JSON', parseStrictJson],
  ['a publicId', decodePublicId],
  ['a CID', hashOfCid],
  ['a registry', parseRegistryId],
  ['a disclosure', parseDisclosure],
  ['a bundle', readBundle],
  ['a header', (one) => decodeHeader(`0x${one}`)],
]

describe('text', () => {
  test.each(ofText)('%s is read or refused', (_, decode) => {
    fc.assert(
      fc.property(text, (one) => refuses(() => decode(one))),
      RUNS,
    )
  })
})

const ofBytes: [string, (bytes: Uint8Array) => unknown][] = [
  ['UTF-8', decodeUtf8],
  ['canonical JSON', fromCanonical],
  ['a document', decodeDocument],
  ['sealed bytes', readSealedHeader],
  ['RLP', decodeRlp],
  ['a header', (bytes) => decodeHeader(toHex(bytes))],
  ['a bundle', readBundle],
]

describe('bytes', () => {
  test.each(ofBytes)('%s are read or refused', (_, decode) => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 80 }),
          text.map((one) => Buffer.from(one)),
        ),
        (bytes) => refuses(() => decode(bytes)),
      ),
      RUNS,
    )
  })

  const item: fc.Arbitrary<RlpItem> = fc.letrec<{ item: RlpItem }>((tie) => ({
    item: fc.oneof(
      { depthSize: 'small' },
      fc.uint8Array({ maxLength: 70 }),
      fc.array(tie('item'), { maxLength: 18 }),
    ),
  })).item

  test('RLP with bytes changed is read or refused', () => {
    fc.assert(
      fc.property(
        item.chain((one) => mangled(encodeRlp(one))),
        (bytes) => refuses(() => decodeRlp(bytes)),
      ),
      RUNS,
    )
  })

  test('headers and accounts of any items are read or refused', () => {
    fc.assert(
      fc.property(fc.array(item, { minLength: 10, maxLength: 20 }), (items) =>
        refuses(() => decodeHeader(toHex(encodeRlp(items)))),
      ),
      RUNS,
    )
  })
})

describe('tries', () => {
  const bytesOf = (hex: string) => fromHex(hex as Hex)

  test('a proof with nodes changed, left out or repeated is read or refused', () => {
    const cases = tries.cases.filter(({ proof }) => proof.length > 0)
    const changed = fc.constantFrom(...cases).chain(({ root, key, proof }) =>
      fc.record({
        root: fc.constant(bytesOf(root)),
        key: fc.constant(bytesOf(key)),
        nodes: fc.array(
          fc
            .constantFrom(...proof.map(bytesOf))
            .chain((node) => fc.oneof(fc.constant(node), mangled(node))),
          { maxLength: proof.length + 1 },
        ),
      }),
    )
    fc.assert(
      fc.property(changed, ({ root, key, nodes }) => refuses(() => readTrie(root, key, nodes))),
      RUNS,
    )
  })
})

const ofValues: [string, (value: unknown) => unknown][] = [
  ['fields', parseDocumentFields],
  ['claims', parseClaims],
  ['a bundle', readBundle],
  ['a publicId', (value) => decodePublicId(value as string)],
  ['a CID', (value) => hashOfCid(value as string)],
  ['hexadecimal', (value) => fromHex(value as Hex)],
  ['a quantity', readQuantity],
  ['a big quantity', readBigQuantity],
  ['a hash', readHash],
  ['an address', readAddress],
  ['bytes', readBytes],
  ['a log', readLog],
  ['a Verification', (value) => decodeVerification(value, 1)],
  ['Verifications', (value) => decodeVerifications(value, [1, 2])],
]

describe('parsed values', () => {
  test.each(ofValues)('%s are read or refused', (_, decode) => {
    fc.assert(
      fc.property(jsonValue, (value) => refuses(() => decode(value))),
      RUNS,
    )
  })

  test('reads or refuses fields of a document with any value in any position', () => {
    const good = {
      subjectName: 'Ada Lovelace',
      subjectId: '1',
      category: 'a',
      issuedAt: '2026-01-31',
      expiresAt: '2026-02-01',
      metadata: { a: 'b', constructor: 'c' },
    }
    fc.assert(
      fc.property(mutated(good), (value) => refuses(() => parseDocumentFields(value))),
      { numRuns: 2_000 },
    )
  })

  test('every bad field is named, bounded and well-formed', () => {
    const metadata = fc.dictionary(fc.string({ unit: 'binary', maxLength: 100 }), jsonValue)
    fc.assert(
      fc.property(metadata, (value) => {
        try {
          parseDocumentFields({ metadata: value })
        } catch (error) {
          for (const { field } of (error as FormatError).fields) {
            expect(field.isWellFormed()).toBe(true)
            expect([...field].length).toBeLessThanOrEqual(9 + 64 + 1)
          }
        }
      }),
      RUNS,
    )
  })
})
