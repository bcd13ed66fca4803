import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import { verifyCredential } from '#verifier/credential.ts'
import type { Check } from '#verifier/verdict.ts'
import { jsonValue, mangled } from '../support/arbitraries.ts'
import { credentialOf, didWithKeys, signJws } from '../support/credentials.ts'
import { createMemoryRegistry } from '../support/memory-registry.ts'
import { hold, present } from '../support/presented.ts'

// Any credential, and whatever its issuer's domain says, ends in a verdict or a FormatError.

const registry = formatRegistryId(1, `0x${'12'.repeat(20)}`)
const memory = createMemoryRegistry(registry, 1, 'https://testville.example')
const ada: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-01-31',
  registry,
  issuerId: 1,
  metadata: { grade: 'A' },
}
let good: string
let sealed: Uint8Array

beforeAll(async () => {
  const held = await hold(ada, { salt: new Uint8Array(16) }, memory)
  sealed = held.sealed
  good = credentialOf(await present(held, undefined, false), { holder: {} })
})

async function judge(
  input: string | Uint8Array,
  did: unknown = didWithKeys({ registry, issuerId: 1 }),
): Promise<{ valid: boolean; checks: Check[] }> {
  const bytes = Buffer.from(JSON.stringify(did) ?? '')
  try {
    const verdict = await verifyCredential(input, {
      chain: memory.reader,
      blocks: [{ get: async () => ({ status: 'found', bytes: sealed }) }],
      identity: { read: async () => ({ status: 'found', bytes }) },
    })
    expect(verdict.checks.map(({ code }) => code)).not.toContain('internal_error')
    return verdict
  } catch (error) {
    expect(error).toBeInstanceOf(FormatError)
    expect(error).toMatchObject({ code: 'credential_malformed' })
    return { valid: false, checks: [] }
  }
}

test('an unchanged credential is valid', async () => {
  expect(await judge(good)).toMatchObject({ valid: true })
})

test('changed bytes are never valid', async () => {
  await fc.assert(
    fc.asyncProperty(mangled(Buffer.from(good)), async (bytes) => {
      fc.pre(Buffer.compare(bytes, Buffer.from(good)) !== 0)
      expect((await judge(bytes)).valid).toBe(false)
    }),
    { numRuns: 500 },
  )
})

test('no JSON that issuer or holder may sign makes it throw', async () => {
  await fc.assert(
    fc.asyncProperty(jsonValue, jsonValue, async (header, payload) => {
      const jws = signJws(header as object, payload as object, 'issuer')
      expect((await judge(`${jws}~`)).valid).toBe(false)
      const shown = good.slice(0, good.lastIndexOf('~') + 1)
      const binding = signJws(header as object, payload as object, 'holder')
      expect((await judge(shown + binding)).valid).toBe(false)
    }),
    { numRuns: 200 },
  )
})

test('no keys of a domain make it throw', async () => {
  const did = didWithKeys({ registry, issuerId: 1 })
  await fc.assert(
    fc.asyncProperty(jsonValue, jsonValue, async (publicKeyJwk, assertionMethod) => {
      const verificationMethod = [{ id: 'x', publicKeyJwk }]
      const { checks } = await judge(good, { ...did, verificationMethod, assertionMethod })
      const { code } = checks.find(({ check }) => check === 'credential') ?? {}
      // Some of this is not strict JSON.
      expect(['unknown_key', 'malformed']).toContain(code)
    }),
    { numRuns: 200 },
  )
})

test('judges or refuses a credential of maximum length quickly', async () => {
  const [jwt = ''] = good.split('~')
  const begun = performance.now()
  for (const text of ['~'.repeat(524_288), `${jwt}~${'A'.repeat(400_000)}~`, 'ey'.repeat(262_144)])
    expect((await judge(text)).valid).toBe(false)
  expect(performance.now() - begun).toBeLessThan(20_000)
})
