import { describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import mustFail from '#corpus/vectors/must-fail.json' with { type: 'json' }
import { recountBatch } from '#document/batch/batch.ts'
import { decodeBatchBlock } from '#document/batch/block.ts'
import { fromCanonical, toCanonical } from '#document/canonical.ts'
import { cidOf, hashOfCid } from '#document/cid.ts'
import {
  type Disclosure,
  disclose,
  parseClaims,
  parseDisclosure,
  readDisclosures,
  sdOf,
} from '#document/disclosures.ts'
import {
  decodeDocument,
  encodeDocument,
  parseDocumentFields,
  validUntilOf,
} from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { parseStrictJson } from '#document/json.ts'
import {
  createSaltSource,
  deriveSealingKeys,
  deriveSubkeys,
  idempotentSalt,
} from '#document/keys.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { open, openDocument, readSealedHeader, seal, sealPlaintext } from '#document/sealed.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const hex = (digits: string) => fromHex(`0x${digits}`)
const subkeys = deriveSubkeys(fromHex(golden.issuerSecret as Hex))

test('derives the subkeys of an issuer secret', () => {
  expect(toHex(subkeys.document)).toBe(golden.subkeys.document)
  expect(toHex(subkeys.salt)).toBe(golden.subkeys.salt)
  expect(() => deriveSubkeys(new Uint8Array(31))).toThrow(TypeError)
})

describe.each(golden.documents)('the golden document: $name', (vector) => {
  const { tenant, idempotencyKey, itemIndex } = vector
  const document = decodeDocument(bytes(vector.canonical))
  const salt = () =>
    idempotentSalt(subkeys, {
      tenant,
      idempotencyKey,
      itemIndex,
      document: bytes(vector.canonical),
    })

  test('encodes and decodes the document', () => {
    expect(document).toEqual(vector.document)
    expect(text(encodeDocument(document))).toBe(vector.canonical)
  })

  test('derives salt, key and IV', () => {
    const keys = deriveSealingKeys(subkeys, salt())
    expect(keys).toEqual({
      salt: hex(vector.salt),
      documentKey: hex(vector.documentKey),
      iv: hex(vector.iv),
    })
  })

  test('seals and opens it', async () => {
    const keys = deriveSealingKeys(subkeys, salt())
    const sealed = await seal(document, keys)
    expect(text(sealed.bytes)).toBe(vector.sealed)
    expect(toHex(sealed.documentHash)).toBe(vector.documentHash)
    const header = { salt: hex(vector.salt), sd: vector.sd }
    expect(readSealedHeader(sealed.bytes)).toEqual(header)
    const opened = await open(sealed.bytes, hex(vector.documentKey))
    expect(opened).toEqual({ ...header, plaintext: bytes(vector.canonical) })
    expect(await openDocument(sealed.bytes, hex(vector.documentKey))).toEqual(vector.document)
  })

  test('encodes and decodes its disclosures', () => {
    const keys = {
      salt: hex(vector.salt),
      documentKey: hex(vector.documentKey),
    }
    const disclosed = disclose(document, keys)
    expect(disclosed.claims).toEqual(vector.claims)
    expect(disclosed.sd).toBe(vector.sd)
    const texts = (disclosures: Disclosure[]) =>
      Object.fromEntries(disclosures.map(({ name, text }) => [name, text]))
    expect(texts(disclosed.fields)).toEqual(vector.disclosures.fields)
    expect(texts(disclosed.metadata)).toEqual(vector.disclosures.metadata)

    const claims = parseClaims(vector.claims)
    expect(sdOf(claims)).toBe(vector.sd)
    const all = [...disclosed.metadata, ...disclosed.fields]
    const { registry, issuerId, ...fields } = document
    expect(
      readDisclosures(
        claims,
        all.map(({ text }) => text),
      ),
    ).toEqual(fields)
    for (const one of all) expect(parseDisclosure(one.text)).toEqual(one)
    expect(readDisclosures(claims, [])).toEqual({})
  })

  test('encodes and decodes publicId and CID', () => {
    const hash = fromHex(vector.documentHash as Hex)
    const documentKey = hex(vector.documentKey)
    const { issuerId } = document
    const publicId = { kind: 'single', issuerId, hash, documentKey } as const
    expect(encodePublicId(publicId)).toBe(vector.publicId)
    expect(decodePublicId(vector.publicId)).toEqual(publicId)
    expect(cidOf(hash)).toBe(vector.cid)
    expect(hashOfCid(vector.cid)).toEqual(hash)
  })
})

const decoders: Record<string, (vector: (typeof mustFail.cases)[number]) => unknown> = {
  publicId: ({ input }) => decodePublicId(input),
  cid: ({ input }) => hashOfCid(input),
  json: ({ input }) => parseStrictJson(input),
  canonical: ({ input }) => fromCanonical(bytes(input)),
  document: ({ input }) => decodeDocument(bytes(input)),
  sealed: ({ input, documentKey = '' }) => openDocument(bytes(input), hex(documentKey)),
  claims: ({ input }) => parseClaims(parseStrictJson(input)),
  disclosures: ({ input }) => {
    const { claims, disclosures } = JSON.parse(input)
    return readDisclosures(parseClaims(claims), disclosures)
  },
  batchBlock: ({ input }) => decodeBatchBlock(bytes(input)),
  manifest: ({ input }) => {
    const { manifest, chunks } = JSON.parse(input)
    return recountBatch(bytes(manifest), chunks.map(hex))
  },
}

describe('invalid vectors', () => {
  test.each(mustFail.cases)('$format: $name', async (vector) => {
    const decode = async () => decoders[vector.format]?.(vector)
    const error = await decode().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(FormatError)
    expect(error).toMatchObject({ code: vector.code })
  })

  test('refuses every truncation of a sealed document', async () => {
    const [vector] = golden.documents
    if (!vector) throw new Error('no vector')
    for (let end = 0; end < vector.sealed.length; end++)
      await expect(
        open(bytes(vector.sealed.slice(0, end)), hex(vector.documentKey)),
      ).rejects.toBeInstanceOf(FormatError)
  })

  test('refuses a sealed document with any bit flipped', async () => {
    const [vector] = golden.documents
    if (!vector) throw new Error('no vector')
    for (let at = 0; at < vector.sealed.length; at++) {
      const flipped = bytes(vector.sealed)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 7))
      await expect(open(flipped, hex(vector.documentKey))).rejects.toBeInstanceOf(FormatError)
    }
  })

  test('refuses a publicId with a character beyond Latin-1', () => {
    const publicId = golden.documents[0]?.publicId ?? ''
    for (let at = 0; at < publicId.length; at++)
      expect(() => decodePublicId(`${publicId.slice(0, at)}Ā${publicId.slice(at + 1)}`)).toThrow(
        expect.objectContaining({ code: 'public_id_malformed' }),
      )
  })

  test('refuses a publicId with any character mistyped', () => {
    const publicId = golden.documents[0]?.publicId ?? ''
    for (let at = 0; at < publicId.length; at++)
      for (const typed of '2Az') {
        if (publicId[at] === typed) continue
        const mistyped = publicId.slice(0, at) + typed + publicId.slice(at + 1)
        expect(() => decodePublicId(mistyped)).toThrow(FormatError)
      }
  })
})

describe('salt', () => {
  const request = {
    tenant: 'a',
    idempotencyKey: 'bc',
    itemIndex: 0,
    document: bytes('{}'),
  }
  const base = idempotentSalt(subkeys, request)

  test.each([
    { tenant: 'ab', idempotencyKey: 'c' },
    { idempotencyKey: 'bd' },
    { itemIndex: 1 },
    { document: bytes('{} ') },
  ])('differs with %o', (change) => {
    expect(idempotentSalt(subkeys, { ...request, ...change })).not.toEqual(base)
  })

  test('a source never returns the same salt twice', () => {
    const next = createSaltSource()
    const salts = Array.from({ length: 200 }, next)
    expect(salts.every(({ length }) => length === 16)).toBe(true)
    expect(new Set(salts.map(toHex)).size).toBe(200)
  })

  test('differs between issuers', () => {
    const other = deriveSubkeys(new Uint8Array(32).fill(1))
    expect(idempotentSalt(other, request)).not.toEqual(base)
  })
})

describe('padding', () => {
  test.each([255, 256, 257, 512])('pads to %i bytes', async (length) => {
    const keys = deriveSealingKeys(subkeys, new Uint8Array(16))
    const plaintext = toCanonical('x'.repeat(length - 2))
    const sealed = await sealPlaintext(plaintext, 'A'.repeat(43), keys)
    const ciphertext = text(sealed.bytes).split('.')[3] ?? ''
    expect(Math.floor((ciphertext.length * 3) / 4) % 256).toBe(0)
    const opened = await open(sealed.bytes, keys.documentKey)
    expect(opened.plaintext).toEqual(plaintext)
  })
})

describe('validUntil', () => {
  test.each([
    [undefined, 0],
    ['1970-01-02', 2 * 86_400],
    ['2024-02-28', 1_709_164_800],
    ['9999-12-30', 253_402_214_400],
  ])('accepts %s', (expiresAt, expected) => {
    expect(validUntilOf(expiresAt ? { expiresAt } : {})).toBe(expected)
  })
})

describe('document as sent', () => {
  const good = {
    subjectName: 'A',
    subjectId: '1',
    category: 'a',
    issuedAt: '2026-01-31',
  }

  test.each([
    ['subjectName of 200 characters', { subjectName: '😀'.repeat(200) }],
    ['subjectId of 64 digits', { subjectId: '0'.repeat(64) }],
    ['category of 64 characters', { category: 'a'.repeat(64) }],
    ['the first date', { issuedAt: '1970-01-02' }],
    ['29 February', { issuedAt: '2024-02-29' }],
    ['expires on the day of issue', { expiresAt: '2026-01-31' }],
    ['metadata key _sd_alg', { metadata: { _sd_alg: 'x' } }],
    ['metadata keys of Object.prototype', { metadata: { constructor: 'x' } }],
    ['32 KiB of metadata', { metadata: { k: 'x'.repeat(32 * 1024 - 1) } }],
  ])('accepts %s', (_, change) => {
    expect(parseDocumentFields({ ...good, ...change })).toEqual({
      ...good,
      ...change,
    })
  })

  test('omits metadata without an entry', () => {
    expect(parseDocumentFields({ ...good, metadata: {} })).toEqual(good)
  })

  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))

  test.each<[string, object, string[]]>([
    ['nothing', {}, ['subjectName', 'subjectId', 'category', 'issuedAt']],
    ['201 characters', { ...good, subjectName: 'x'.repeat(201) }, ['subjectName']],
    ['empty name', { ...good, subjectName: '' }, ['subjectName']],
    ['control character', { ...good, subjectName: 'a\u0000' }, ['subjectName']],
    ['C1 control', { ...good, subjectName: 'a\u0085' }, ['subjectName']],
    ['lone surrogate', { ...good, subjectName: '\ud800' }, ['subjectName']],
    ['name not text', { ...good, subjectName: 1 }, ['subjectName']],
    ['65 digits', { ...good, subjectId: '1'.repeat(65) }, ['subjectId']],
    ['letters', { ...good, subjectId: '12a' }, ['subjectId']],
    ['other digits', { ...good, subjectId: '١٢' }, ['subjectId']],
    ['a number', { ...good, subjectId: 12 }, ['subjectId']],
    ['upper case', { ...good, category: 'Birth' }, ['category']],
    ['two underscores', { ...good, category: 'a__b' }, ['category']],
    ['underscore last', { ...good, category: 'a_' }, ['category']],
    ['digit first', { ...good, category: '1a' }, ['category']],
    ['65 characters', { ...good, category: 'a'.repeat(65) }, ['category']],
    ['newline after', { ...good, category: 'a\n' }, ['category']],
    ['30 February', { ...good, issuedAt: '2024-02-30' }, ['issuedAt']],
    ['timestamp', { ...good, issuedAt: '2024-02-28T00:00:00Z' }, ['issuedAt']],
    ['before the first date', { ...good, issuedAt: '1970-01-01' }, ['issuedAt']],
    ['after the last date', { ...good, expiresAt: '9999-12-31' }, ['expiresAt']],
    ['expires before', { ...good, expiresAt: '2026-01-30' }, ['expiresAt']],
    ['null', { ...good, expiresAt: null }, ['expiresAt']],
    ['metadata an array', { ...good, metadata: [] }, ['metadata']],
    ['metadata null', { ...good, metadata: null }, ['metadata']],
    ['value not text', { ...good, metadata: { gpa: 3.9 } }, ['metadata.gpa']],
    ['value with a lone surrogate', { ...good, metadata: { a: '\udfff' } }, ['metadata.a']],
    ['empty key', { ...good, metadata: { '': 'v' } }, ['metadata.']],
    [
      'key of 65, named by its beginning',
      { ...good, metadata: { ['k'.repeat(65)]: 'v' } },
      [`metadata.${'k'.repeat(64)}…`],
    ],
    [
      'key with a lone surrogate, named in well-formed Unicode',
      { ...good, metadata: { 'a\ud800': 'v' } },
      ['metadata.a\ufffd'],
    ],
    [
      'every bad entry at once, beside good ones',
      { ...good, metadata: { gpa: 3.9, school: 'x', born: null, tags: [] } },
      ['metadata.gpa', 'metadata.born', 'metadata.tags'],
    ],
    [
      'values whose conversion to text fails',
      { ...good, metadata: { a: { toString: '7' }, __proto__: null, b: {} } },
      ['metadata.a', 'metadata.b'],
    ],
    [
      'values named like members of every object',
      { ...good, metadata: { constructor: 1, valueOf: {}, toString: [] } },
      ['metadata.constructor', 'metadata.valueOf', 'metadata.toString'],
    ],
    [
      'an unknown field with a long name',
      { ...good, ['x'.repeat(60_000)]: 1 },
      [`${'x'.repeat(64)}…`],
    ],
    ['65 entries', { ...good, metadata: entries(65) }, ['metadata']],
    ['over 32 KiB', { ...good, metadata: { k: 'x'.repeat(32 * 1024) } }, ['metadata']],
    [
      'keys that disclosures need, and __proto__',
      {
        ...good,
        metadata: JSON.parse('{"_sd":"","...":"","__proto__":""}'),
      },
      ['metadata._sd', 'metadata....', 'metadata.__proto__'],
    ],
    [
      'supersedes, which a client does not send',
      { ...good, supersedes: `0x${'ab'.repeat(32)}` },
      ['supersedes'],
    ],
    ['unknown field', { ...good, issuer: 'me' }, ['issuer']],
    [
      'every field',
      {
        subjectName: '',
        subjectId: '',
        category: '',
        issuedAt: '',
        expiresAt: '',
        metadata: 1,
        x: 1,
      },
      ['subjectName', 'subjectId', 'category', 'issuedAt', 'expiresAt', 'metadata', 'x'],
    ],
    ['an array', [], ['']],
  ])('%s', (_, value, fields) => {
    const parse = () => parseDocumentFields(value)
    expect(parse).toThrow(FormatError)
    try {
      parse()
    } catch (error) {
      const named = (error as FormatError).fields.map(({ field }) => field)
      expect([...new Set(named)].sort()).toEqual(fields.sort())
    }
  })

  test('names at most as many bad entries as a document may have', () => {
    const metadata = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, i]))
    try {
      parseDocumentFields({ ...good, metadata })
      expect.unreachable()
    } catch (error) {
      const { fields } = error as FormatError
      expect(fields.map(({ field }) => field)).toEqual([
        ...Array.from({ length: 64 }, (_, i) => `metadata.k${i}`),
        'metadata',
      ])
    }
  })
})
