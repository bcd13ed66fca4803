import { execFile } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import { verifyCredential } from '#verifier/credential.ts'
import { required } from '../../../faults/support/machine.ts'
import {
  type CredentialParts,
  credentialOf,
  didWithKeys,
  ISSUER_KEY,
} from '../../../support/credentials.ts'
import { IS_LONG } from '../../../support/long.ts'
import { createMemoryRegistry } from '../../../support/memory-registry.ts'
import { hold, present } from '../../../support/presented.ts'
import { type Random, seededRandom } from '../../../support/random.ts'
import { createSdJwtReader } from '../../../support/sd-jwt-reader.ts'
import { pythonWith } from '../../../tools/examples/python.ts'

const python = required(await pythonWith(new URL('requirements.txt', import.meta.url).pathname))
const COUNT = IS_LONG ? 1_000 : 50
const SEED = 20261126
const [audience, nonce] = ['https://verifier.example', 'a-nonce']
const NOW = Date.UTC(2026, 6, 1) / 1000

const registry = formatRegistryId(1, `0x${'12'.repeat(20)}`)
const memory = createMemoryRegistry(registry, 1, 'https://testville.example')
const sealed = new Map<string, Uint8Array>()
const blocks = [
  {
    async get(hash: Uint8Array) {
      const bytes = sealed.get(Buffer.from(hash).toString('hex'))
      return bytes ? ({ status: 'found', bytes } as const) : ({ status: 'missing' } as const)
    },
  },
]
const didDocument = JSON.stringify(didWithKeys({ registry, issuerId: 1 }))
const identity = {
  read: async () => ({ status: 'found', bytes: Buffer.from(didDocument) }) as const,
}
const holder = createPrivateKey({
  format: 'jwk',
  key: { ...ISSUER_KEY.jwk, d: Buffer.from(ISSUER_KEY.secret).toString('base64url') },
})
const reader = createSdJwtReader({ issuerKey: ISSUER_KEY.jwk, holder })

const NAMES = [
  'Ada Lovelace',
  'Łukasz Żółć',
  'محمد',
  '李小龍',
  'O’Brien "Bob"',
  '𝔸\u2028b',
] as const

/** Issues a document of chance, and shows a part of it of chance. */
async function credential(random: Random, seed: number, parts: CredentialParts = { holder: {} }) {
  const metadata = Object.fromEntries(
    Array.from({ length: random.below(9) }, (_, i) => [`key ${i}`, random.pick(NAMES)]),
  )
  const document: Document = {
    subjectName: random.pick(NAMES),
    subjectId: String(seed),
    category: 'diploma',
    issuedAt: '2026-01-31',
    registry,
    issuerId: 1,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
  const salt = Buffer.alloc(16)
  salt.writeUInt32BE(seed)
  const held = await hold(document, { salt, inBatch: random.below(4) === 0 }, memory)
  sealed.set(Buffer.from(held.documentHash).toString('hex'), held.sealed)
  const some = (names: string[]) => names.filter(() => random.below(3) > 0)
  const fields = some(['subjectName', 'subjectId', 'category', 'issuedAt'])
  const choose = { fields, metadata: some(Object.keys(metadata)) }
  return credentialOf(await present(held, choose, false), parts)
}

/** Changes a good credential so that it is no more the same. */
async function mutant(random: Random, seed: number): Promise<string> {
  const good = await credential(random, seed)
  const other = await credential(random, COUNT + seed)
  const parts = good.split('~')
  const at = random.below(good.length)
  const swap = (index: number) => parts.with(index, other.split('~').at(index) ?? '').join('~')
  const by = (some: CredentialParts) => credential(random, seed, { holder: {}, ...some })
  const make = random.pick([
    () => good.slice(0, at) + random.pick(['A', 'b', '7', '_', '.', '~', ' ']) + good.slice(at + 1),
    () => good.slice(0, at) + good.slice(at + 1),
    () => good.slice(0, at),
    () => swap(0),
    () => swap(-1),
    () => parts.toSpliced(1, 1).join('~'),
    () => parts.toSpliced(1, 0, parts[1] ?? '').join('~'),
    () => parts.toSpliced(1, 0, other.split('~')[1] ?? '').join('~'),
    () => [...parts.slice(0, -1), ''].join('~'),
    () => by({ by: 'stranger' }),
    () => by({ by: 'hmac', header: { alg: 'HS256' } }),
    () => by({ by: 'nobody', header: { alg: 'none' } }),
    () => by({ holder: { by: 'stranger' } }),
    () => by({ holder: { payload: { nonce: 'another' } } }),
    () => by({ holder: { payload: { aud: 'https://another.example' } } }),
    () => by({ holder: { header: { typ: 'JWT' } } }),
    () => by({ holder: { header: { alg: 'none' }, by: 'nobody' } }),
  ])
  return make()
}

/** @returns What this library shows; `null` if it is not valid. */
async function ours(text: string): Promise<object | null> {
  try {
    const options = { chain: memory.reader, blocks, identity, audience, nonce, now: NOW }
    const { valid, disclosed } = await verifyCredential(text, options)
    return valid && disclosed ? { metadata: {}, ...disclosed } : null
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}

/** @returns What `@sd-jwt/sd-jwt-vc` shows. */
async function javascript(text: string): Promise<object | null> {
  return reader.verify(text, { keyBindingNonce: nonce }).then(
    ({ payload }) => shownIn(payload),
    () => null,
  )
}

/** @returns What `sd-jwt` of PyPI shows. */
async function pythons(texts: readonly string[]): Promise<(object | null)[]> {
  const program = new URL('verify.py', import.meta.url).pathname
  const running = promisify(execFile)(python ?? '', [program], { maxBuffer: 2 ** 28 })
  const lines = texts.map((text) => JSON.stringify([text, ISSUER_KEY.jwk, audience, nonce]))
  running.child.stdin?.end(lines.join('\n'))
  const { stdout } = await running
  return stdout
    .trim()
    .split('\n')
    .map((line) => shownIn(JSON.parse(line)))
}

const FIELDS = ['subjectName', 'subjectId', 'category', 'issuedAt', 'metadata']

function shownIn(payload: unknown): object | null {
  if (payload === null) return null
  return Object.fromEntries(
    Object.entries(payload as object).filter(([name]) => FIELDS.includes(name)),
  )
}

test.skipIf(python === undefined)(
  `two other libraries read ${COUNT} credentials with the same result`,
  async () => {
    const random = seededRandom(SEED)
    const texts: string[] = []
    for (let i = 0; i < COUNT; i++) texts.push(await credential(random, i))
    const inPython = await pythons(texts)
    for (const [i, text] of texts.entries()) {
      const shown = await ours(text)
      expect(shown, text).not.toBeNull()
      expect([await javascript(text), inPython[i]], text).toEqual([shown, shown])
    }
  },
  120_000,
)

test.skipIf(python === undefined)(
  `of ${COUNT} mutants, accepts none that one of the others refuses`,
  async () => {
    const random = seededRandom(SEED + 1)
    const texts: string[] = []
    for (let i = 0; i < COUNT; i++) texts.push(await mutant(random, 10 * COUNT + i))
    const inPython = await pythons(texts)
    const refused = { ours: 0, javascript: 0, python: 0 }
    for (const [i, text] of texts.entries()) {
      const [shown, inJavaScript] = [await ours(text), await javascript(text)]
      if (shown === null) refused.ours++
      else expect([inJavaScript, inPython[i]], text).toEqual([shown, shown])
      if (inJavaScript === null) refused.javascript++
      if (inPython[i] === null) refused.python++
    }
    expect(refused.ours).toBeGreaterThanOrEqual(Math.max(refused.javascript, refused.python))
    expect(Math.min(refused.javascript, refused.python)).toBeGreaterThan(COUNT / 2)
  },
  120_000,
)
