import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'

let stack: Stack
let receiver: WebhookReceiver
beforeAll(async () => {
  stack = await startStack({ WEBHOOK_ALLOW_PRIVATE: 'true', RATE_LIMIT: 'off' })
})
afterAll(() => stack.stop())
beforeEach(async () => {
  receiver = await startWebhookReceiver()
})
afterEach(async () => {
  await receiver.close()
  for (const { id } of (await call('GET', '')).body.data.webhooks) await call('DELETE', `/${id}`)
})

const call = (method: string, path: string, body?: object, key = API_KEY, at = stack) =>
  at.request(`/v1/webhooks${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

/** @returns What creating it answered. */
async function create(body: object = {}, key = API_KEY) {
  const { status, body: answer } = await call('POST', '', { url: receiver.url, ...body }, key)
  expect(status).toBe(201)
  receiver.secret = answer.data.secret
  return answer.data
}

const issue = async (key = API_KEY): Promise<string> =>
  (await stack.issue(ADA, { authorization: `Bearer ${key}` })).body.data.documentHash
const hashes = () => receiver.once().map(({ event }) => event.data.documentHash)
/** Waits until the gateway has noted what was delivered: a change before that repeats it. */
const settled = () =>
  expect
    .poll(async () => Buffer.from((await stack.request('/metrics')).body).toString())
    .toMatch(/^document_registry_webhook_backlog_events 0$/m)
const fieldsOf = (body: { error: { details: { field: string }[] } }) =>
  body.error.details.map(({ field }) => field).sort()

describe('deliveries', () => {
  test('a receiver verifies an event, which equals the one of /v1/events', async () => {
    const created = await create({ types: ['document.issued'] })
    expect(created).toMatchObject({
      id: expect.stringMatching(/^wh_[0-9a-f]{24}$/),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      url: receiver.url,
      types: ['document.issued'],
      enabled: true,
      disabledReason: null,
      tenant: 'default',
      allTenants: false,
      failingSince: null,
      createdBy: 'environment',
    })
    const documentHash = await issue()
    await expect.poll(hashes).toEqual([documentHash])
    const { body } = await stack.request('/v1/events?limit=1000', {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const [received] = receiver.accepted
    expect(body.data.events).toContainEqual(received?.event)
    expect(received?.id).toBe(received?.event.id)
  })

  test('old and new secret sign during a rotation, then only the new one', async () => {
    const { id, secret } = await create({ types: ['document.issued'] })
    const rotated = (await call('POST', `/${id}/rotate`, { overlapSeconds: 3_600 })).body.data
    expect(rotated.secret).not.toBe(secret)
    expect(Date.parse(rotated.olderSecretsUntil)).toBeGreaterThan(Date.now())
    for (const known of [secret, rotated.secret]) {
      receiver.secret = known
      const documentHash = await issue()
      await expect.poll(() => hashes().at(-1)).toBe(documentHash)
      expect(receiver.accepted.at(-1)?.signature.split(' ')).toHaveLength(2)
      await settled()
    }
    const last = (await call('POST', `/${id}/rotate`, { overlapSeconds: 0 })).body.data
    expect(last.olderSecretsUntil).toBeNull()
    receiver.secret = last.secret
    const documentHash = await issue()
    await expect.poll(() => hashes().at(-1)).toBe(documentHash)
    expect(receiver.accepted.at(-1)?.signature.split(' ')).toHaveLength(1)
    expect(receiver.forged).toBe(0)
  })

  test('reports the old secret as long as it signs, also after a jump of the clock', async () => {
    const { id, secret } = await create({ types: ['document.issued'] })
    await call('POST', `/${id}/rotate`, { overlapSeconds: 3_600 })
    const real = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 2 * 3_600_000)
    try {
      expect((await call('GET', `/${id}`)).body.data.olderSecretsUntil).not.toBeNull()
      receiver.secret = secret
      const documentHash = await issue()
      await expect.poll(() => hashes().at(-1)).toBe(documentHash)
    } finally {
      vi.restoreAllMocks()
    }
    expect(receiver.forged).toBe(0)
  })

  test('each secret of concurrent rotations signs', async () => {
    const { id } = await create({ types: ['document.issued'] })
    const rotations = await Promise.all([
      call('POST', `/${id}/rotate`, {}),
      call('POST', `/${id}/rotate`, {}),
    ])
    for (const { body } of rotations) {
      receiver.secret = body.data.secret
      const documentHash = await issue()
      await expect.poll(() => hashes().at(-1)).toBe(documentHash)
      await settled()
    }
    expect(receiver.forged).toBe(0)
  })

  test('a replay sends events again, with the same ids', async () => {
    const { id } = await create({ types: ['document.issued'] })
    await issue()
    await issue()
    await expect.poll(() => receiver.accepted.length).toBe(2)
    await settled()
    const ids = receiver.accepted.map((one) => one.id)
    const { status } = await call('POST', `/${id}/replay`, { after: ids[0] })
    expect(status).toBe(202)
    await expect.poll(() => receiver.accepted.length).toBe(3)
    await settled()
    await call('POST', `/${id}/replay`, { since: receiver.accepted[0]?.event.timestamp })
    await expect.poll(() => receiver.accepted.length).toBe(5)
    expect(receiver.accepted.slice(2).map((one) => one.id)).toEqual([ids[1], ...ids])
  })

  test('a disabled webhook gets nothing, and later what it missed', async () => {
    const { id } = await create({ types: ['document.issued'] })
    const off = await call('PATCH', `/${id}`, { enabled: false })
    expect(off.body.data).toMatchObject({ enabled: false, disabledReason: 'request' })
    const documentHash = await issue()
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(hashes()).toEqual([])
    const on = await call('PATCH', `/${id}`, { enabled: true })
    expect(on.body.data).toMatchObject({ enabled: true, disabledReason: null })
    await expect.poll(hashes).toEqual([documentHash])
  })

  test('a new address gets later events', async () => {
    const { id, secret } = await create({ types: ['document.issued'] })
    const other = await startWebhookReceiver()
    other.secret = secret
    await call('PATCH', `/${id}`, { url: other.url, types: null })
    const documentHash = await issue()
    // An earlier document may become final meanwhile.
    const followed = () => other.accepted.map(({ event }) => event.data.documentHash)
    await expect.poll(followed).toContain(documentHash)
    expect(hashes()).toEqual([])
    await other.close()
  })

  test('/metrics counts deliveries and what is still to be sent', async () => {
    receiver.answer = () => 500
    await create({ types: ['document.issued'] })
    await issue()
    const metrics = async () => Buffer.from((await stack.request('/metrics')).body).toString()
    await expect.poll(metrics).toMatch(/^document_registry_webhooks\{state="failing"\} 1$/m)
    await expect.poll(metrics).toMatch(/^document_registry_webhook_backlog_events [1-9]/m)
    expect(await metrics()).toMatch(/webhook_deliveries_total\{outcome="failed"\} [1-9]/)
  })
})

describe('tenants', () => {
  test('a key sees and changes those of its tenant, and gets its events', async () => {
    const scopes = ['webhooks', 'documents:issue'] as const
    const key = stack.key([...scopes], 'office')
    const other = stack.key(['webhooks'], 'another office')
    const { id, tenant } = await create({ types: ['document.issued'] }, key)
    expect(tenant).toBe('office')
    const idsOf = async (asked: string) =>
      (await call('GET', '', undefined, asked)).body.data.webhooks.map(
        (one: { id: string }) => one.id,
      )
    expect(await idsOf(key)).toEqual([id])
    expect(await idsOf(other)).toEqual([])
    expect(await idsOf(API_KEY)).toEqual([id])
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/replay'],
    ] as const) {
      const body = method === 'PATCH' || method === 'POST' ? {} : undefined
      expect((await call(method, `/${id}${path}`, body, other)).status).toBe(404)
    }
    await issue()
    const documentHash = await issue(key)
    await expect.poll(hashes).toEqual([documentHash])
  })

  test('a tenant learns that another key has revoked its document', async () => {
    const key = stack.key(['webhooks', 'documents:issue'], 'office')
    await create({ types: ['document.revoked'] }, key)
    const issued = (await stack.issue(ADA, { authorization: `Bearer ${key}` })).body.data
    const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
    const path = `/v1/documents/${issued.publicId}/revoke`
    await stack.request(path, { method: 'POST', headers, body: '{}' })
    await expect.poll(hashes).toEqual([issued.documentHash])
    expect(receiver.accepted[0]?.event.data.tenant).toBe('default')
  })

  test('only an admin can get the events of all tenants', async () => {
    const key = stack.key(['webhooks', 'documents:issue'], 'office')
    const refused = await call('POST', '', { url: receiver.url, allTenants: true }, key)
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    const { id, tenant } = await create({ types: ['document.issued'], allTenants: true })
    expect(tenant).toBeNull()
    expect((await call('GET', `/${id}`, undefined, key)).status).toBe(404)
    const documentHash = await issue(key)
    await expect.poll(hashes).toEqual([documentHash])
  })

  test('requires a key with the scope webhooks', async () => {
    expect((await call('GET', '', undefined, 'nobody')).status).toBe(401)
    expect((await call('GET', '', undefined, stack.key(['documents:read']))).status).toBe(403)
  })

  test('a tenant has 20 webhooks at most', async () => {
    const key = stack.key(['webhooks'], 'many')
    for (let i = 0; i < 20; i++) await create({}, key)
    const { status, body } = await call('POST', '', { url: receiver.url }, key)
    expect([status, body.error.code]).toEqual([409, 'too_many_webhooks'])
  })
})

describe('refusals', () => {
  test.each<[string, string, object, string[]]>([
    ['POST', '', {}, ['url']],
    [
      'POST',
      '',
      { url: 'receiver', types: ['document.gone'], more: 1 },
      ['more', 'types.0', 'url'],
    ],
    ['POST', '', { url: 'ftp://receiver.example/' }, ['url']],
    ['POST', '', { url: 'https://user:password@receiver.example/' }, ['url']],
    ['POST', '', { url: 'https://receiver.example/#here' }, ['url']],
    ['POST', '', { url: `https://receiver.example/${'x'.repeat(2_048)}` }, ['url']],
    ['POST', '', { url: 'http://127.0.0.1:1', types: [] }, ['types']],
    ['PATCH', '/:id', { enabled: 'yes', url: null }, ['enabled', 'url']],
    ['POST', '/:id/rotate', { overlapSeconds: -1 }, ['overlapSeconds']],
    ['POST', '/:id/rotate', { overlapSeconds: 604_801 }, ['overlapSeconds']],
    ['POST', '/:id/replay', { after: 'evt_1' }, ['after']],
    ['POST', '/:id/replay', { since: 'yesterday' }, ['since']],
    ['POST', '/:id/replay', {}, ['']],
  ])('%s /v1/webhooks%s with %j names every bad field', async (method, path, body, fields) => {
    const { id } = await create()
    const answer = await call(method, path.replace(':id', id), body)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'bad_fields'])
    expect(fieldsOf(answer.body)).toEqual(fields)
  })

  test('refuses a replay after an unknown event, and of an unknown webhook', async () => {
    const { id } = await create()
    const unknown = await call('POST', `/${id}/replay`, { after: 'evt_1_1' })
    expect([unknown.status, unknown.body.error.code]).toEqual([410, 'unknown_event'])
    expect((await call('GET', '/wh_none')).status).toBe(404)
    expect((await call('DELETE', `/${id}`)).body.data).toEqual({ id, deleted: true })
    expect((await call('GET', `/${id}`)).status).toBe(404)
  })
})

describe('a service that allows no private addresses', () => {
  let strict: Stack
  beforeAll(async () => {
    strict = await startStack()
  })
  afterAll(() => strict.stop())

  test.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.8/',
    'https://169.254.169.254/',
    'https://[::ffff:10.0.0.8]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://localhost/',
    'http://receiver.example/',
  ])('refuses %s', async (url) => {
    const { status, body } = await call('POST', '', { url }, API_KEY, strict)
    expect([status, body.error.code]).toEqual([422, 'bad_fields'])
    expect(fieldsOf(body)).toEqual(['url'])
  })

  test('refuses to change to a private address', async () => {
    const created = await call('POST', '', { url: 'https://1.1.1.1/' }, API_KEY, strict)
    expect(created.status).toBe(201)
    const { id } = created.body.data
    const { status } = await call('PATCH', `/${id}`, { url: 'https://10.0.0.8/' }, API_KEY, strict)
    expect(status).toBe(422)
  })
})
