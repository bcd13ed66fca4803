import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCredentialKeys } from '#parts/signer.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { createSdJwtReader } from '#test/support/sd-jwt-reader.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { createWallet } from '#test/support/wallet.ts'
import { verifyCredential } from '#verifier/credential.ts'
import { createDidDocument } from '#verifier/identity.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { CERTIFIED_KEY } from './certified-key.ts'

const key = makeCredentialKey()
let stack: Stack
beforeAll(async () => {
  stack = await startStack({ CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' })
})
afterAll(async () => {
  await stack.stop()
  key.remove()
})

const issue = async () => (await stack.issue(ADA)).body.data
const offerOf = async (publicId: string, terms: object = {}, secret = API_KEY) => {
  const { status, body } = await stack.request(`/v1/documents/${publicId}/offer`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(terms),
  })
  return { status, code: body.error?.code, ...body.data }
}

test('a wallet by others imports, holds and presents', async () => {
  const { publicId, documentHash } = await issue()
  const { link, offerUrl, offer } = await offerOf(publicId)
  expect(offer.credential_configuration_ids).toEqual(['plain-did-web'])
  expect(`${link} ${offerUrl}`).not.toContain(publicId)
  const wallet = createWallet()
  const { credential } = await wallet.fetch(link)
  const { published } = await openCredentialKeys(key.path)
  const statusList = async (uri: string) => (await fetch(uri)).text()
  const reader = createSdJwtReader({ issuerKey: published[0], holder: wallet.holder, statusList })
  const shown = await reader.present(
    credential,
    { subjectName: true },
    {
      kb: { payload: { iat: 1, aud: 'https://verifier.example', nonce: 'n' } },
    },
  )
  const { payload } = await reader.verify(shown, { keyBindingNonce: 'n' })
  expect(payload).toMatchObject({
    subjectName: ADA.subjectName,
    documentHash,
    issuerId: 1,
    registry: stack.registry,
    iss: 'did:web:testville.example',
  })
  expect(payload).not.toHaveProperty('subjectId')

  await stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  const isAccepted = () =>
    reader.verify(shown, { keyBindingNonce: 'n' }).then(
      () => true,
      ({ message }) => message,
    )
  await expect.poll(isAccepted, { timeout: 15_000, interval: 1_000 }).toBe('Status is not valid')
}, 30_000)

/** A verifier that reads the chain, and trusts no server. */
async function judge(credential: string) {
  const { published } = await openCredentialKeys(key.path)
  const did = 'did:web:testville.example'
  const { registry } = stack
  const document = createDidDocument({ did, registry, issuerId: 1, keys: published })
  const bytes = Buffer.from(JSON.stringify(document))
  return verifyCredential(credential, {
    chain: createChainReader(stack.provider, registry),
    blocks: [createIpfsGatewaySource(stack.url, 5_000)],
    identity: { read: async () => ({ status: 'found', bytes }) },
  })
}

test('a verifier of the chain accepts both forms, also of a document in a batch', async () => {
  const { body } = await stack.request('/v1/batches', {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' },
    body: `${JSON.stringify(ADA)}\n`,
  })
  const inBatch = JSON.parse(Buffer.from(body).toString()).data
  for (const publicId of [(await issue()).publicId, inBatch.publicId]) {
    await expect.poll(async () => (await offerOf(publicId)).status, { timeout: 20_000 }).toBe(201)
    for (const configuration of ['plain', 'plain-did-web']) {
      const { link } = await offerOf(publicId)
      const { credential } = await createWallet().fetch(link, { configuration })
      const { status, disclosed, checks } = await judge(credential)
      expect([status, checks.find(({ check }) => check === 'credential')?.code]).toEqual([
        'valid',
        'no_holder',
      ])
      expect(disclosed).toEqual(ADA)
    }
  }
}, 60_000)

test('a document that fits a kind has its type; others have the generic one', async () => {
  const category = 'diploma'
  await stack.request(`/v1/kinds/${category}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      display: [{ locale: 'de', name: 'Diplom' }],
      claims: [{ path: ['subjectName'], display: [{ locale: 'de', label: 'Name' }] }],
    }),
  })
  const { publicId } = (await stack.issue({ ...ADA, category })).body.data
  const { link } = await offerOf(publicId)
  const { credential, issuerMetadata } = await createWallet().fetch(link)
  const { vct, 'vct#integrity': integrity } = decodeJwt(credential.split('~')[0] ?? '')
  const file = new Uint8Array(await (await fetch(String(vct))).arrayBuffer())
  expect(integrity).toBe(`sha256-${createHash('sha256').update(file).digest('base64')}`)
  const forms = issuerMetadata.credentialIssuer.credential_configurations_supported
  expect(forms.document).toMatchObject({
    vct,
    credential_metadata: {
      display: [{ name: 'Diplom', locale: 'de' }],
      claims: [{ path: ['subjectName'], display: [{ name: 'Name', locale: 'de' }] }],
    },
  })
  expect(Object.keys(forms)).toEqual(['document', 'document-did-web', 'plain', 'plain-did-web'])
})

test('an offer names an issuer over https when the key has a certificate', async () => {
  const certified = makeCredentialKey()
  writeFileSync(certified.path, CERTIFIED_KEY.key + CERTIFIED_KEY.certificate)
  const other = await startStack({ CREDENTIAL_KEY_FILE: certified.path })
  const { publicId } = (await other.issue(ADA)).body.data
  const { body } = await other.request('/wallets/offers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ publicId }),
  })
  expect(body.data.offer.credential_configuration_ids).toEqual(['plain'])
  await other.stop()
  certified.remove()
})

test('stores nothing about an offered document', async () => {
  const { publicId } = await issue()
  const { link, offerUrl, txCode } = await offerOf(publicId, { txCode: true })
  const secrets = [publicId, offerUrl.split('/').at(-1), txCode]
  await createWallet().fetch(link, { txCode })
  const files = readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })
  const stored = files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
  expect(stored.length).toBeGreaterThan(2)
  for (const secret of secrets) {
    // A few digits may well be in a longer number or a hash.
    const alone = new RegExp(`(?<![0-9a-f])${secret}(?![0-9a-f])`)
    expect(stored.some((text) => alone.test(text))).toBe(false)
  }
})

test('an offer by value, a Bearer token and an issuer over https work too', async () => {
  const { publicId } = await issue()
  const { offer } = await offerOf(publicId, { iss: 'https' })
  expect(offer.credential_configuration_ids).toEqual(['plain'])
  const link = `openid-credential-offer://?credential_offer=${encodeURIComponent(JSON.stringify(offer))}`
  const wallet = createWallet()
  const { credential } = await wallet.fetch(link, { withDpop: false })
  const [jwt = ''] = credential.split('~')
  expect(decodeJwt(jwt).iss).toBe('https://testville.example')
  expect(decodeProtectedHeader(jwt).kid).not.toContain('did:')
})

test('whoever holds the publicId may ask for an offer', async () => {
  const { publicId } = await issue()
  const { body } = await stack.request('/wallets/offers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ publicId }),
  })
  const { credential } = await createWallet().fetch(body.data.link)
  expect(credential).toMatch(/^ey/)
})
