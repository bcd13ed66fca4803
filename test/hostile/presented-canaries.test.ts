import { createHash, randomBytes } from 'node:crypto'
import { base58btc } from 'multiformats/bases/base58'
import { describe, expect, test } from 'vitest'
import { disclose } from '#document/disclosures.ts'
import type { Document } from '#document/document.ts'
import {
  type Choice,
  choicesOf,
  encodePresentation,
  type Presentation,
} from '#document/presentation.ts'
import { decodePresentationLink, encodePresentationLink } from '#document/presentation-link.ts'
import { readSealedHeader } from '#document/sealed.ts'
import { verifyPresentation } from '#verifier/presentation.ts'
import { REGISTRY } from '../support/corpus/payload.ts'
import { createMemoryRegistry } from '../support/memory-registry.ts'
import { type Held, hold, present } from '../support/presented.ts'
import { freshSeed, type Random, seededRandom } from '../support/random.ts'

// For a thousand documents with random values, nothing that was not chosen is anywhere in file or
// link.

const DOCUMENTS = 1_000
const registry = createMemoryRegistry(REGISTRY)

function randomDocument(random: Random): Document {
  const letters = () => `c${randomBytes(8).toString('hex')}`
  const date = (from: number) =>
    `${from + random.below(900)}-0${1 + random.below(9)}-${10 + random.below(18)}`
  const entries = Array.from({ length: random.below(12) }, () => [
    letters(),
    randomBytes(12).toString('base64'),
  ])
  const maybe = (member: object) => (random.below(2) === 0 ? {} : member)
  return {
    subjectName: `${randomBytes(9).toString('base64')} ${letters()}`,
    subjectId: String(randomBytes(8).readBigUInt64BE()).padStart(20, '7'),
    category: letters(),
    issuedAt: date(1971),
    ...maybe({ expiresAt: date(3000) }),
    ...maybe({ supersedes: `0x${randomBytes(32).toString('hex')}` }),
    ...(entries.length > 0 && { metadata: Object.fromEntries(entries) }),
    registry: REGISTRY,
    issuerId: 1,
  }
}

function randomChoice(document: Document, random: Random): Choice {
  const { fields, metadata } = choicesOf(document)
  const some = (names: readonly string[]) => names.filter(() => random.below(2) === 0)
  return { fields: some(fields), metadata: some(metadata) }
}

/** The values that were not chosen, and those that open the document. None of them may be found. */
function secretsOf(held: Held, choose: Choice): Uint8Array[] {
  const { document, documentKey, sealed, publicId } = held
  const { salt } = readSealedHeader(sealed)
  const { fields, metadata } = disclose(document, { documentKey, salt })
  const hidden = [
    ...fields.filter(({ name }) => !choose.fields.includes(name)),
    ...metadata.filter(({ name }) => !choose.metadata.includes(name)),
  ]
  const saltOf = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())[0]
  // Names of metadata are secret too, while names of fields are the same in every document.
  const names = metadata.filter((one) => hidden.includes(one))
  return [
    documentKey,
    Buffer.from(publicId),
    base58btc.baseDecode(publicId).subarray(37),
    ...hidden.flatMap(({ text, value }) => [
      Buffer.from(value),
      Buffer.from(text),
      Buffer.from(saltOf(text)),
      Buffer.from(saltOf(text), 'base64url'),
    ]),
    ...names.map(({ name }) => Buffer.from(name)),
  ]
}

/** @returns Texts with the bytes: unchanged, in hexadecimal, and in base64url at any offset. */
function encodingsOf(bytes: Uint8Array): string[] {
  const at = (offset: number) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes])
    const text = padded.toString('base64url')
    // Characters to which neighbouring bytes contribute are omitted.
    const from = Math.ceil((offset * 4) / 3)
    const end = Math.floor((padded.length * 8) / 6)
    return text.slice(from, end)
  }
  const raw = Buffer.from(bytes).toString('latin1')
  return [raw, Buffer.from(bytes).toString('hex'), at(0), at(1), at(2)]
}

/** @returns Everything that can be read from a presentation without a key, as Latin-1. */
function textsOf(presentation: Presentation, link: string): string {
  const { disclosures, sealed } = presentation
  const parts = (sealed ?? '').split('.')
  const decoded = [...disclosures, ...parts, link.split('=')[1] ?? '']
  return [
    Buffer.from(encodePresentation(presentation)).toString('latin1'),
    link,
    ...decoded.map((text) => Buffer.from(text, 'base64url').toString('latin1')),
  ].join('\n')
}

describe('leaks in presentations', () => {
  const seed = freshSeed()

  test('the search finds planted values and a leaked key', async () => {
    const random = seededRandom(seed)
    const salt = randomBytes(16)
    const held = await hold(randomDocument(random), { salt }, registry)
    const nothing = { fields: [], metadata: [] }
    const all = await present(held)
    const found = (secret: Uint8Array, text: string) =>
      encodingsOf(secret).some((encoding) => text.includes(encoding))
    const text = textsOf(all, '')
    const [key, publicId, body, ...hidden] = secretsOf(held, nothing)
    for (const secret of hidden) expect(found(secret, text)).toBe(true)
    for (const secret of [key, publicId, body]) {
      if (!secret) throw new Error('no secret')
      expect(found(secret, text)).toBe(false)
      for (const offset of [0, 1, 2]) {
        const slip = Buffer.concat([Buffer.alloc(offset, 'x'), secret, salt])
        for (const encoding of ['base64url', 'hex', 'latin1'] as const)
          expect(found(secret, slip.toString(encoding))).toBe(true)
      }
    }
  })

  test(`${DOCUMENTS} presentations hold only the chosen fields (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    let secrets = 0
    for (let i = 0; i < DOCUMENTS; i++) {
      const document = randomDocument(random)
      const salt = createHash('sha256').update(`${seed}/${i}`).digest()
      const held = await hold(
        document,
        { salt: salt.subarray(0, 16), inBatch: i % 2 === 0 },
        registry,
      )
      const choose = randomChoice(document, random)
      const short = await present(held, choose, false)
      const link = (await encodePresentationLink('https://x.org/', short)) ?? ''
      expect(await decodePresentationLink(link)).toEqual(short)
      const long = await present(held, choose)
      const texts = textsOf(short, link) + textsOf(long, '')
      for (const secret of secretsOf(held, choose)) {
        secrets++
        for (const encoding of encodingsOf(secret))
          if (texts.includes(encoding)) throw new Error(`document ${i}: found ${encoding}`)
      }
      const { disclosed, status } = await verifyPresentation(long, {
        chain: registry.reader,
        blocks: [],
      })
      expect(status).toBe('valid')
      expect(disclosed).toEqual(chosenOf(document, choose))
    }
    expect(secrets).toBeGreaterThan(DOCUMENTS * 10)
  })
})

function chosenOf(document: Document, { fields, metadata }: Choice): object {
  const pick = (from: object, names: readonly string[]) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
  const shown = pick(document.metadata ?? {}, metadata)
  return {
    ...pick(document, fields),
    ...(Object.keys(shown).length > 0 && { metadata: shown }),
  }
}
