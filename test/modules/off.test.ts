import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LocalGateway, localGateway } from '#test/apps/docreg-gateway/local-gateway.ts'
import { signIn } from '#test/support/desk.ts'
import { freePort } from '#test/support/http.ts'
import { ADA, type Answer, API_KEY, requestsTo } from '#test/support/stack.ts'
import { startWebhookReceiver } from '#test/support/webhook-receiver.ts'

// What a module wrote while it was on, when it is off and on again.

let dataDir: string
let gateway: LocalGateway
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'document-registry-off-'))
  gateway = localGateway({
    PORT: String(await freePort()),
    CHAIN_PORT: '0',
    DATA_DIR: dataDir,
    ERASURE_LIST: join(dataDir, 'erased.txt'),
    API_KEY,
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
})
afterEach(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function restart(modules: string): Promise<void> {
  await gateway.stop()
  await gateway.start({ MODULES: modules })
}

const request = (path: string, init?: RequestInit) => requestsTo(gateway.url)(path, init)

function send(method: string, path: string, body?: object | string): Promise<Answer> {
  const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
  return request(path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': type },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

const ALL = 'kinds,certificates,desk,webhooks,wallets'
/** @returns The number of rows that are kept. */
function rowsOfRuns(): number {
  const sqlite = new DatabaseSync(join(dataDir, 'gateway.db'), { readOnly: true })
  try {
    return Number(sqlite.prepare('SELECT count(*) AS rows FROM run_row').get()?.rows)
  } finally {
    sqlite.close()
  }
}

const metrics = async () => Buffer.from((await request('/metrics')).body).toString()
const FAILING = 'document_registry_webhooks{state="failing"} 1'

test('erases a document while all modules are off, and tells those that return', async () => {
  await restart(ALL)
  const receiver = await startWebhookReceiver()
  receiver.answer = () => 500
  receiver.secret = (await send('POST', '/v1/webhooks', { url: receiver.url })).body.data.secret
  const { publicId, documentHash } = (await send('POST', '/v1/documents', ADA)).body.data
  await expect.poll(metrics).toContain(FAILING)

  await restart('none')
  expect(await metrics()).not.toMatch(/^document_registry_webhook/m)
  const { status, body } = await send('DELETE', `/v1/documents/${publicId}/payload`)
  expect([status, body.data.status]).toEqual([200, 'erased'])

  await restart('desk')
  const { alerts } = (await send('GET', '/v1/overview')).body.data
  expect(alerts).not.toContain('webhooks_fail')

  receiver.answer = () => 200
  await restart(ALL)
  expect((await send('GET', `/v1/documents/${publicId}`)).status).toBe(410)
  expect((await send('POST', `/v1/documents/${publicId}/offer`, {})).status).toBe(410)
  const [webhook] = (await send('GET', '/v1/webhooks')).body.data.webhooks
  await send('PATCH', `/v1/webhooks/${webhook.id}`, { enabled: true })
  const told = () => receiver.once().map(({ event }) => [event.type, event.data.documentHash])
  await expect.poll(told).toContainEqual(['document.erased', documentHash])
  await receiver.close()
})

test('keeps people and runs while the desk is off, and removes runs when required', async () => {
  await restart(ALL)
  const person = await signIn({ request })
  const row = `${JSON.stringify(ADA)}\n`
  const run = await request('/v1/runs?mode=single', {
    method: 'POST',
    headers: {
      cookie: person.cookie,
      'x-csrf-token': person.csrfToken,
      'content-type': 'application/x-ndjson',
    },
    body: row,
  })
  const path = `/v1/runs/${run.body.data.id}`
  await expect.poll(async () => (await person.send('GET', path)).body.data.state).toBe('done')

  await restart('kinds,certificates,webhooks,wallets')
  expect((await person.send('GET', path)).status).toBe(404)
  expect((await person.send('GET', '/v1/documents')).status).toBe(401)
  expect((await request('/')).body.toString()).not.toContain('href="desk"')

  await restart('desk')
  expect((await person.send('GET', path)).body.data).toMatchObject({ state: 'done', done: 1 })
  await send('DELETE', `/v1/people/${person.id}`)
  expect((await person.send('GET', path)).status).toBe(401)
  expect(rowsOfRuns()).toBe(1)
  await restart('none')
  await expect.poll(rowsOfRuns).toBe(0)
})
