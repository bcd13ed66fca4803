import { beforeAll, describe, expect, test } from 'vitest'
import { parseDisclosure, sdOf } from '#document/disclosures.ts'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import {
  choicesOf,
  createPresentation,
  encodePresentation,
  type Presentation,
  parsePresentation,
} from '#document/presentation.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import {
  readPresentation,
  verifyPresentation,
  verifyPresentationProof,
} from '#verifier/presentation.ts'
import type { PresentationVerdict } from '#verifier/verdict.ts'
import { REGISTRY } from '../../support/corpus/payload.ts'
import { createMemoryRegistry } from '../../support/memory-registry.ts'
import { type Held, hold, present } from '../../support/presented.ts'

const registry = createMemoryRegistry(REGISTRY)
const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-01-31',
  expiresAt: '2999-12-31',
  metadata: { grade: 'A', thesis: 'Notes on the Engine', subjectName: 'Ada' },
  registry: REGISTRY,
  issuerId: 1,
}
const NAME = { fields: ['subjectName'], metadata: [] }
const NOTHING = { fields: [], metadata: [] }

let alone: Held
let inBatch: Held
let other: Held
beforeAll(async () => {
  const salt = (byte: number) => new Uint8Array(16).fill(byte)
  alone = await hold(document, { salt: salt(1) }, registry)
  inBatch = await hold(document, { salt: salt(2), inBatch: true }, registry)
  const charles = { ...document, subjectName: 'Charles Babbage' }
  other = await hold(charles, { salt: salt(3) }, registry)
})

const judge = (input: unknown): Promise<PresentationVerdict> =>
  verifyPresentation(input, { chain: registry.reader, blocks: [] })
const DECIDES_NOTHING = ['identity', 'event']
const notPassed = ({ checks }: PresentationVerdict) =>
  checks
    .filter(({ outcome, check }) => outcome !== 'pass' && !DECIDES_NOTHING.includes(check))
    .map(({ check, outcome, code }) => `${check} ${outcome} ${code}`)

/** @returns The code and the names of the bad fields. */
async function refusal(work: () => unknown): Promise<[string, string[]]> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    return [error.code, error.fields.map(({ field }) => field)]
  }
  throw new Error('it was not refused')
}

describe('createPresentation', () => {
  test('shows only the chosen fields, for both kinds of publicId', async () => {
    for (const held of [alone, inBatch]) {
      const shown = await present(held, {
        fields: ['subjectName', 'category'],
        metadata: ['subjectName'],
      })
      const names = shown.disclosures.map((text) => parseDisclosure(text).name)
      expect(names).toEqual(['category', 'subjectName', 'subjectName'])
      const verdict = await judge(shown)
      expect(verdict).toMatchObject({ valid: true, status: 'valid' })
      expect(verdict.disclosed).toEqual({
        category: 'diploma',
        subjectName: 'Ada Lovelace',
        metadata: { subjectName: 'Ada' },
      })
    }
  })

  test('can show all fields, and none', async () => {
    const { registry: _, issuerId: __, ...fields } = document
    expect((await judge(await present(alone))).disclosed).toEqual(fields)
    const nothing = await judge(await present(alone, NOTHING))
    expect(nothing).toMatchObject({ valid: true, disclosed: {} })
  })

  test('holds the sealed document and the proof only on request', async () => {
    const shown = await present(alone, NAME, false)
    expect(shown).toMatchObject({ batch: null, sealed: null, stateProof: null })
  })

  test('names every chosen field that the document lacks', async () => {
    const choose = {
      fields: ['supersedes', 'metadata', 'category'],
      metadata: ['grade', 'marks'],
    }
    expect(await refusal(() => present(alone, choose))).toEqual([
      'presentation_choice',
      ['supersedes', 'metadata', 'metadata.marks'],
    ])
  })

  test('refuses sealed bytes, a batch block or an issuer of another document', async () => {
    const make = (source: Partial<Held>) => {
      const { publicId, sealed, batchBlock } = { ...alone, ...source }
      return createPresentation({
        publicId,
        sealed,
        choose: NAME,
        ...(batchBlock && { batchBlock }),
      })
    }
    const { publicId, batchBlock } = inBatch
    const decoded = decodePublicId(alone.publicId)
    const ofIssuer2 = encodePublicId({ ...decoded, issuerId: 2 })
    for (const source of [
      { sealed: other.sealed },
      { publicId: other.publicId },
      { publicId },
      { publicId, ...(batchBlock && { batchBlock }) },
      { publicId, batchBlock: other.sealed },
      { publicId: ofIssuer2 },
    ])
      expect(await refusal(() => make(source))).toEqual(['presentation_source', []])
  })
})

describe('parsePresentation', () => {
  test('reads what encodePresentation writes', async () => {
    for (const held of [alone, inBatch]) {
      const shown = await present(held, NAME)
      const bytes = encodePresentation(shown)
      const text = new TextDecoder().decode(bytes)
      const pretty = JSON.stringify(shown, null, 2)
      for (const input of [bytes, text, pretty, shown])
        expect(parsePresentation(input)).toEqual(shown)
    }
  })

  const bad: [string, string[], (shown: Presentation) => object][] = [
    ['another type', ['type'], (p) => ({ ...p, type: 'bundle' })],
    ['another version', ['v'], (p) => ({ ...p, v: 2 })],
    ['a member more', ['publicId'], (p) => ({ ...p, publicId: 'x' })],
    ['a member less', ['sealed'], ({ sealed: _, ...p }) => p],
    ['upper case', ['documentHash'], (p) => ({ ...p, documentHash: `0x${'A'.repeat(64)}` })],
    ['issuer 0', ['issuerId'], (p) => ({ ...p, issuerId: 0 })],
    ['another issuer than the claims', ['issuerId'], (p) => ({ ...p, issuerId: 2 })],
    [
      'another registry than the claims',
      ['registry'],
      (p) => ({ ...p, registry: `eip155:1:0x${'0'.repeat(40)}` }),
    ],
    ['claims that are none', ['claims'], (p) => ({ ...p, claims: {} })],
    [
      'claims that are not sorted',
      ['claims'],
      (p) => ({
        ...p,
        claims: { ...p.claims, _sd: p.claims._sd.toReversed() },
      }),
    ],
    ['disclosures that are none', ['disclosures'], (p) => ({ ...p, disclosures: 'x' })],
    ['disclosures that are not text', ['disclosures.1'], (p) => ({ ...p, disclosures: ['', 1] })],
    ['too many disclosures', ['disclosures'], (p) => ({ ...p, disclosures: Array(71).fill('') })],
    ['half a sibling', ['batch.proof'], (p) => ({ ...p, batch: { ...path, proof: 'AA' } })],
    [
      'too many siblings',
      ['batch.proof'],
      (p) => ({ ...p, batch: { ...path, proof: 'AAAA'.repeat(320) } }),
    ],
    [
      'an expiry over 40 bits',
      ['batch.validUntil'],
      (p) => ({ ...p, batch: { ...path, validUntil: 2 ** 40 } }),
    ],
    ['a sealed document that is not text', ['sealed'], (p) => ({ ...p, sealed: 1 })],
    ['a malformed proof', ['stateProof'], (p) => ({ ...p, stateProof: 'x' })],
  ]
  const path = { root: `0x${'0'.repeat(64)}`, validUntil: 0, proof: '' }
  test.each(bad)('refuses %s', async (_, fields, change) => {
    const changed = change(await present(alone, NAME))
    for (const input of [changed, JSON.stringify(changed)])
      expect(await refusal(() => parsePresentation(input))).toEqual([
        'presentation_malformed',
        fields,
      ])
  })

  test('refuses what is not strict JSON, with the same code', async () => {
    const text = JSON.stringify(await present(alone, NAME))
    for (const input of [
      '',
      `\ufeff${text}`,
      text.slice(0, -1),
      text.replace('{', '{"v":1,'),
      Uint8Array.of(0xff),
      ' '.repeat(8 * 1024 * 1024 + 1),
      null,
      [],
    ])
      expect((await refusal(() => parsePresentation(input)))[0]).toBe('presentation_malformed')
  })

  test('names a malformed header', async () => {
    const shown = await present(alone, NAME)
    const stateProof = { header: '0x00', accountProof: [], storageProof: [] }
    expect(await refusal(() => readPresentation({ ...shown, stateProof }))).toEqual([
      'presentation_malformed',
      ['stateProof.header'],
    ])
  })
})

describe('verifyPresentation', () => {
  test('a revocation is final, whatever is shown', async () => {
    const salt = new Uint8Array(16).fill(9)
    const held = await hold(document, { salt }, registry)
    registry.revoke(held.documentHash)
    const verdict = await judge(await present(held, NAME))
    expect(verdict).toMatchObject({ valid: false, status: 'revoked' })
    expect(verdict.disclosed).toEqual({ subjectName: 'Ada Lovelace' })
    const forged = await judge({
      ...(await present(held, NAME)),
      disclosures: ['x'],
    })
    expect(forged).toMatchObject({ status: 'revoked', disclosed: null })
  })

  test('says that it is dated only if the date is shown', async () => {
    const dated = await judge(await present(alone, { ...NOTHING, fields: ['issuedAt'] }))
    const names = ({ checks }: PresentationVerdict) => checks.map(({ check }) => check)
    expect(names(dated)).toContain('dating')
    expect(names(await judge(await present(alone, NAME)))).not.toContain('dating')
    expect(names(dated)).not.toContain('key')
  })

  const bad: [string, string, (shown: Presentation) => Promise<object> | object][] = [
    [
      'a disclosure of another document',
      'disclosure_unlisted',
      async (p) => ({
        ...p,
        disclosures: (await present(other, NAME)).disclosures,
      }),
    ],
    [
      'claims of another document',
      'other_disclosures',
      async (p) => ({ ...p, claims: (await present(other, NAME)).claims }),
    ],
    [
      'a disclosure twice',
      'disclosure_repeated',
      (p) => ({ ...p, disclosures: [...p.disclosures, ...p.disclosures] }),
    ],
    [
      'something that is not a disclosure',
      'disclosure_malformed',
      (p) => ({ ...p, disclosures: ['W10'] }),
    ],
  ]
  test.each(bad)('rejects %s', async (_, code, change) => {
    const verdict = await judge(await change(await present(alone, NAME)))
    expect(verdict).toMatchObject({ status: 'tampered', disclosed: null })
    expect(notPassed(verdict)).toEqual([`content fail ${code}`])
  })

  test('is unverifiable without the sealed document, or with another one', async () => {
    const shown = await present(alone, NAME)
    for (const [sealed, code] of [
      [null, 'missing'],
      [(await present(other, NAME)).sealed, 'wrong_bytes'],
    ]) {
      const verdict = await judge({ ...shown, sealed })
      expect(verdict.status).toBe('unverifiable')
      expect(notPassed(verdict)).toEqual([`payload unknown ${code}`])
    }
  })

  test('finds no record of a batch document by another path', async () => {
    const shown = await present(inBatch, NAME)
    if (!shown.batch) throw new Error('not in a batch')
    for (const batch of [
      null,
      { ...shown.batch, proof: '' },
      { ...shown.batch, validUntil: 0 },
      { ...shown.batch, root: shown.documentHash },
    ])
      expect((await judge({ ...shown, batch })).status).toBe('not_issued')
    expect(sdOf(shown.claims)).not.toBe(sdOf((await present(alone)).claims))
  })
})

describe('verifyPresentationProof', () => {
  test('proves nothing without a proof, or in another registry', async () => {
    const shown = await present(alone, NAME)
    const options = { registry: REGISTRY, trustedBlocks: [] }
    const bare = await verifyPresentationProof(shown, options)
    expect(notPassed(bare)).toEqual(['chain unknown unproven'])
    const elsewhere = await verifyPresentationProof(shown, {
      ...options,
      registry: `eip155:1:0x${'0'.repeat(40)}`,
    })
    expect(notPassed(elsewhere)).toEqual(['chain unknown other_registry'])
  })
})

test('choicesOf returns everything that a document has', () => {
  expect(choicesOf(document)).toEqual({
    fields: ['category', 'expiresAt', 'issuedAt', 'subjectId', 'subjectName'],
    metadata: ['grade', 'thesis', 'subjectName'],
  })
})
