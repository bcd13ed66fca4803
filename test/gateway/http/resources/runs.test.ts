import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signIn } from '../../../support/desk.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../../../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack?.stop())

const rowsOf = (count: number, category = 'diploma') =>
  Array.from({ length: count }, (_, i) => ({ ...ADA, category, subjectId: `${i + 1}` }))
const send = (
  method: string,
  path: string,
  { key = API_KEY, ...more }: { key?: string; body?: string; headers?: object } = {},
): Promise<Answer> =>
  stack.request(path, {
    method,
    ...(more.body !== undefined && { body: more.body }),
    headers: {
      authorization: `Bearer ${key}`,
      ...(more.body !== undefined && { 'content-type': 'application/x-ndjson' }),
      ...more.headers,
    },
  })
const begin = (rows: object[], more: { key?: string; mode?: string; headers?: object } = {}) =>
  send('POST', `/v1/runs?mode=${more.mode ?? 'single'}`, {
    ...more,
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
const ended = async (id: string, key = API_KEY) => {
  await expect
    .poll(async () => (await send('GET', `/v1/runs/${id}`, { key })).body.data.state, {
      timeout: 60_000,
    })
    .not.toBe('running')
  return (await send('GET', `/v1/runs/${id}`, { key })).body.data
}
const rowsIn = async (id: string) =>
  (await send('GET', `/v1/runs/${id}/rows?limit=1000`)).body.data.rows

test.each(['single', 'batch'])('default: a run (%s) is issued by itself', async (mode) => {
  const { status, body } = await begin(rowsOf(20, `run_${mode}`), { mode })
  expect([status, body.data.size, body.data.endedAt]).toEqual([202, 20, null])
  const { id } = body.data
  expect(await ended(id)).toMatchObject({ state: 'done', reason: null, done: 20, mode })
  const rows = await rowsIn(id)
  expect(rows.map(({ line }: { line: number }) => line)).toEqual(rowsOf(20).map((_, i) => i + 1))
  expect(rows[4]).toMatchObject({ document: { subjectId: '5' }, issued: {}, problem: null })
  const verified = await stack.verify(rows[4].issued.publicId)
  expect(verified.body.data).toMatchObject({ status: 'valid', document: { subjectId: '5' } })
  expect('batchRoot' in rows[4].issued).toBe(mode === 'batch')
  const page = await send('GET', `/v1/runs/${id}/rows?limit=2&after=17`)
  expect(page.body.data.rows.map(({ line }: { line: number }) => line)).toEqual([18, 19])
  expect((await send('DELETE', `/v1/runs/${id}`)).body.data).toEqual({ id })
  expect((await send('GET', `/v1/runs/${id}`)).status).toBe(404)
})

test('behavior: a repeat is the same run, and other rows are refused', async () => {
  const headers = { 'idempotency-key': 'again' }
  const first = await begin(rowsOf(3, 'again'), { headers })
  const second = await begin(rowsOf(3, 'again'), { headers })
  expect(second.body.data.id).toBe(first.body.data.id)
  const other = await begin(rowsOf(2, 'again'), { headers })
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused'])
  await ended(first.body.data.id)
  await send('DELETE', `/v1/runs/${first.body.data.id}`)
})

test('behavior: a run goes on when its person has signed out, and stops when removed', async () => {
  const admin = { authorization: `Bearer ${API_KEY}` }
  const desk = await signIn(stack)
  const post = (rows: object[]) =>
    stack.request('/v1/runs', {
      method: 'POST',
      headers: {
        ...{ cookie: desk.cookie, 'x-csrf-token': desk.csrfToken },
        'content-type': 'application/x-ndjson',
      },
      body: rows.map((row) => JSON.stringify(row)).join('\n'),
    })
  const { body } = await post(rowsOf(3, 'signed_out'))
  await desk.send('DELETE', '/v1/session')
  const listed = async () => {
    const { body } = await stack.request('/v1/documents?category=signed_out', { headers: admin })
    return body.data.documents.length
  }
  await expect.poll(listed, { timeout: 30_000 }).toBe(3)
  // Nobody else sees the run, not even an administrator.
  expect((await send('GET', `/v1/runs/${body.data.id}`)).status).toBe(404)
})

test('behavior: a run stops when its key is revoked', async () => {
  const made = await stack.request('/v1/keys', {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scopes: ['documents:issue'], tenant: 'other' }),
  })
  const { id, secret: key } = made.body.data
  stack.proxy.refuse = () => true
  try {
    const run = await begin(rowsOf(3, 'revoked_key'), { key })
    expect(run.status).toBe(202)
    const state = async () =>
      (await send('GET', `/v1/runs/${run.body.data.id}`, { key })).body.data?.reason
    // It waits for the chain.
    await expect.poll(state, { timeout: 30_000 }).toBe('chain_unavailable')
    await send('DELETE', `/v1/keys/${id}`)
  } finally {
    stack.proxy.refuse = () => false
  }
  await expect.poll(() => reasonsIn(stack.dataDir), { timeout: 30_000 }).toContain('forbidden')
  const { body } = await send('GET', '/v1/documents?category=revoked_key')
  expect(body.data.documents).toEqual([])
})

/** The reasons of all runs, since nobody has the key of this one any more. */
function reasonsIn(dataDir: string): unknown[] {
  const database = new DatabaseSync(join(dataDir, 'gateway.db'), { readOnly: true })
  try {
    return database
      .prepare('SELECT reason FROM run')
      .all()
      .map(({ reason }) => reason)
  } finally {
    database.close()
  }
}

test('behavior: the database has no name of a row, and nothing of it once it is removed', async () => {
  const name = 'Wolfeschlegelsteinhausen'
  const { id } = (await begin([{ ...ADA, subjectName: name }])).body.data
  await ended(id)
  const files = ['gateway.db', 'gateway.db-wal'].map((file) => join(stack.dataDir, file))
  for (const file of files) expect(readFileSync(file).includes(name)).toBe(false)
  expect((await rowsIn(id))[0].document.subjectName).toBe(name)
  await send('DELETE', `/v1/runs/${id}`)
  expect((await send('GET', `/v1/runs/${id}/rows`)).status).toBe(404)
})

test('error: accepts nothing when a row is bad, and names it', async () => {
  const rows = [...rowsOf(2), { ...ADA, subjectId: 'x', issuedAt: '2026-02-30' }]
  const { status, body } = await begin(rows)
  expect([status, body.error.code]).toEqual([422, 'bad_fields'])
  const fields = body.error.details.map(({ field }: { field: string }) => field)
  expect(fields).toEqual(['line 3: subjectId', 'line 3: issuedAt'])
  const empty = await send('POST', '/v1/runs', { body: '' })
  expect([empty.status, empty.body.error.code]).toEqual([422, 'bad_fields'])
  const json = await send('POST', '/v1/runs', { body: '{"a":1,"a":2}\n' })
  expect(json.body.error.details[0].field).toBe('line 1')
  expect((await send('GET', '/v1/runs')).body.data.runs).toEqual([])
})

test('error: a person has five runs at most, and sees only their own', async () => {
  const key = stack.key(['documents:issue'])
  const runs = []
  for (let i = 0; i < 5; i++) runs.push((await begin(rowsOf(1, `five_${i}`), { key })).body.data.id)
  const { status, body } = await begin(rowsOf(1, 'six'), { key })
  expect([status, body.error.code]).toEqual([409, 'too_many_runs'])
  expect((await send('GET', '/v1/runs', { key })).body.data.runs).toHaveLength(5)
  expect((await send('GET', '/v1/runs')).body.data.runs).toEqual([])
  expect((await send('GET', `/v1/runs/${runs[0]}`)).status).toBe(404)
  expect((await send('POST', `/v1/runs/${runs[0]}/stop`)).status).toBe(404)
  expect((await send('DELETE', `/v1/runs/${runs[0]}`)).status).toBe(404)
})
