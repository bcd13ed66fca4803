import { afterAll, beforeAll, expect, test } from 'vitest'
import { readQrCodes } from '#cli/qr-image.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { createWallet } from '#test/support/wallet.ts'

const key = makeCredentialKey()
let stack: Stack
beforeAll(async () => {
  stack = await startStack({ CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' })
})
afterAll(async () => {
  await stack?.stop()
  key.remove()
})

const issue = async (from = stack) => (await from.issue(ADA)).body.data
const draw = (publicId: string, query = 'for=wallet', from = stack) =>
  from.request(`/qr/${publicId}?${query}`)
const codeOf = async (...given: Parameters<typeof draw>) => {
  const { status, body } = await draw(...given)
  return [status, body.error?.code]
}

test('for=wallet draws an offer that lets a wallet fetch the document', async () => {
  const { publicId } = await issue()
  const { status, headers, body } = await draw(publicId, 'for=wallet&format=png')
  expect([status, headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(headers.get('cache-control')).toBe('no-store')
  const [link = ''] = await readQrCodes(body)
  expect(link).not.toContain(publicId)
  const { credential } = await createWallet().fetch(link)
  expect(credential.split('~').length).toBeGreaterThan(4)
  await expect(createWallet().fetch(link)).rejects.toThrow()
})

test('for=wallet defaults to a picture, also for a browser', async () => {
  const { publicId } = await issue()
  const { headers } = await stack.request(`/qr/${publicId}?for=wallet`, {
    headers: { 'sec-fetch-dest': 'document', accept: 'text/html' },
  })
  expect(headers.get('content-type')).toBe('image/svg+xml')
})

test('for=wallet refuses a document that is not valid, and one that is unknown', async () => {
  const { publicId } = await issue()
  await stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  expect(await codeOf(publicId)).toEqual([409, 'not_valid'])
  expect(await codeOf('nonsense')).toEqual([400, 'bad_public_id'])
  expect(await codeOf(publicId, 'for=nobody')).toEqual([400, 'bad_query'])
})

test('for=wallet is refused where only API keys make offers, or nobody does', async () => {
  for (const settings of [{ CREDENTIAL_KEY_FILE: key.path, WALLET_OFFERS: 'keys' }, {}]) {
    const other = await startStack(settings)
    try {
      const { publicId } = await issue(other)
      expect(await codeOf(publicId, 'for=wallet', other)).toEqual([404, 'no_offers'])
      expect((await draw(publicId, '', other)).status).toBe(200)
    } finally {
      await other.stop()
    }
  }
})
