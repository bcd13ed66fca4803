import { createCipheriv, randomBytes } from 'node:crypto'
import { sha256 } from '@noble/hashes/sha2.js'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { decodeBase64url, encodeBase64url } from '#document/base64url.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { toCanonical } from '#document/canonical.ts'
import { disclose } from '#document/disclosures.ts'
import { toHex } from '#document/hex.ts'
import { encodePublicId } from '#document/public-id.ts'
import { pad, seal } from '#document/sealed.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import type { Verdict } from '#verifier/verdict.ts'
import { verify } from '#verifier/verify.ts'
import { jsonValue, mangled, mutated } from '../support/arbitraries.ts'
import { FIELDS, REGISTRY } from '../support/corpus/payload.ts'
import { sealAnything } from '../support/seal-plaintext.ts'
import { nodeWith, type Record, resultsFor } from './memory-node.ts'

// Anything that anyone has anchored ends in a verdict, and what the chain says about it is never
// lost.

const KEYS = {
  salt: new Uint8Array(16),
  documentKey: new Uint8Array(16).fill(7),
  iv: new Uint8Array(12),
}
const DOCUMENT = {
  ...FIELDS,
  metadata: { school: 'Testville', constructor: 'x' },
  registry: REGISTRY,
  issuerId: 1,
}
const HEADER = {
  alg: 'dir',
  enc: 'A128GCM',
  kid: encodeBase64url(KEYS.salt),
  sd: disclose(DOCUMENT, KEYS).sd,
  typ: 'document+jwe',
  v: 1,
}
const utf8 = (text: string) => new TextEncoder().encode(text)

async function judge(
  sealed: Uint8Array,
  record: Record = {},
  options: { now?: number; onError?: (error: unknown) => void } = {},
): Promise<Verdict> {
  const hash = sha256(sealed)
  const { documentKey } = KEYS
  return verify(encodePublicId({ kind: 'single', issuerId: 1, hash, documentKey }), {
    chain: createChainReader(nodeWith(resultsFor(toHex(hash), record)), REGISTRY),
    blocks: [{ get: async () => ({ status: 'found', bytes: sealed }) }],
    ...options,
  })
}

/** Hostile bytes in force are refused or good; if revoked, they are revoked. */
async function endsInVerdicts(sealed: Uint8Array): Promise<void> {
  const { status, checks } = await judge(sealed)
  expect(['tampered', 'wrong_key', 'valid']).toContain(status)
  expect(checks.map(({ code }) => code)).not.toContain('internal_error')
  expect((await judge(sealed, { revoked: true })).status).toBe('revoked')
}

/** @returns A JWE that can be opened, with this text as its header. */
function jweOf(header: string | Uint8Array, plaintext: Uint8Array): Uint8Array {
  const first = encodeBase64url(typeof header === 'string' ? utf8(header) : header)
  const cipher = createCipheriv('aes-128-gcm', KEYS.documentKey, KEYS.iv)
  cipher.setAAD(utf8(first))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  const rest = [KEYS.iv, ciphertext, cipher.getAuthTag()].map(encodeBase64url)
  return utf8([first, '', ...rest].join('.'))
}

const goodSealed = async () => (await seal(DOCUMENT, KEYS)).bytes
const opening = (header: string | Uint8Array) => jweOf(header, pad(toCanonical(DOCUMENT)))

describe('sealed bytes', () => {
  test('are valid or revoked when unchanged', async () => {
    const sealed = await goodSealed()
    expect(await judge(sealed)).toMatchObject({
      status: 'valid',
      document: DOCUMENT,
    })
    expect(await judge(opening(JSON.stringify(HEADER)))).toMatchObject({
      status: 'valid',
    })
    await endsInVerdicts(sealed)
  })

  test('any bytes end in a verdict', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: fc.constantFrom(...'.....AQgw_-=019xyz \u0080') }).map(utf8),
    )
    await fc.assert(fc.asyncProperty(bytes, endsInVerdicts), { numRuns: 250 })
  })

  test('changed bytes end in a verdict and are never valid', async () => {
    const sealed = await goodSealed()
    await fc.assert(
      fc.asyncProperty(mangled(sealed), async (bytes) => {
        await endsInVerdicts(bytes)
        if (!Buffer.from(bytes).equals(sealed)) expect((await judge(bytes)).valid).toBe(false)
      }),
      { numRuns: 200 },
    )
  })
})

describe('headers of a JWE that opens', () => {
  test('a kid of any length ends in a verdict', async () => {
    for (let length = 0; length < 50; length++)
      await endsInVerdicts(opening(JSON.stringify({ ...HEADER, kid: 'A'.repeat(length) })))
  })

  test('any value in any position ends in a verdict', async () => {
    const header = fc.oneof(
      mutated(HEADER).map((value) => JSON.stringify(value) ?? ''),
      jsonValue.map((value) => JSON.stringify(value)),
      fc.string({ unit: 'binary' }),
    )
    await fc.assert(
      fc.asyncProperty(header, (text) => endsInVerdicts(opening(text))),
      { numRuns: 250 },
    )
  })

  test('bytes changed end in a verdict', async () => {
    await fc.assert(
      fc.asyncProperty(mangled(utf8(JSON.stringify(HEADER))), (bytes) =>
        endsInVerdicts(opening(bytes)),
      ),
      { numRuns: 200 },
    )
  })
})

describe('documents sealed under the right key', () => {
  const sealAs = async (plaintext: Uint8Array) => (await sealAnything(plaintext, KEYS)).bytes
  /** The text is canonical if possible, so that the fields are read. */
  const textOf = (value: unknown) => {
    try {
      return toCanonical(value)
    } catch {
      return utf8(JSON.stringify(value) ?? '')
    }
  }

  test('any value in any position of a document ends in a verdict', async () => {
    await fc.assert(
      fc.asyncProperty(mutated(DOCUMENT), async (value) =>
        endsInVerdicts(await sealAs(textOf(value))),
      ),
      { numRuns: 400 },
    )
  })

  test('any metadata ends in a verdict', async () => {
    await fc.assert(
      fc.asyncProperty(jsonValue, async (metadata) =>
        endsInVerdicts(await sealAs(textOf({ ...DOCUMENT, metadata }))),
      ),
      { numRuns: 250 },
    )
  })

  test('any JSON, any bytes and any padding end in a verdict', async () => {
    const plaintext = fc.oneof(
      jsonValue.map((value) => pad(textOf(value))),
      fc.uint8Array({ maxLength: 600 }),
      mangled(pad(toCanonical(DOCUMENT))),
    )
    await fc.assert(
      fc.asyncProperty(plaintext, (bytes) => endsInVerdicts(jweOf(JSON.stringify(HEADER), bytes))),
      { numRuns: 250 },
    )
  })
})

describe('sealed bytes of the maximum size', () => {
  const MIB = 1024 * 1024
  const nested = (open: string, close: string, size: number) => {
    const count = Math.floor(size / (open.length + close.length))
    return `${open.repeat(count)}1${close.repeat(count)}`
  }
  test.each<[string, () => Uint8Array]>([
    ['full stops', () => utf8('.'.repeat(MIB))],
    ['letters', () => utf8('A'.repeat(MIB))],
    ['random bytes', () => randomBytes(MIB)],
    ['a header nested deep', () => opening(nested('[', ']', 700_000))],
    ['a header of objects', () => opening(nested('{"a":', '}', 700_000))],
    ['a header of one string', () => opening(`"${'a'.repeat(700_000)}"`)],
    ['a header of escapes', () => opening(`"${'\\"'.repeat(350_000)}"`)],
    [
      'a kid of 700,000 characters',
      () => opening(JSON.stringify({ ...HEADER, kid: 'A'.repeat(700_001) })),
    ],
    [
      'a document nested deep',
      () => jweOf(JSON.stringify(HEADER), pad(utf8(nested('[', ']', 700_000)))),
    ],
    [
      'a document of many bad fields',
      () =>
        jweOf(
          JSON.stringify(HEADER),
          pad(
            toCanonical(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 1]))),
          ),
        ),
    ],
    [
      'a document of much bad metadata',
      () =>
        jweOf(
          JSON.stringify(HEADER),
          pad(
            toCanonical({
              ...DOCUMENT,
              metadata: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, {}])),
            }),
          ),
        ),
    ],
    [
      'a name of 700,000 characters',
      () =>
        jweOf(
          JSON.stringify(HEADER),
          pad(toCanonical({ ...DOCUMENT, subjectName: 'a'.repeat(7e5) })),
        ),
    ],
  ])('%s end in a verdict in time', async (_, make) => {
    const sealed = make()
    const start = performance.now()
    await endsInVerdicts(sealed)
    // The limit for two verdicts, in milliseconds; on a quiet machine they take some hundredths of
    // it.
    expect(performance.now() - start).toBeLessThan(60_000)
  })
})

describe('a program that cannot decrypt', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test('still reports the state on the chain', async () => {
    const sealed = await goodSealed()
    const errors: unknown[] = []
    const onError = (error: unknown) => errors.push(error)
    // A browser has no WebCrypto over plain HTTP.
    vi.stubGlobal('crypto', {})
    const revoked = await judge(sealed, { revoked: true }, { onError })
    expect(revoked.status).toBe('revoked')
    expect(revoked.checks).toContainEqual({
      check: 'content',
      outcome: 'unknown',
      code: 'internal_error',
    })
    const inForce = await judge(sealed, {}, { onError })
    expect(inForce).toMatchObject({ status: 'unverifiable', document: null })
    const expired = await judge(sealed, { validUntil: 4e9 }, { now: 5e9, onError })
    expect(expired.status).toBe('unverifiable')
    expect(errors).toHaveLength(3)
    expect(String(errors[0])).toContain('WebCrypto is missing')
  })
})

test('decoding is the inverse of encoding, for any salt', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(decodeBase64url(encodeBase64url(bytes))).toEqual(bytes)
    }),
  )
})

describe('batch blocks', () => {
  const BLOCK = {
    documentHash: `0x${'5a'.repeat(32)}` as const,
    manifest: `0x${'6b'.repeat(32)}` as const,
    root: `0x${'7c'.repeat(32)}` as const,
    issuerId: 1,
    registry: REGISTRY,
    size: 5,
    validUntil: 0,
  }
  const GOOD = encodeBatchBlock({ ...BLOCK, proof: new Uint8Array(64) })

  /** The node accepts every proof, and the block must not make a verifier fail. */
  async function verdictOf(block: Uint8Array): Promise<Verdict> {
    const sealed = await goodSealed()
    const hash = sha256(block)
    const { documentKey } = KEYS
    const id = { kind: 'batch', issuerId: 1, hash, documentKey } as const
    return verify(encodePublicId(id), {
      chain: createChainReader(nodeWith(resultsFor(toHex(sha256(sealed)))), REGISTRY),
      blocks: [block, sealed].map((bytes) => ({
        get: async () => ({ status: 'found', bytes }),
      })),
    })
  }

  test('an unchanged block leads to the registry, and only its own document is valid', async () => {
    const documentHash = toHex(sha256(await goodSealed()))
    const proof = new Uint8Array(64)
    const good = encodeBatchBlock({ ...BLOCK, documentHash, proof })
    expect((await verdictOf(good)).status).toBe('valid')
    const { checks } = await verdictOf(GOOD)
    expect(checks).toContainEqual({ check: 'payload', outcome: 'unknown', code: 'wrong_bytes' })
    expect(checks).not.toContainEqual(expect.objectContaining({ check: 'content' }))
  })

  test('any bytes instead of a block end in a verdict', async () => {
    const text = new TextDecoder().decode(GOOD)
    const bytes = fc.oneof(
      mangled(GOOD),
      mutated(JSON.parse(text)).map((value) => {
        try {
          return toCanonical(value)
        } catch {
          return utf8(JSON.stringify(value) ?? '')
        }
      }),
      fc.uint8Array({ maxLength: 64 }),
      fc.constant(new Uint8Array(5_000)),
    )
    await fc.assert(
      fc.asyncProperty(bytes, async (block) => {
        const { status, checks } = await verdictOf(block)
        expect(['tampered', 'unverifiable']).toContain(status)
        expect(checks[0]?.check).toBe('batch')
      }),
      { numRuns: 500 },
    )
  })
})
