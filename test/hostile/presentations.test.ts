import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeBatchBlock } from '#document/batch/block.ts'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { type Hex, toHex } from '#document/hex.ts'
import {
  type Choice,
  createPresentation,
  type Presentation,
  parsePresentation,
} from '#document/presentation.ts'
import { encodePublicId } from '#document/public-id.ts'
import {
  readPresentation,
  verifyPresentation,
  verifyPresentationProof,
} from '#verifier/presentation.ts'
import { createProvingReader } from '#verifier/readers/proof.ts'
import type { PresentationVerdict } from '#verifier/verdict.ts'
import { jsonValue, mangled, mutated } from '../support/arbitraries.ts'
import type { Case } from '../support/corpus/case.ts'
import { type Chain, startChain } from '../support/corpus/chain.ts'
import { makePayload, REGISTRY } from '../support/corpus/payload.ts'
import { createMemoryRegistry } from '../support/memory-registry.ts'
import { type Held, hold, present } from '../support/presented.ts'

// Any presentation ends in a verdict or a FormatError, and no changed one is valid unless it shows
// the same fields or fewer.

const registry = createMemoryRegistry(REGISTRY)
const names = ['alone', 'in a batch', 'revoked'] as const
type Name = (typeof names)[number]
const held = {} as Record<Name, Held>
const shown = {} as Record<Name, Presentation>
const SOME: Choice = {
  fields: ['category', 'issuedAt', 'subjectName'],
  metadata: ['grade'],
}

beforeAll(async () => {
  const document: Document = {
    subjectName: 'Ada Lovelace',
    subjectId: '18151210',
    category: 'diploma',
    issuedAt: '2026-01-31',
    expiresAt: '2999-12-31',
    metadata: { grade: 'A', place: 'London' },
    registry: REGISTRY,
    issuerId: 1,
  }
  for (const [i, name] of names.entries()) {
    const salt = new Uint8Array(16).fill(i)
    const inBatch = name !== 'alone'
    held[name] = await hold(document, { salt, inBatch }, registry)
    shown[name] = await present(held[name], SOME)
  }
  registry.revoke(held.revoked.documentHash)
})

/** @returns `undefined` when it is refused as malformed. */
async function judge(
  verify: () => Promise<PresentationVerdict>,
): Promise<PresentationVerdict | undefined> {
  try {
    const verdict = await verify()
    const codes = verdict.checks.map(({ code }) => code)
    expect(codes).not.toContain('internal_error')
    return verdict
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    expect(error).toMatchObject({ code: 'presentation_malformed' })
    return undefined
  }
}

const online = (input: unknown) =>
  judge(() => verifyPresentation(input, { chain: registry.reader, blocks: [] }))

/** @returns Whether it was accepted. An accepted one shows the same as the original, or less. */
function isAccepted(
  verdict: PresentationVerdict | undefined,
  input: unknown,
  original: Presentation,
): boolean {
  if (!verdict?.valid) return false
  const { disclosures, ...rest } = parsePresentation(input)
  const { disclosures: all, ...same } = original
  expect(rest).toEqual(same)
  expect(all).toEqual(expect.arrayContaining(disclosures))
  expect(new Set(disclosures).size).toBe(disclosures.length)
  return true
}

describe.each(['alone', 'in a batch'] as const)('a document %s', (name) => {
  const holds = async (input: unknown) => isAccepted(await online(input), input, shown[name])

  test('its presentation is valid as text, as bytes and parsed', async () => {
    const text = JSON.stringify(shown[name])
    for (const input of [shown[name], text, Buffer.from(text)])
      expect(await holds(input)).toBe(true)
  })

  test('1,000 presentations with bytes changed show nothing else', async () => {
    const bytes = Buffer.from(JSON.stringify(shown[name]))
    await fc.assert(
      fc.asyncProperty(mangled(bytes), async (changed) => {
        await holds(changed)
        await holds(Buffer.from(changed).toString())
      }),
      { numRuns: 1_000 },
    )
  })

  test('1,000 with any value in any position show nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(mutated(shown[name]), async (value) => {
        await holds(value)
        await holds(JSON.stringify(value) ?? '')
      }),
      { numRuns: 1_000 },
    )
  })

  test('1,000 combined from several presentations show nothing else', async () => {
    const all = await Promise.all(names.map((one) => present(held[one])))
    const byHash = new Map(all.map((one) => [one.documentHash, one]))
    const from = <K extends keyof Presentation>(member: K) =>
      fc.constantFrom(...all.map((one) => one[member]))
    const disclosures = all.flatMap((one) => one.disclosures)
    const parts = fc.record({
      claims: from('claims'),
      documentHash: from('documentHash'),
      batch: from('batch'),
      sealed: from('sealed'),
      disclosures: fc.shuffledSubarray(disclosures, { maxLength: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(parts, async (changes) => {
        const value = { ...shown[name], ...changes }
        const original = byHash.get(value.documentHash)
        if (!original) throw new Error('a hash of none')
        isAccepted(await online(value), value, original)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a holder can show less of it', async () => {
    for (const text of shown[name].disclosures) {
      const disclosures = shown[name].disclosures.filter((one) => one !== text)
      expect(await holds({ ...shown[name], disclosures })).toBe(true)
    }
  })

  test('refuses any other path to a batch', async () => {
    const { batch } = shown['in a batch']
    if (!batch) throw new Error('not in a batch')
    for (let at = 0; at < batch.proof.length; at++) {
      const other = batch.proof[at] === 'A' ? 'B' : 'A'
      const proof = batch.proof.slice(0, at) + other + batch.proof.slice(at + 1)
      const value = { ...shown[name], batch: { ...batch, proof } }
      expect(await holds(value)).toBe(false)
    }
  })
})

test('none of 1,000 changes makes a revoked document valid', async () => {
  const original = shown.revoked
  expect((await online(original))?.status).toBe('revoked')
  const bytes = Buffer.from(JSON.stringify(original))
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated(original), mangled(bytes)), async (changed) => {
      expect((await online(changed))?.valid).not.toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('any JSON is refused, as text and parsed', async () => {
  await fc.assert(
    fc.asyncProperty(jsonValue, async (value) => {
      for (const input of [value, JSON.stringify(value)])
        expect(await online(input)).toBeUndefined()
    }),
    { numRuns: 300 },
  )
})

const SIZE = 8 * 1024 * 1024 - 8_000
const huge: [string, (good: Presentation) => unknown][] = [
  ['one string', () => `"${'a'.repeat(SIZE)}"`],
  ['nested lists', () => '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2)],
  ['many members', () => `{${'"a":0,'.repeat(SIZE / 6)}"a":0}`],
  ['many digests', (p) => ({ ...p, claims: { ...p.claims, _sd: Array(1e6).fill(0) } })],
  ['many disclosures', (p) => ({ ...p, disclosures: Array(2e6).fill(0) })],
  ['a long disclosure', (p) => ({ ...p, disclosures: ['A'.repeat(SIZE - 8_000)] })],
  ['a long sealed document', (p) => ({ ...p, sealed: '.'.repeat(SIZE) })],
  ['a long path', (p) => ({ ...p, batch: { ...p.batch, proof: 'A'.repeat(SIZE) } })],
]
test.each(huge)('%s ends in time', async (_, make) => {
  const input = make(shown['in a batch'])
  const start = performance.now()
  expect((await online(input))?.valid).not.toBe(true)
  if (typeof input !== 'string') await online(JSON.stringify(input))
  // The limit is in milliseconds.
  expect(performance.now() - start).toBeLessThan(60_000)
})

describe.each(['alone', 'in a batch'])('with a proof, %s', (name) => {
  let dir: string
  let chain: Chain
  let proven: Presentation
  let trusted: Hex

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'hostile-presentations-'))
    chain = await startChain(dir, 31337)
    proven = await presentProven(chain, caseOf(name))
    const { block } = readPresentation(proven)
    if (!block) throw new Error('no proof')
    trusted = block.blockHash
  })
  afterAll(async () => {
    await chain?.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const offline = (input: unknown) =>
    judge(() =>
      verifyPresentationProof(input, {
        registry: REGISTRY,
        trustedBlocks: [trusted],
      }),
    )
  const holds = async (input: unknown) => isAccepted(await offline(input), input, proven)

  test('is valid offline', async () => {
    expect(await holds(JSON.stringify(proven))).toBe(true)
    const verdict = await offline(proven)
    expect(verdict?.disclosed).toEqual({ subjectName: 'Ada Lovelace' })
  })

  test('1,000 changes show nothing else', async () => {
    const bytes = Buffer.from(JSON.stringify(proven))
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated(proven), mangled(bytes)), async (changed) => {
        await holds(changed)
      }),
      { numRuns: 1_000 },
    )
  })

  test('is unverifiable without trust in its block', async () => {
    const options = { registry: REGISTRY, trustedBlocks: [] }
    const verdict = await verifyPresentationProof(proven, options)
    expect(verdict.status).toBe('unverifiable')
    expect(verdict.checks).toEqual([
      { check: 'chain', outcome: 'unknown', code: 'block_untrusted' },
    ])
  })
})

function caseOf(name: string): Case {
  const batch = { size: 5, block: {}, sources: [] }
  return {
    name,
    title: name,
    why: '',
    payload: { document: {} },
    chain: [{ issue: { by: 'issuer', alone: false } }],
    nodes: ['honest'],
    sources: ['has'],
    ask: {},
    ...(name === 'in a batch' && { batch }),
    expected: { error: '' },
  }
}

async function presentProven(chain: Chain, one: Case): Promise<Presentation> {
  const made = await makePayload(one)
  await chain.perform(one, made)
  const batchBlock = made.batch?.bytes
  const key = {
    issuerId: 1,
    documentHash: toHex(made.hash),
    ...(batchBlock && { batch: decodeBatchBlock(batchBlock) }),
  }
  const reader = createProvingReader(chain.provider, chain.registry)
  const { stateProof } = await reader.read(key)
  if (!stateProof) throw new Error('no proof')
  const { documentKey } = made
  return createPresentation({
    publicId: encodePublicId({
      kind: made.batch ? 'batch' : 'single',
      issuerId: 1,
      hash: made.batch?.hash ?? made.hash,
      documentKey,
    }),
    sealed: made.bytes,
    ...(batchBlock && { batchBlock }),
    choose: { fields: ['subjectName'], metadata: [] },
    stateProof,
    includeSealed: true,
  })
}
