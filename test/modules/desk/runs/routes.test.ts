import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signIn } from '#test/support/desk.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

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

test.each(['single', 'batch'])('a run (%s) continues without its client', async (mode) => {
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

test('a repeat returns the same run, and other rows are refused', async () => {
  const headers = { 'idempotency-key': 'again' }
  const first = await begin(rowsOf(3, 'again'), { headers })
  const second = await begin(rowsOf(3, 'again'), { headers })
  expect(second.body.data.id).toBe(first.body.data.id)
  const other = await begin(rowsOf(2, 'again'), { headers })
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused'])
  await ended(first.body.data.id)
  await send('DELETE', `/v1/runs/${first.body.data.id}`)
})

test('a run continues when its person signs out, and stops when removed', async () => {
  const admin = { authorization: `Bearer ${API_KEY}` }
  const desk = await signIn(stack)
  const post = (rows: object[]) =>
    stack.request('/v1/runs', {
      method: 'POST',
      headers: {
        cookie: desk.cookie,
        'x-csrf-token': desk.csrfToken,
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

const asAdmin = (method: string, path: string, body: object) =>
  stack.request(path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const newKey = async (tenant = 'other') =>
  (await asAdmin('POST', '/v1/keys', { scopes: ['documents:issue'], tenant })).body.data
/** Runs wait for the chain until the end of the work. */
async function withoutChain(work: () => Promise<void>): Promise<void> {
  stack.proxy.refuse = () => true
  await work().finally(() => {
    stack.proxy.refuse = () => false
  })
}
const waitsForChain = (id: string, key: string) =>
  expect
    .poll(async () => (await send('GET', `/v1/runs/${id}`, { key })).body.data.reason, {
      timeout: 30_000,
    })
    .toBe('chain_unavailable')
const countOf = (table: string) => {
  const database = new DatabaseSync(join(stack.dataDir, 'gateway.db'), { readOnly: true })
  const row = database.prepare(`SELECT count(*) AS count FROM ${table}`).get()
  database.close()
  return Number(row?.count)
}

test('a run whose key is revoked stops before its next row, and is removed', async () => {
  const { id, secret: key } = await newKey()
  const run = await begin(rowsOf(2_000, 'revoked_key'), { key })
  const runId = run.body.data.id
  const path = `/v1/runs/${runId}`
  // A request for one document, after which few rows are under way.
  expect((await asAdmin('POST', '/v1/documents', ADA)).status).toBe(201)
  const done = async () => (await send('GET', path, { key })).body.data.done
  await expect.poll(done, { timeout: 30_000, interval: 20 }).toBeGreaterThan(250)
  await send('DELETE', `/v1/keys/${id}`)
  const before = countOf('record')
  const kept = () => countOf(`run WHERE id = '${runId}'`)
  await expect.poll(kept, { timeout: 30_000 }).toBe(0)
  expect(countOf(`run_row WHERE run = '${runId}'`)).toBe(0)
  expect(countOf('record') - before).toBeLessThanOrEqual(16)
})

test('issues rows by the current kind', async () => {
  const key = stack.key(['documents:issue'])
  const { id } = (await begin(rowsOf(2, 'changed_kind'), { key })).body.data
  await ended(id, key)
  const headers = { 'idempotency-key': 'kind' }
  let second = ''
  await withoutChain(async () => {
    second = (await begin(rowsOf(2, 'changed_kind'), { key, headers })).body.data.id
    await waitsForChain(second, key)
    const display = [{ locale: 'en', label: 'Degree' }]
    const claims = [{ path: ['metadata', 'degree'], display, mandatory: true }]
    const kind = { display: [{ locale: 'en', name: 'Changed' }], claims }
    const put = await asAdmin('PUT', '/v1/kinds/changed_kind', kind)
    expect(put.status).toBe(200)
  })
  await ended(second, key)
  const { rows } = (await send('GET', `/v1/runs/${second}/rows`, { key })).body.data
  expect(rows.map(({ problem }: { problem: { code: string } }) => problem.code)).toEqual([
    'bad_fields',
    'bad_fields',
  ])
  for (const run of [id, second]) await send('DELETE', `/v1/runs/${run}`, { key })
})

test('40 runs of one tenant do not block others, and end with their keys', async () => {
  const keys = await Promise.all(Array.from({ length: 9 }, () => newKey('greedy')))
  await withoutChain(async () => {
    for (const { secret: key } of keys.slice(1))
      for (let i = 0; i < 5; i++)
        expect((await begin(rowsOf(1, `greedy_${i}`), { key })).status).toBe(202)
    const { status, body } = await begin(rowsOf(1, 'greedy'), { key: keys[0].secret })
    expect([status, body.error.code]).toEqual([409, 'too_many_runs'])
    const own = (await begin(rowsOf(1, 'not_greedy'))).body.data
    expect(own.owner).toEqual({ kind: 'key', id: 'environment' })
    const other = stack.key(['documents:issue'], 'modest')
    const others = (await begin(rowsOf(1, 'modest'), { key: other })).body.data.id

    const refused = await send('GET', '/v1/runs?all=true', { key: other })
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
    const all = (await send('GET', '/v1/runs?all=true')).body.data.runs
    const ownersOf = (tenant: string) => all.filter((run: typeof own) => run.tenant === tenant)
    expect(ownersOf('greedy')).toHaveLength(40)
    expect(ownersOf('modest')).toHaveLength(1)
    expect(all).toContainEqual(expect.objectContaining({ id: own.id, owner: own.owner }))
    const [greedy] = ownersOf('greedy')
    expect((await send('DELETE', `/v1/runs/${greedy.id}`, { key: other })).status).toBe(404)
    for (const id of [greedy.id, own.id, others])
      expect((await send('DELETE', `/v1/runs/${id}`)).status).toBe(200)
    expect((await begin(rowsOf(1, 'greedy'), { key: keys[0].secret })).status).toBe(202)

    for (const { id } of keys) await send('DELETE', `/v1/keys/${id}`)
  })
  const kept = () => countOf("run WHERE tenant = 'greedy'")
  await expect.poll(kept, { timeout: 30_000 }).toBe(0)
})

test('the database has no name from a row, and no trace after removal', async () => {
  const name = 'Wolfeschlegelsteinhausen'
  const { id } = (await begin([{ ...ADA, subjectName: name }])).body.data
  await ended(id)
  const files = ['gateway.db', 'gateway.db-wal'].map((file) => join(stack.dataDir, file))
  for (const file of files) expect(readFileSync(file).includes(name)).toBe(false)
  expect((await rowsIn(id))[0].document.subjectName).toBe(name)
  await send('DELETE', `/v1/runs/${id}`)
  expect((await send('GET', `/v1/runs/${id}/rows`)).status).toBe(404)
})

test('accepts nothing when a row is bad, and names the row', async () => {
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

test('a person has at most five runs; finished ones are removed for new ones', async () => {
  const key = stack.key(['documents:issue'])
  const runs: string[] = []
  await withoutChain(async () => {
    for (let i = 0; i < 5; i++)
      runs.push((await begin(rowsOf(1, `five_${i}`), { key })).body.data.id)
    const { status, body } = await begin(rowsOf(1, 'six'), { key })
    expect([status, body.error.code]).toEqual([409, 'too_many_runs'])
    expect((await send('GET', '/v1/runs', { key })).body.data.runs).toHaveLength(5)
    expect((await send('GET', '/v1/runs')).body.data.runs).toEqual([])
    expect((await send('GET', `/v1/runs/${runs[0]}`)).status).toBe(404)
    expect((await send('POST', `/v1/runs/${runs[0]}/stop`)).status).toBe(404)
    const other = stack.key(['documents:issue'])
    expect((await send('DELETE', `/v1/runs/${runs[0]}`, { key: other })).status).toBe(404)
  })
  for (const id of runs) expect((await ended(id, key)).state).toBe('done')
  expect((await begin(rowsOf(1, 'six'), { key })).status).toBe(202)
  const kept = (await send('GET', '/v1/runs', { key })).body.data.runs
  expect(kept).toHaveLength(5)
})
