import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCredentialKeys } from '#parts/credential-keys.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { createSdJwtReader } from '#test/support/sd-jwt-reader.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { createWallet } from '#test/support/wallet.ts'

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

test('default: a wallet that nobody here wrote imports, holds and presents', async () => {
  const { publicId, documentHash } = await issue()
  const { link, offerUrl } = await offerOf(publicId)
  expect(`${link} ${offerUrl}`).not.toContain(publicId)
  const wallet = createWallet()
  const { credential } = await wallet.fetch(link)
  const { published } = await openCredentialKeys(key.path)
  const statusList = async (uri: string) => (await fetch(uri)).text()
  const reader = createSdJwtReader({
    ...{ issuerKey: published[0], holder: wallet.holder, statusList },
  })
  const shown = await reader.present(
    credential,
    { subjectName: true },
    {
      kb: { payload: { iat: 1, aud: 'https://verifier.example', nonce: 'n' } },
    },
  )
  const { payload } = await reader.verify(shown, { keyBindingNonce: 'n' })
  expect(payload).toMatchObject({
    ...{ subjectName: ADA.subjectName, documentHash, issuerId: 1, registry: stack.registry },
    iss: 'https://testville.example',
  })
  expect(payload).not.toHaveProperty('subjectId')

  await stack.request(`/v1/documents/${publicId}/revoke`, {
    ...{ method: 'POST', headers: { authorization: `Bearer ${API_KEY}` } },
  })
  const isAccepted = () =>
    reader.verify(shown, { keyBindingNonce: 'n' }).then(
      () => true,
      ({ message }) => message,
    )
  await expect.poll(isAccepted, { timeout: 15_000, interval: 1_000 }).toBe('Status is not valid')
}, 30_000)

test('behavior: nothing about an offered document is stored', async () => {
  const { publicId } = await issue()
  const { link, offerUrl, txCode } = await offerOf(publicId, { txCode: true })
  const secrets = [publicId, offerUrl.split('/').at(-1), txCode]
  await createWallet().fetch(link, { txCode })
  const files = readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })
  const stored = files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name)))
  expect(stored.length).toBeGreaterThan(2)
  for (const secret of secrets)
    expect(stored.some((bytes) => bytes.includes(`${secret}`))).toBe(false)
})

test('behavior: an offer by value, a Bearer token and did:web work too', async () => {
  const { publicId } = await issue()
  const { offer } = await offerOf(publicId)
  const link = `openid-credential-offer://?credential_offer=${encodeURIComponent(JSON.stringify(offer))}`
  const wallet = createWallet()
  const ids = offer.credential_configuration_ids
  const { credential } = await wallet.fetch(link, { configuration: ids[1], withDpop: false })
  const [jwt = ''] = credential.split('~')
  expect(decodeJwt(jwt).iss).toBe('did:web:testville.example')
  expect(decodeProtectedHeader(jwt).kid).toMatch(/^did:web:testville\.example#/)
})

test('behavior: whoever holds the publicId may ask for an offer', async () => {
  const { publicId } = await issue()
  const { body } = await stack.request('/wallets/offers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ publicId }),
  })
  const { credential } = await createWallet().fetch(body.data.link)
  expect(credential).toMatch(/^ey/)
})
