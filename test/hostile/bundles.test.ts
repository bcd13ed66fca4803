import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FormatError } from '#document/errors.ts'
import type { Hex } from '#document/hex.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { StateProof } from '#document/state-proof.ts'
import { type Bundle, createBundle, readBundle, verifyBundle } from '#verifier/bundle.ts'
import { ChainError } from '#verifier/errors.ts'
import { readStateProof } from '#verifier/proof/state-proof.ts'
import type { VerdictStatus } from '#verifier/verdict.ts'
import { jsonValue, mangled, mutated } from '../support/arbitraries.ts'
import type { Case } from '../support/corpus/case.ts'
import { type Chain, startChain } from '../support/corpus/chain.ts'
import { makePayload } from '../support/corpus/payload.ts'

// Any bundle ends in a verdict or a FormatError, and no change to one makes a revoked document
// valid.

let dir: string
let chain: Chain
/** The bundles by the name of their subject. */
const bundles: Record<string, Bundle> = {}
const statuses: Record<string, VerdictStatus> = {
  'in force': 'valid',
  revoked: 'revoked',
  'never issued': 'not_issued',
}

async function make(name: string, steps: Case['chain']): Promise<void> {
  const one: Case = {
    name,
    title: name,
    why: '',
    payload: { document: { subjectName: name } },
    chain: steps,
    nodes: ['honest'],
    sources: ['has'],
    ask: {},
    expected: { error: '' },
  }
  const made = await makePayload(one)
  await chain.perform(one, made)
  const { hash, documentKey, bytes } = made
  bundles[name] = await createBundle(
    encodePublicId({ kind: 'single', issuerId: 1, hash, documentKey }),
    {
      provider: chain.provider,
      registry: chain.registry,
      blocks: [{ get: async () => ({ status: 'found', bytes }) }],
    },
  )
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'hostile-bundles-'))
  chain = await startChain(dir, 31337)
  const issue = { issue: { by: 'issuer', alone: false } }
  await make('in force', [issue])
  await make('revoked', [
    issue,
    { revoke: { by: 'issuer', whole: false, reason: 'keyCompromise' } },
  ])
  await make('never issued', [])
})
afterAll(async () => {
  await chain?.stop()
  rmSync(dir, { recursive: true, force: true })
})

function bundleOf(name: string): Bundle {
  const bundle = bundles[name]
  if (!bundle) throw new Error(`no bundle ${name}`)
  return bundle
}

/**
 * Verifies with the block of the unchanged bundle trusted. @returns `undefined` when it is refused
 * as malformed.
 */
async function judge(name: string, input: unknown): Promise<VerdictStatus | undefined> {
  const trusted: Hex = readBundle(bundleOf(name)).block.blockHash
  try {
    const { status, checks } = await verifyBundle(input, {
      registry: chain.registry,
      trustedBlocks: [trusted],
    })
    expect(checks.map(({ code }) => code)).not.toContain('internal_error')
    return status
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    return undefined
  }
}

const names = Object.keys(statuses)
/** The best statuses that a change of each bundle may have. */
const better: Record<string, string[]> = {
  'in force': [],
  revoked: ['valid', 'expired', 'not_issued', 'tampered', 'distrusted'],
  'never issued': ['valid', 'expired', 'revoked', 'tampered', 'distrusted'],
}

describe.each(names)('a bundle of a document that is %s', (name) => {
  const holds = async (input: unknown) => {
    const status = await judge(name, input)
    expect(better[name]).not.toContain(status)
  }

  test('gives that verdict as text, as bytes and parsed', async () => {
    const bundle = bundleOf(name)
    const text = JSON.stringify(bundle)
    for (const input of [bundle, text, Buffer.from(text)])
      expect(await judge(name, input)).toBe(statuses[name])
  })

  test('ends in a verdict with any value in any position', async () => {
    await fc.assert(
      fc.asyncProperty(mutated(bundleOf(name)), async (value) => {
        await holds(value)
        await holds(JSON.stringify(value) ?? '')
      }),
      { numRuns: 300 },
    )
  })

  test('ends in a verdict with bytes changed', async () => {
    const bytes = Buffer.from(JSON.stringify(bundleOf(name)))
    await fc.assert(
      fc.asyncProperty(mangled(bytes), async (changed) => {
        await holds(changed)
        await holds(Buffer.from(changed).toString())
      }),
      { numRuns: 300 },
    )
  })

  test('ends in a verdict with well-formed nodes, slots and headers changed', async () => {
    const bundle = bundleOf(name)
    const bytesOf = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')
    const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
    const node = (hex: Hex) => fc.oneof(fc.constant(hex), mangled(bytesOf(hex)).map(hexOf))
    const nodesOf = (nodes: readonly Hex[]) =>
      nodes.length === 0
        ? fc.constant([])
        : fc.array(fc.constantFrom(...nodes).chain(node), {
            maxLength: nodes.length + 1,
          })
    const { header, accountProof, storageProof } = bundle.stateProof
    const stateProof = fc.record({
      header: fc.oneof(fc.constant(header), node(header)),
      accountProof: fc.oneof(fc.constant(accountProof), nodesOf(accountProof)),
      storageProof: fc.oneof(
        fc.shuffledSubarray([...storageProof]),
        fc.tuple(
          ...storageProof.map((slot) =>
            fc.oneof(
              fc.constant(slot),
              nodesOf(slot.proof).map((proof) => ({ ...slot, proof })),
            ),
          ),
        ),
      ),
    })
    await fc.assert(
      fc.asyncProperty(stateProof, async (changed) => {
        await holds({ ...bundle, stateProof: changed })
        try {
          readStateProof(changed as StateProof, chain.registry, {
            issuerId: 1,
            documentHash: `0x${'5a'.repeat(32)}`,
          })
        } catch (error) {
          expect(error).toBeInstanceOf(ChainError)
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('anything that is not a bundle', () => {
  test('is refused as text and parsed', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue, async (value) => {
        for (const input of [value, JSON.stringify(value)])
          expect(await judge('in force', input)).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  const proof = (part: object) => () => {
    const bundle = bundleOf('in force')
    return { ...bundle, stateProof: { ...bundle.stateProof, ...part } }
  }
  const SIZE = 8 * 1024 * 1024 - 2_000
  test.each<[string, () => unknown]>([
    ['a text too long', () => ' '.repeat(SIZE + 4_000)],
    ['one string', () => `"${'a'.repeat(SIZE)}"`],
    ['escapes', () => `"${'\\"'.repeat(SIZE / 2)}"`],
    ['nested lists', () => '['.repeat(SIZE / 2) + ']'.repeat(SIZE / 2)],
    ['a list of zeros', () => `[${'0,'.repeat(SIZE / 2)}0]`],
    ['many members', () => `{${'"a":0,'.repeat(SIZE / 6)}"a":0}`],
    ['many empty nodes', () => JSON.stringify(proof({ accountProof: Array(2e6).fill(0) })())],
    ['many empty slots', () => JSON.stringify(proof({ storageProof: Array(2e6).fill({}) })())],
    ['many good nodes', proof({ accountProof: Array(1e6).fill('0x00') })],
    ['more slots than a registry has', proof({ storageProof: Array(4_097).fill({}) })],
    [
      'a sealed document of megabytes',
      () => ({ ...bundleOf('in force'), sealed: '.'.repeat(SIZE) }),
    ],
  ])('%s ends in time', async (_, input) => {
    const value = input()
    const start = performance.now()
    const status = await judge('in force', value)
    expect([undefined, 'unverifiable']).toContain(status)
    // The limit is in milliseconds.
    expect(performance.now() - start).toBeLessThan(60_000)
  })
})
