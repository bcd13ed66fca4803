import { Wallet } from 'ethers'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCredentialKeys } from '#parts/signer.ts'
import { makeCredentialKey } from '#test/support/credential-key.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { statusesIn } from '#test/support/status-list.ts'
import { PERMISSION, transact } from '#test/support/transact.ts'
import { createWallet } from '#test/support/wallet.ts'
import { verifyCredential } from '#verifier/credential.ts'
import { createDidDocument } from '#verifier/identity.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'

const key = makeCredentialKey()
let stack: Stack
beforeAll(async () => {
  stack = await startStack({ CREDENTIAL_KEY_FILE: key.path, ADDRESS_RATE_LIMIT: 'off' })
})
afterAll(async () => {
  await stack.stop()
  key.remove()
})

/** Issues a document into a wallet. */
async function held(fields: object = {}) {
  const { publicId, documentHash } = (await stack.issue({ ...ADA, ...fields })).body.data
  const { body } = await stack.request(`/v1/documents/${publicId}/offer`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: '{}',
  })
  const { credential } = await createWallet().fetch(body.data.link)
  const { status } = decodeJwt(credential.split('~')[0] ?? '') as {
    status: { status_list: { uri: string; idx: number } }
  }
  return { documentHash, credential, ...status.status_list }
}

/** What a verifier learns who reads the chain. */
async function judge(credential: string) {
  const { registry, provider, url } = stack
  const { published } = await openCredentialKeys(key.path)
  const did = 'did:web:testville.example'
  const document = createDidDocument({ did, registry, issuerId: 1, keys: published })
  return verifyCredential(credential, {
    chain: createChainReader(provider, registry),
    blocks: [createIpfsGatewaySource(url)],
    identity: {
      read: async () => ({ status: 'found', bytes: Buffer.from(JSON.stringify(document)) }),
    },
  })
}

const listedAs = async ({ uri, idx }: { uri: string; idx: number }) => {
  const { body } = await stack.request(new URL(uri).pathname)
  return statusesIn(Buffer.from(body).toString())(idx)
}

test('verifies a credential from a wallet against the chain', async () => {
  const { credential } = await held({ metadata: { grade: 'A' }, expiresAt: '2999-12-31' })
  expect(await judge(credential)).toMatchObject({
    status: 'valid',
    disclosed: { subjectName: ADA.subjectName, metadata: { grade: 'A' } },
    checks: expect.arrayContaining([{ check: 'credential', outcome: 'pass', code: 'no_holder' }]),
  })
})

test('the list follows changes by another account after some seconds', async () => {
  const [revoked, suspended, valid] = [await held(), await held(), await held()]
  const { provider, registry, adminKey } = stack
  const { address } = new Wallet(adminKey)
  const send = (name: string, ...args: unknown[]) =>
    transact(provider, registry, adminKey, name, [1, ...args])
  await send('setPermissions', address, PERMISSION.manage + PERMISSION.revoke)
  const listed = () => Promise.all([revoked, suspended, valid].map(listedAs))
  expect(await listed()).toEqual([0, 0, 0])
  await send('revoke', revoked.documentHash, 1)
  await send('revoke', suspended.documentHash, 6)
  await expect.poll(listed, { timeout: 15_000, interval: 500 }).toEqual([1, 2, 0])
  expect((await judge(revoked.credential)).status).toBe('revoked')
  expect((await judge(suspended.credential)).status).toBe('suspended')
}, 30_000)

test('answers 503 while the chain is down, and 404 for an unknown list', async () => {
  const { uri } = await held()
  expect((await stack.request('/v1/status-lists/9')).status).toBe(404)
  expect((await stack.request('/v1/status-lists/0')).status).toBe(404)
  stack.proxy.refuse = () => true
  try {
    const status = async () => (await stack.request(new URL(uri).pathname)).status
    await expect.poll(status, { timeout: 15_000, interval: 500 }).toBe(503)
  } finally {
    stack.proxy.refuse = () => false
  }
}, 30_000)
