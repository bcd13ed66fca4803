import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { toCanonical } from '#document/canonical.ts'
import type { Document } from '#document/document.ts'
import { readSealedHeader } from '#document/sealed.ts'
import { type CredentialContext, createCredential } from '#modules/wallets/credential.ts'
import { readCredentialKeys } from '#parts/credential-keys.ts'
import { REGISTRY } from '#test/support/corpus/payload.ts'
import { createMemoryRegistry } from '#test/support/memory-registry.ts'
import { type Held, hold } from '#test/support/presented.ts'
import { createSdJwtReader } from '#test/support/sd-jwt-reader.ts'
import { identityAddressOf } from '#verifier/identity.ts'
import { CERTIFIED_KEY } from './certified-key.ts'

const registry = createMemoryRegistry(REGISTRY)
const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-01-31',
  expiresAt: '2999-12-31',
  metadata: { grade: 'A', iss: 'evil' },
  registry: REGISTRY,
  issuerId: 1,
}

let context: CredentialContext
let holder: KeyObject
let alone: Held
let inBatch: Held
beforeAll(async () => {
  alone = await hold(document, { salt: new Uint8Array(16).fill(1) }, registry)
  inBatch = await hold(document, { salt: new Uint8Array(16).fill(2), inBatch: true }, registry)
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  holder = pair.privateKey
  const own = identityAddressOf('https://example.edu/law', 1)
  if (!own) throw new Error('no domain')
  context = {
    keys: await readCredentialKeys(CERTIFIED_KEY.key),
    own,
    naming: 'https',
    holder: pair.publicKey.export({ format: 'jwk' }) as CredentialContext['holder'],
    type: { vct: 'https://example.edu/types/diploma', integrity: 'sha256-AAAA' },
    status: { uri: 'https://example.edu/status/1', idx: 7 },
  }
})

test('another reader opens it and presents some fields', async () => {
  const credential = await createCredential(alone, context)
  expect(credential).not.toContain(alone.publicId)
  const [issuerKey] = context.keys.published
  const instance = createSdJwtReader({ issuerKey, holder })
  const claims = await instance.getClaims(credential)
  expect(claims).toMatchObject({
    subjectName: 'Ada Lovelace',
    category: 'diploma',
    expiresAt: '2999-12-31',
    metadata: { grade: 'A', iss: 'evil' },
    iss: 'https://example.edu/law',
    vct: 'https://example.edu/types/diploma',
  })
  const shown = await instance.present(
    credential,
    { subjectName: true },
    {
      kb: { payload: { iat: 1, aud: 'https://verifier.example', nonce: 'n' } },
    },
  )
  const { payload } = await instance.verify(shown, { keyBindingNonce: 'n' })
  expect(payload).toMatchObject({ subjectName: 'Ada Lovelace' })
  expect(payload).not.toHaveProperty('subjectId')
})

test('the sealed digest is that of five members of the credential', async () => {
  for (const held of [alone, inBatch]) {
    const [jwt = ''] = (await createCredential(held, context)).split('~')
    const payload = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    const { _sd, _sd_alg, issuerId, metadata, registry, ...rest } = payload
    const claims = toCanonical({ _sd, _sd_alg, issuerId, metadata, registry })
    const sd = createHash('sha256').update(claims).digest('base64url')
    expect(sd).toBe(readSealedHeader(held.sealed).sd)
    expect(rest).toEqual({
      documentHash: `0x${Buffer.from(held.documentHash).toString('hex')}`,
      ...(held === inBatch && { batch: expect.objectContaining({ proof: expect.any(String) }) }),
      vct: context.type.vct,
      'vct#integrity': 'sha256-AAAA',
      iss: 'https://example.edu/law',
      iat: expect.any(Number),
      exp: 32503680000,
      cnf: { jwk: context.holder },
      status: { status_list: context.status },
    })
    expect(rest.iat % 86_400).toBe(0)
  }
})

test('the header names the key in exactly one way', async () => {
  const { kid } = context.keys.published[0]
  const headerOf = async (changed: Partial<CredentialContext>) => {
    const credential = await createCredential(alone, { ...context, ...changed })
    return JSON.parse(Buffer.from(credential.split('.')[0] ?? '', 'base64url').toString())
  }
  const common = { alg: 'ES256', typ: 'dc+sd-jwt' }
  expect(await headerOf({})).toEqual({ ...common, kid })
  const keys = await readCredentialKeys(CERTIFIED_KEY.key + CERTIFIED_KEY.certificate)
  expect(await headerOf({ keys })).toEqual({ ...common, x5c: keys.x5c })
  expect(await headerOf({ keys, naming: 'did:web' })).toEqual({
    ...common,
    kid: `did:web:example.edu:law#${kid}`,
  })
})

test('refuses a document that another publicId opens', async () => {
  const mixed = { ...alone, publicId: inBatch.publicId }
  await expect(createCredential(mixed, context)).rejects.toThrow()
})
