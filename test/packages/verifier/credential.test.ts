import { describe, expect, test } from 'vitest'
import { isCredential, parseCredential } from '#document/credential.ts'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { choicesOf } from '#document/presentation.ts'
import { formatRegistryId } from '#document/registry-id.ts'
import { type CredentialOptions, verifyCredential } from '#verifier/credential.ts'
import type { IdentitySource } from '#verifier/ports.ts'
import {
  bindingOf,
  type CredentialParts,
  credentialOf,
  didWithKeys,
  HOLDER_KEY,
  ISSUER_KEY,
  testKey,
} from '../../support/credentials.ts'
import { createMemoryRegistry } from '../../support/memory-registry.ts'
import { hold, present } from '../../support/presented.ts'

const registry = formatRegistryId(1, `0x${'12'.repeat(20)}`)
const memory = createMemoryRegistry(registry, 1, 'https://testville.example')
const NOW = Date.UTC(2026, 6, 1) / 1000
const DID = 'did:web:testville.example'

const ada: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-01-31',
  expiresAt: '2999-12-31',
  metadata: { grade: 'A', town: 'London' },
  registry,
  issuerId: 1,
}
const salt = (seed: number) => new Uint8Array(16).fill(seed)
const held = await hold(ada, { salt: salt(1) }, memory)
const inBatch = await hold(ada, { salt: salt(2), inBatch: true }, memory)
const other = await hold({ ...ada, subjectName: 'Eve' }, { salt: salt(3) }, memory)
const shown = await present(held, undefined, false)
const EXP = { exp: 32503680000 }

const did = (document: object): IdentitySource => ({
  read: async () => ({
    status: 'found',
    bytes: new TextEncoder().encode(JSON.stringify(document)),
  }),
})
const sources = [held, inBatch, other].map(({ sealed, documentHash }) => ({
  get: async (hash: Uint8Array) =>
    Buffer.compare(hash, documentHash) === 0
      ? ({ status: 'found', bytes: sealed } as const)
      : ({ status: 'missing' } as const),
}))
const options: CredentialOptions = {
  chain: memory.reader,
  blocks: sources,
  now: NOW,
  identity: did(didWithKeys(shown)),
}

/** The credential of Ada's document. */
function made({ payload, ...parts }: CredentialParts = {}, from = shown): string {
  return credentialOf(from, { ...parts, payload: { ...EXP, ...payload } })
}

async function judge(credential: string, more: Partial<CredentialOptions> = {}) {
  const verdict = await verifyCredential(credential, { ...options, ...more })
  const check = verdict.checks.find(({ check }) => check === 'credential')
  return { ...verdict, credential: check && `${check.outcome} ${check.code}` }
}

describe('a valid credential', () => {
  test('is valid, with everything that it shows', async () => {
    const { metadata, registry: _, issuerId: __, ...fields } = ada
    expect(await judge(made())).toMatchObject({
      status: 'valid',
      valid: true,
      disclosed: { ...fields, metadata },
      credential: 'pass no_holder',
    })
  })

  test("is valid with the proof of its holder, for the reader's audience and nonce", async () => {
    const bound = made({ holder: {} })
    expect((await judge(bound)).credential).toBe('pass holder')
    const asked = { audience: 'https://verifier.example', nonce: 'a-nonce' }
    expect(await judge(bound, asked)).toMatchObject({ valid: true, credential: 'pass holder' })
  })

  test('can show a part, and nothing', async () => {
    const name = await present(held, { fields: ['subjectName'], metadata: ['grade'] }, false)
    const part = { subjectName: 'Ada Lovelace', metadata: { grade: 'A' } }
    expect(await judge(made({}, name))).toMatchObject({ valid: true, disclosed: part })
    const nothing = await present(held, { fields: [], metadata: [] }, false)
    expect(await judge(made({}, nothing))).toMatchObject({ valid: true, disclosed: {} })
  })

  test('is valid for a document in a batch', async () => {
    const ofBatch = await present(inBatch, choicesOf(ada), false)
    expect(await judge(made({}, ofBatch))).toMatchObject({ valid: true })
  })

  test.each([
    ['a DID URL', { header: { kid: `${DID}#${ISSUER_KEY.kid}` } }],
    ['the DID as issuer', { payload: { iss: DID } }],
    ['certificates instead of a kid', { header: { kid: null, x5c: ['MIIB'] } }],
    ['the hash of its type metadata', { payload: { 'vct#integrity': 'sha256-x' } }],
  ])('is valid with %s', async (_, parts) => {
    expect(await judge(made(parts))).toMatchObject({ valid: true })
  })

  test('is valid with an older key that is still listed', async () => {
    const keys = [testKey('is valid if newer'), ISSUER_KEY]
    const identity = did(didWithKeys(shown, { keys }))
    expect(await judge(made(), { identity })).toMatchObject({ valid: true })
    const certified = made({ header: { kid: null, x5c: ['MIIB'] } })
    expect(await judge(certified, { identity })).toMatchObject({ valid: true })
  })

  test('is revoked by a revocation on the chain', async () => {
    const gone = await hold(ada, { salt: salt(9) }, memory)
    memory.revoke(gone.documentHash)
    const blocks = [{ get: async () => ({ status: 'found', bytes: gone.sealed }) as const }]
    const credential = made({ holder: {} }, await present(gone, undefined, false))
    expect(await judge(credential, { blocks })).toMatchObject({
      status: 'revoked',
      valid: false,
      credential: 'pass holder',
    })
  })
})

describe('a bad credential is tampered', () => {
  const binding = (parts: NonNullable<CredentialParts['holder']>) => made({ holder: parts })
  const [jwt = '', ...disclosures] = made().split('~').slice(0, -1)
  const shortened = [jwt, ...disclosures.slice(1), ''].join('~')

  test.each([
    ['a foreign key under the kid of the issuer', made({ by: 'stranger' }), 'signature_invalid'],
    ['a key that is not listed', made({ header: { kid: 'x' } }), 'unknown_key'],
    [
      'a foreign key under certificates',
      made({ by: 'stranger', header: { kid: null, x5c: ['MIIB'] } }),
      'signature_invalid',
    ],
    [
      'a DID URL of another domain',
      made({ header: { kid: `did:web:x.example#${ISSUER_KEY.kid}` } }),
      'unknown_key',
    ],
    ['an issuer of another domain', made({ payload: { iss: 'https://x.example' } }), 'wrong_iss'],
    ['another expiry', made({ payload: { exp: 32503680001 } }), 'other_expiry'],
    ['no expiry', made({ payload: { exp: null } }), 'other_expiry'],
    ['a signature of no bytes', made({ by: 'nobody' }), 'signature_invalid'],
    ['a proof by another key', binding({ by: 'stranger' }), 'holder_invalid'],
    [
      'a proof without algorithm',
      binding({ header: { alg: 'none' }, by: 'nobody' }),
      'holder_invalid',
    ],
    ['a proof by HMAC', binding({ header: { alg: 'HS256' }, by: 'hmac' }), 'holder_invalid'],
    ['a proof of another type', binding({ header: { typ: 'JWT' } }), 'holder_invalid'],
    ['a proof of the future', binding({ payload: { iat: NOW + 301 } }), 'holder_invalid'],
    ['a proof without nonce', binding({ payload: { nonce: null } }), 'holder_invalid'],
    ['a proof of more fields', shortened + bindingOf(made(), {}), 'holder_invalid'],
    ['a proof that is not a JWS', `${made()}x`, 'holder_invalid'],
  ])('%s', async (_, credential, code) => {
    expect(await judge(credential)).toMatchObject({
      status: 'tampered',
      valid: false,
      credential: `fail ${code}`,
    })
  })

  test.each([
    ['another audience', { audience: 'https://x.example' }, 'holder_invalid'],
    ['another nonce', { nonce: 'x' }, 'holder_invalid'],
  ])('a proof for %s', async (_, asked, code) => {
    expect(await judge(made({ holder: {} }), asked)).toMatchObject({
      status: 'tampered',
      credential: `fail ${code}`,
    })
    expect((await judge(made(), asked)).credential).toBe('fail holder_missing')
  })

  test.each([
    ['the domain denies the issuer', didWithKeys({ registry, issuerId: 2 })],
    ['no key is for assertions', { ...didWithKeys(shown), assertionMethod: [] }],
    ['the key is malformed', JSON.parse(JSON.stringify(didWithKeys(shown)).replace('EC', 'OKP'))],
  ])('%s', async (_, document) => {
    expect(await judge(made(), { identity: did(document) })).toMatchObject({
      status: 'tampered',
      credential: 'fail unknown_key',
    })
  })

  test('with a listed key that is not on the curve', async () => {
    const { x } = ISSUER_KEY.jwk
    const keys = [{ ...ISSUER_KEY, jwk: { ...ISSUER_KEY.jwk, y: x } }]
    const identity = did(didWithKeys(shown, { keys }))
    expect((await judge(made(), { identity })).credential).toBe('fail signature_invalid')
  })

  test('with content of another document, under a valid signature', async () => {
    const { claims, disclosures } = await present(other, undefined, false)
    const swapped = await judge(made({}, { ...shown, claims, disclosures }))
    const told = swapped.checks.find(({ check }) => check === 'content')
    expect(told).toMatchObject({ outcome: 'fail', code: 'other_disclosures' })
    const foreign = await judge(made({}, { ...shown, disclosures }))
    expect(foreign.checks).toContainEqual({
      check: 'content',
      outcome: 'fail',
      code: 'disclosure_unlisted',
    })
    expect(foreign).toMatchObject({ status: 'tampered', disclosed: null })
  })
})

describe('a credential that cannot be checked', () => {
  test.each([
    ['unreachable', { identity: { read: () => Promise.reject(new Error('down')) } }],
    ['malformed', { identity: did({ id: 'did:web:x.example' }) }],
  ])('is unverifiable with a domain that is %s', async (code, more) => {
    expect(await judge(made(), more)).toMatchObject({
      status: 'unverifiable',
      credential: `unknown ${code}`,
    })
  })

  test('is unverifiable without a request to the domain', async () => {
    const { identity: _, ...rest } = options
    const { checks, status } = await verifyCredential(made(), rest)
    expect(checks).toContainEqual({ check: 'credential', outcome: 'unknown', code: 'not_asked' })
    expect(status).toBe('unverifiable')
  })
})

describe('a malformed credential has no verdict', () => {
  const good = made()
  const [jwt = ''] = good.split('~')
  const payload = (over: object) => made({ payload: over })
  const header = (over: object) => made({ header: over })

  test.each([
    ['empty', ''],
    ['a publicId', held.publicId],
    ['too long', `${good}${'~'.repeat(600_000)}`],
    ['a JWT without a tilde', jwt],
    ['an empty disclosure', `${jwt}~~`],
    ['white space', ` ${good}`],
    ['two signatures', `${jwt}.x~`],
    ['padding', good.replace('~', '=~')],
    ['no algorithm', made({ header: { alg: 'none' }, by: 'nobody' })],
    ['HMAC with the public key', made({ header: { alg: 'HS256' }, by: 'hmac' })],
    ['another algorithm', header({ alg: 'ES384' })],
    ['another type', header({ typ: 'vc+sd-jwt' })],
    ['no type', header({ typ: null })],
    ['kid and certificates', header({ x5c: ['MIIB'] })],
    ['neither', header({ kid: null })],
    ['a critical extension', header({ crit: ['b64'], b64: false })],
    ['a key of its own', header({ jwk: ISSUER_KEY.jwk })],
    ['a claim in clear', payload({ subjectName: 'Eve' })],
    ['metadata in clear', payload({ metadata: { ...shown.claims.metadata, grade: 'B' } })],
    ['no hash', payload({ documentHash: null })],
    ['no status', payload({ status: null })],
    ['no type of credential', payload({ vct: null })],
    ['no key of its holder', payload({ cnf: null })],
    ['a holder key with its secret', payload({ cnf: { jwk: { ...HOLDER_KEY.jwk, d: 'AA' } } })],
    ['another hash function', payload({ _sd_alg: 'sha-512' })],
    ['a path that is no path', payload({ batch: { root: 'x' } })],
    ['an index below 0', payload({ status: { status_list: { idx: -1, uri: 'https://a' } } })],
    ['71 disclosures', [jwt, ...Array(71).fill('W10'), ''].join('~')],
  ])('%s', async (_, credential) => {
    const error = await verifyCredential(credential, {
      ...options,
      chain: { ...memory.reader, read: () => Promise.reject(new Error('asked')) },
    }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(FormatError)
    expect(error.code).toBe('credential_malformed')
  })

  test('with a repeated name', () => {
    const twice = Buffer.from('{"alg":"none","alg":"ES256","typ":"dc+sd-jwt","kid":"x"}')
    const [, ...rest] = good.split('.')
    expect(() => parseCredential([twice.toString('base64url'), ...rest].join('.'))).toThrow(
      expect.objectContaining({ code: 'credential_malformed' }),
    )
  })

  test('names every bad member', () => {
    const bad = payload({ iss: 7, vct: null, documentHash: 'x', more: 1 })
    expect(() => parseCredential(bad)).toThrow(
      expect.objectContaining({
        fields: expect.arrayContaining(
          ['iss', 'vct', 'more'].map((field) => expect.objectContaining({ field })),
        ),
      }),
    )
  })
})

test('is recognised by its beginning', () => {
  expect(isCredential(made())).toBe(true)
  for (const text of [held.publicId, '{}', 'ey', 'a~b', new TextDecoder().decode(held.sealed)])
    expect(isCredential(text)).toBe(false)
})
