import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { docregGateway } from '../support/docreg.ts'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { freePort } from '../support/http.ts'
import { ADA, API_KEY, requestsTo } from '../support/stack.ts'
import { type Folder, temporaryFolder } from './support/machine.ts'

// SQLite starts without a word from a write-ahead log that was deleted or damaged.

let folder: Folder
let env: Record<string, string>
let gateway: GatewayProcess
beforeEach(async () => {
  folder = temporaryFolder()
  const [port, chainPort] = [await freePort(), await freePort()]
  const DATA_DIR = join(folder.dir, 'data')
  env = { PORT: `${port}`, CHAIN_PORT: `${chainPort}`, DATA_DIR, API_KEY }
  gateway = gatewayProcess(env)
  await gateway.start()
})
afterEach(async () => {
  if (gateway.running()) await gateway.stop()
  folder.remove()
})

const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
const request = (path: string, init: RequestInit = {}) =>
  requestsTo(gateway.url)(path, { headers, ...init })
const issue = (key: string) =>
  request('/v1/documents', {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': key },
    body: JSON.stringify(ADA),
  })
const verdictOf = async (publicId: string) => {
  const { status, body } = await request(`/v1/verify?publicId=${publicId}`)
  return [status, body.data?.status]
}
const fsck = () => docregGateway(['fsck'], { env })

async function killAndLoseLog(): Promise<void> {
  await gateway.kill()
  rmSync(join(env.DATA_DIR ?? '', 'gateway.db-wal'))
}

/** Starts it, and waits until it answers. */
async function startClosed(): Promise<void> {
  gateway.launch()
  const healthy = () =>
    request('/healthz').then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(healthy).toBe(200)
}

async function expectClosed(): Promise<void> {
  expect(gateway.output()).toContain('"event":"issuing_closed"')
  expect(gateway.output()).toContain('lacks writes that were on the disk')
  const { status, body } = await issue('closed')
  expect([status, body.error.code]).toEqual([503, 'store_unavailable'])
  expect((await request('/readyz')).status).toBe(503)
  const { stdout } = await docregGateway(['doctor'], { env })
  expect(stdout).toContain('lacks writes that were on the disk')
}

test('after its log was lost, a gateway verifies, and issues once the loss is accepted', async () => {
  const { publicId: kept } = (await issue('kept')).body.data
  await gateway.stop()
  await gateway.start()
  const { publicId: lost } = (await issue('lost')).body.data
  await killAndLoseLog()

  await startClosed()
  await expectClosed()
  expect(await verdictOf(kept)).toEqual([200, 'valid'])
  const { code, stdout } = await fsck()
  expect(code).toBe(1)
  expect(stdout).toContain('payload_missing')
  expect(stdout).toContain('ACCEPT_LOST_WRITES=true')
  await gateway.stop()
  await startClosed()
  await expectClosed()

  await gateway.stop()
  gateway = gatewayProcess({ ...env, ACCEPT_LOST_WRITES: 'true' })
  await gateway.start()
  expect((await issue('lost')).body.data.publicId).toBe(lost)
  expect(await verdictOf(lost)).toEqual([200, 'valid'])
  await gateway.kill()
  gateway = gatewayProcess(env)
  await gateway.start()
  expect((await issue('later')).status).toBe(201)
}, 120_000)

test('fsck permits issuing when nothing important was lost', async () => {
  const { publicId } = (await issue('kept')).body.data
  await gateway.stop()
  // A start and its looks at the disk write as well.
  await gateway.start()
  await killAndLoseLog()
  await startClosed()
  await expectClosed()
  expect(await fsck()).toMatchObject({ code: 0, stdout: expect.stringContaining('it issues') })
  await gateway.stop()
  await gateway.start()
  expect(await verdictOf(publicId)).toEqual([200, 'valid'])
  expect((await issue('later')).status).toBe(201)
}, 120_000)
