import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRpcPool } from '#chain/rpc.ts'
import { createKeySigner } from '#chain/signer.ts'
import { readConfig } from '#settings/config.ts'
import { freePort } from '../support/http.ts'
import { ADA, API_KEY, type Stack, startGatewayFor, startStack } from '../support/stack.ts'
import { transact } from '../support/transact.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

const change = (publicId: string, what: string, body: object) =>
  stack.request(`/v1/documents/${publicId}/${what}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })

const admin = (name: string) => transact(stack.provider, stack.registry, stack.adminKey, name, [1])

test('the gateway of a closed issuer issues nothing, and still revokes', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  await admin('closeIssuer')

  // At the same time: what cannot be issued takes nothing with it. It was accepted before anybody
  // knew, and waits until the issuer is open.
  const [waiting, suspended] = await Promise.all([
    stack.issue({ ...ADA, subjectId: '2' }),
    change(publicId, 'suspend', {}),
  ])
  expect([waiting.status, waiting.body.data.status]).toEqual([202, 'pending'])
  const refused = await stack.issue({ ...ADA, subjectId: '3' })
  expect([refused.status, refused.body.error.code]).toEqual([503, 'registry_refused'])
  expect([suspended.status, suspended.body.data.status]).toEqual([200, 'suspended'])
  const released = await change(publicId, 'release', {})
  expect([released.status, released.body.data.status]).toEqual([200, 'valid'])
  // What it reads of the account is good for a second.
  await expect
    .poll(async () => (await stack.request('/readyz')).body.error?.code)
    .toBe('registry_refused')
  const revoked = await change(publicId, 'revoke', { reason: 'keyCompromise' })
  expect([revoked.status, revoked.body.data.status]).toEqual([200, 'revoked'])

  // What waits is counted each second.
  const metrics = async () => Buffer.from((await stack.request('/metrics')).body).toString()
  await expect.poll(metrics).toMatch(/intents_refused 1$/m)
  await admin('reopenIssuer')
  const statusOf = async () => (await stack.verify(waiting.body.data.publicId)).body.data.status
  await expect.poll(statusOf).toBe('valid')
  const again = await stack.issue({ ...ADA, subjectId: '3' })
  expect(again.status).toBe(201)
})

test('verdicts name the closed issuer, and keep their status', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  const verdict = async () => (await stack.verify(publicId)).body.data
  const open = { status: 'valid', blockchainProof: { issuer: { closedBlock: null } } }
  expect(await verdict()).toMatchObject(open)
  await admin('closeIssuer')
  const { provider } = stack
  const closedBlock = Number(await provider.request({ method: 'eth_blockNumber' }))
  const closed = { status: 'valid', blockchainProof: { issuer: { closedBlock } } }
  expect(await verdict()).toMatchObject(closed)
  await admin('reopenIssuer')
  expect(await verdict()).toMatchObject(open)
})

test('a gateway starts although its issuer is closed', async () => {
  await admin('closeIssuer')
  const dataDir = mkdtempSync(join(tmpdir(), 'document-registry-'))
  const config = readConfig({
    PORT: String(await freePort()),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
  })
  const { registry, issuerKey, chainUrl } = stack
  const gateway = await startGatewayFor(config, {
    rpc: createRpcPool([chainUrl], config.rpcTimeout),
    registry,
    signer: createKeySigner(issuerKey),
  })
  expect((await fetch(`${config.baseUrl}/healthz`)).status).toBe(200)
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
  await admin('reopenIssuer')
})
