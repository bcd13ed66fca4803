import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/postgres-proxy.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'

// PostgreSQL carries a statement out, and its answer is lost. What was acknowledged stays, and
// nothing is stuck or doubled.

const folder = postgresFolder()
/** Less than the minute after which something counts as stuck. */
const SOON = { timeout: 30_000, interval: 100 }

describe.skipIf(folder === undefined)('a lost answer of PostgreSQL', () => {
  let postgres: PostgresServer
  let proxy: PostgresProxy
  let stack: Stack
  beforeAll(async () => {
    postgres = await startPostgres(folder ?? '')
    proxy = await startPostgresProxy(await postgres.newDatabase())
    stack = await startStack({
      DATABASE_URL: proxy.url,
      WAIT_SECONDS: '5',
      LOCK_SECONDS: '3',
      WEBHOOK_ALLOW_PRIVATE: 'true',
    })
  }, 60_000)
  afterEach(() => {
    stack.proxy.refuse = () => false
  })
  afterAll(async () => {
    await stack.stop()
    await proxy.close()
    await postgres.remove()
  })

  const statusOf = async (publicId: string) => {
    const { body } = await stack.verify(publicId)
    return body.data.status ?? body.error.code
  }
  const becomes = (publicId: string, status: string) =>
    expect.poll(() => statusOf(publicId), SOON).toBe(status)
  const send = (
    method: string,
    path: string,
    body?: object,
    type = 'application/json',
  ): Promise<Answer> =>
    stack.request(path, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': type },
      ...(body && { body: JSON.stringify(body) }),
    })
  const issue = async (key?: string): Promise<string> => {
    const { status, body } = await stack.issue(ADA, key ? { 'idempotency-key': key } : {})
    expect([201, 202]).toContain(status)
    return body.data.publicId
  }
  const isIssuing = () => expect.poll(async () => (await stack.issue(ADA)).status, SOON).toBe(201)

  /** Loses one answer to a COMMIT of this statement while `work` runs. */
  async function losing<T>(of: RegExp, work: () => Promise<T>, tag = 'COMMIT'): Promise<T> {
    const before = proxy.lost
    proxy.loseNext(tag, of)
    const result = await work()
    await expect.poll(() => proxy.lost - before, SOON).toBe(1)
    return result
  }

  test('does not lose a document whose row was not confirmed, and issues it once', async () => {
    const first = await losing(/INSERT INTO record/, () => stack.issue(ADA))
    expect([201, 202]).toContain(first.status)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    await becomes(first.body.data.publicId, 'valid')
    const key = 'lost-row'
    const publicId = await losing(/INSERT INTO record/, () => issue(key))
    expect(await issue(key)).toBe(publicId)
    await becomes(publicId, 'valid')
  })

  test('keeps accepted documents while the node refuses transactions', async () => {
    stack.proxy.refuse = (method) =>
      method === 'eth_estimateGas' || method === 'eth_sendRawTransaction'
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => stack.issue(ADA, { 'idempotency-key': `refused-${i}` })),
    )
    const accepted = answers.filter(({ status }) => status === 202)
    expect(accepted.length).toBeGreaterThan(0)
    for (const { status } of answers) expect([202, 503]).toContain(status)
    stack.proxy.refuse = () => false
    for (const { body } of accepted) await becomes(body.data.publicId, 'valid')
    // The outage is over a moment later.
    await isIssuing()
  })

  test.each([
    ['a send', /INSERT INTO send/],
    ['an outcome', /fee = coalesce\(fee/],
    ['a final block', /SET final = true/],
    ['an event', /INSERT INTO event\b/],
  ])('continues after the answer to %s was lost', async (_, of) => {
    const publicId = await losing(of, () => issue())
    await becomes(publicId, 'valid')
    await isIssuing()
  })

  test('continues after the answer to a replacement was lost', async () => {
    const intrinsic = { code: -32000, message: 'intrinsic gas too low' }
    stack.proxy.fail = (method) => (method === 'eth_sendRawTransaction' ? intrinsic : undefined)
    const publicId = await losing(/INSERT INTO attempt/, async () => {
      const issued = await Promise.all([issue(), issue(), issue()])
      return issued[0] as string
    })
    stack.proxy.fail = () => undefined
    await becomes(publicId, 'valid')
    await isIssuing()
  }, 60_000)

  test('keeps a batch', async () => {
    const response = await losing(/UPDATE batch_request SET promised/, () =>
      fetch(`${stack.url}/v1/batches`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/x-ndjson' },
        body: [ADA, { ...ADA, subjectId: '2' }].map((one) => JSON.stringify(one)).join('\n'),
      }),
    )
    const [line = ''] = (await response.text()).split('\n')
    await becomes(JSON.parse(line).data.publicId, 'valid')
  })

  test('keeps a revocation, and records once who requested it', async () => {
    const publicId = await issue()
    const path = `/v1/documents/${publicId}`
    const { status } = await losing(/INSERT INTO change/, () => send('POST', `${path}/revoke`, {}))
    expect([200, 202]).toContain(status)
    await becomes(publicId, 'revoked')
    const acts = (await send('GET', `${path}/acts`)).body.data.acts as { kind: string }[]
    expect(acts.filter(({ kind }) => kind === 'revoke').length).toBeLessThanOrEqual(1)
  })

  test('finishes an erasure', async () => {
    const publicId = await issue()
    const path = `/v1/documents/${publicId}/payload`
    const first = await losing(/INSERT INTO (tombstone|erasure)/, () => send('DELETE', path))
    if (first.status === 503) expect(first.body.error.code).toBe('outcome_unknown')
    await expect
      .poll(async () => {
        const { status, body } = await send('DELETE', path)
        return status === 200 && body.data.erasedAt !== null
      }, SOON)
      .toBe(true)
  })

  const RUN = '/v1/runs?mode=single'
  test.each([
    // Rows are added by one statement, without a transaction of its own.
    ['begun', /INSERT INTO run_row/, 'INSERT 0 1'],
    ['going on', /UPDATE run_row/, 'COMMIT'],
  ])('finishes a run that was %s', async (_, of, tag) => {
    const begin = () => send('POST', RUN, ADA, 'application/x-ndjson')
    const { status, body } = await losing(of, begin, tag)
    expect([201, 202, 503]).toContain(status)
    const runs = async () => (await send('GET', '/v1/runs')).body.data.runs as { state: string }[]
    await expect
      .poll(async () => (await runs()).every(({ state }) => state !== 'running'), SOON)
      .toBe(true)
    if (status === 503) expect(body.error.code).toBe('outcome_unknown')
    else expect((await runs()).length).toBeGreaterThan(0)
  })

  const admin = [
    ['a webhook', /INSERT INTO webhook/, '/v1/webhooks', { url: 'http://127.0.0.1:9/' }],
    ['a key', /INSERT INTO api_key/, '/v1/keys', { scopes: ['verify'] }],
    ['a person', /INSERT INTO person/, '/v1/people', { name: 'Ada', role: 'clerk' }],
  ] as const
  test.each(admin)(
    'reports that it does not know whether it made %s',
    async (_, of, path, body) => {
      const before = proxy.lost
      for (const tag of ['COMMIT', 'INSERT 0 1']) {
        proxy.loseNext(tag, of)
        const { status, body: answer } = await send('POST', path, body)
        if (proxy.lost === before) {
          // It is written in the other way.
          expect(status).toBe(201)
          continue
        }
        expect([status, answer.error?.code]).toEqual([503, 'outcome_unknown'])
        break
      }
      expect(proxy.lost).toBe(before + 1)
      expect((await send('POST', path, body)).status).toBe(201)
    },
  )
})
