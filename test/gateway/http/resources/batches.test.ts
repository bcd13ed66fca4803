import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { addAccount } from '#test/support/revise.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'
import { transact } from '#test/support/transact.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ WAIT_SECONDS: '5' })
})
afterEach(async () => {
  stack.proxy.refuse = () => false
  // It finds out at its next try.
  await expect.poll(async () => (await stack.request('/readyz')).status).toBe(200)
})
afterAll(() => stack.stop())

const NDJSON = 'application/x-ndjson'
const authorization = `Bearer ${API_KEY}`
/** Each call gives documents that no other test has. */
let series = 0
function people(count: number): object[] {
  series++
  return Array.from({ length: count }, (_, i) => ({ ...ADA, subjectId: `${series}0${i}` }))
}
const bodyOf = (lines: readonly (object | string)[]) =>
  lines.map((one) => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('')

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Lines = any[]

async function issue(
  lines: readonly (object | string)[] | string,
  query = '',
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${stack.url}/v1/batches${query}`, {
    method: 'POST',
    headers: { authorization, 'content-type': NDJSON, ...headers },
    body: typeof lines === 'string' ? lines : bodyOf(lines),
  })
  const text = await response.text()
  const isLines = response.headers.get('content-type') === NDJSON
  const parsed: Lines = isLines
    ? text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
  const { status, headers: sent } = response
  const error = isLines ? undefined : JSON.parse(text).error
  return { status, headers: sent, lines: parsed, error }
}

const get = (path: string) => stack.request(path, { headers: { authorization } })
const post = (path: string, body: object = {}) =>
  stack.request(path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const statusOf = async (publicId: string) => (await stack.verify(publicId)).body.data?.status
const spooled = () => readdirSync(join(stack.dataDir, 'spool'))
const batchCount = async () => {
  const { batchCount } = await issuerNow()
  return batchCount
}
async function issuerNow() {
  const { body } = await get('/v1/batches?limit=100')
  return { batchCount: body.data.batches.length }
}

describe('POST /v1/batches', () => {
  test('issues 1,000 documents with one root, which verify and can be retrieved', async () => {
    const documents = people(1000)
    const { status, headers, lines } = await issue(documents)
    expect(status).toBe(201)
    expect(lines.map(({ line }) => line)).toEqual(documents.map((_, i) => i + 1))
    expect(new Set(lines.map(({ data }) => data.publicId)).size).toBe(1000)
    const [{ data: first }, { data: last }] = [lines[0], lines[999]]
    expect(first).toEqual({
      publicId: expect.any(String),
      documentHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      batchRoot: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      blockchainHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: 'valid',
      network: 'test',
      verifyUrl: expect.stringContaining(first.publicId),
    })
    expect(last.batchRoot).toBe(first.batchRoot)
    expect(headers.get('location')).toBe(`${stack.url}/v1/batches/${first.batchRoot}`)
    for (const { publicId } of [first, last]) expect(await statusOf(publicId)).toBe('valid')
    const { body } = await get(`/v1/documents/${last.publicId}`)
    expect(body.data).toMatchObject({
      ...documents[999],
      issuedAt: '2026-01-31T00:00:00Z',
      documentHash: last.documentHash,
      blockchainHash: first.blockchainHash,
    })
    const bundle = await get(`/v1/documents/${first.publicId}/bundle`)
    expect(bundle.status).toBe(200)

    const batch = (await get(`/v1/batches/${first.batchRoot}`)).body.data
    expect(batch).toMatchObject({
      root: first.batchRoot,
      size: 1000,
      status: 'valid',
      manifest: expect.stringMatching(/^bafkrei/),
      blockchainHash: first.blockchainHash,
      blockNumber: expect.any(Number),
      network: 'test',
    })
    expect((await get(`/ipfs/${batch.manifest}?format=raw`)).status).toBe(200)
    expect(spooled()).toEqual([])
  })

  test('a bad line names its fields, and the other lines are issued', async () => {
    const [one, two] = people(2) as [object, object]
    const { status, lines } = await issue([
      one,
      'nonsense',
      { ...one, subjectName: '', category: 'No' },
      '',
      { ...one, metadata: { note: 'x'.repeat(70_000) } },
      '{"subjectName":"Ada","subjectName":"Bob"}',
      { ...one, subjectName: '\u3164' },
      '[]',
      two,
    ])
    expect(status).toBe(201)
    expect(lines.map(({ line, success, error }) => [line, success, error?.code])).toEqual([
      [1, true, undefined],
      ...[2, 3, 4, 5, 6, 7, 8].map((line) => [line, false, 'bad_fields']),
      [9, true, undefined],
    ])
    const fields = lines[2].error.details.map(({ field }: { field: string }) => field)
    expect(fields.toSorted()).toEqual(['category', 'subjectName'])
    const { body } = await get(`/v1/batches/${lines[0].data.batchRoot}`)
    expect(body.data.size).toBe(2)
    expect(await statusOf(lines[8].data.publicId)).toBe('valid')
  })

  test('atomic=true issues nothing when a line is bad, and all when none is', async () => {
    const [one, two] = people(2) as [object, object]
    const before = await batchCount()
    const refused = await issue([one, {}, two], '?atomic=true')
    expect(refused.status).toBe(422)
    expect(refused.lines.map(({ error }) => error.code)).toEqual([
      'batch_refused',
      'bad_fields',
      'batch_refused',
    ])
    expect(await batchCount()).toBe(before)
    const { status } = await issue([one, two], '?atomic=true')
    expect(status).toBe(201)
  })

  test('dry_run=true checks every line, estimates the cost, and issues nothing', async () => {
    const before = await batchCount()
    const { status, lines } = await issue([...people(3), {}], '?dry_run=true')
    expect(status).toBe(200)
    expect(lines.map(({ success }) => success)).toEqual([true, true, true, false])
    const { data } = lines[0]
    expect(data).toMatchObject({ status: 'checked', batch: { size: 3 } })
    const [gas, fee, maxFee] = [data.batch.gas, data.batch.fee, data.batch.maxFee].map(BigInt)
    expect(gas).toBeGreaterThan(40_000n)
    expect(gas).toBeLessThan(200_000n)
    expect(fee).toBeGreaterThanOrEqual(gas as bigint)
    expect(maxFee).toBeGreaterThan(fee as bigint)
    const [alone = 0, grouped = 0] = [data.unbatched.alone, data.unbatched.grouped].map(Number)
    // Three roots cost about as much as three documents alone, whose price falls while it is asked.
    expect(alone / (3 * Number(fee))).toBeCloseTo(1, 0)
    expect(alone).toBeGreaterThan(grouped)
    // Blocks come at once here: the time is that of fast ones.
    expect([data.batch.seconds, data.unbatched.seconds]).toEqual([2, 2])
    expect(await batchCount()).toBe(before)
  })

  test('the same content, or key, gives the same batch again', async () => {
    const documents = people(5)
    const root = ({ lines }: { lines: Lines }) => lines[0].data.batchRoot
    const first = await issue(documents)
    const again = await issue(documents)
    expect(again.lines).toEqual(first.lines)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(first.headers.get('idempotency-replayed')).toBeNull()

    const keyed = await issue(documents, '', { 'idempotency-key': 'batch 7'.replace(' ', '-') })
    expect(root(keyed)).not.toBe(root(first))
    const repeated = await issue(documents, '', { 'idempotency-key': 'batch-7' })
    expect(repeated.lines).toEqual(keyed.lines)
    const other = await issue(people(5), '', { 'idempotency-key': 'batch-7' })
    expect([other.status, other.error.code]).toEqual([422, 'idempotency_key_reused'])
  })

  test('answers 202 without a block, and the batch shows its status', async () => {
    stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
    const { status, lines } = await issue(people(2), '', { prefer: 'respond-async' })
    expect(status).toBe(202)
    const { batchRoot, publicId } = lines[0].data
    expect(lines[0].data.status).toBe('pending')
    expect((await get(`/v1/batches/${batchRoot}`)).body.data).toMatchObject({
      status: 'pending',
      size: 2,
      blockNumber: null,
    })
    expect(await statusOf(publicId)).toBe('pending')
    const pending = await get(`/v1/documents/${publicId}`)
    expect(pending.body.data).toMatchObject({
      status: 'pending',
      documentHash: lines[0].data.documentHash,
    })
    stack.proxy.refuse = () => false
    await expect.poll(() => statusOf(publicId)).toBe('valid')
    expect((await get(`/v1/batches/${batchRoot}`)).body.data.status).toBe('valid')
  })

  test('an interrupted upload leaves nothing behind', async () => {
    const before = await batchCount()
    const upload = httpRequest(`${stack.url}/v1/batches`, {
      method: 'POST',
      headers: { authorization, 'content-type': NDJSON },
    })
    upload.on('error', () => {})
    upload.write(bodyOf(people(100)))
    await sleep(100)
    upload.destroy()
    await sleep(200)
    await expect.poll(spooled).toEqual([])
    expect(await batchCount()).toBe(before)
    // Its place is free again.
    for (let i = 0; i < 3; i++) expect((await issue(people(1))).status).toBe(201)
  })

  test('refuses what is not NDJSON, empty, too long, or without the scope', async () => {
    const many = '{}\n'.repeat(100_001)
    const key = stack.key(['documents:read'])
    const cases = [
      [await issue('[]', '', { 'content-type': 'application/json' }), 415, 'not_json'],
      [await issue(''), 422, 'bad_fields'],
      [await issue('{}', '?dry_run=1'), 400, 'bad_query'],
      [await issue('{}', '', { authorization: `Bearer ${key}` }), 403, 'forbidden'],
    ] as const
    for (const [answer, status, code] of cases)
      expect([answer.status, answer.error?.code]).toEqual([status, code])
    expect((await issue(['x', {}])).status).toBe(422)
    // It answers before it has read all, and hangs up.
    const status = await new Promise((resolve) => {
      const upload = httpRequest(`${stack.url}/v1/batches`, {
        method: 'POST',
        headers: { authorization, 'content-type': NDJSON },
      })
      upload.on('error', () => {})
      upload.on('response', (response) => resolve(response.resume().statusCode))
      upload.end(many)
    })
    expect(status).toBe(413)
  })

  test('refuses a release after a revocation of the batch', async () => {
    const root = (await issue(people(1))).lines[0].data.batchRoot
    const change = (what: string) =>
      stack.request(`/v1/batches/${root}/${what}`, { method: 'POST', headers: { authorization } })
    await change('suspend')
    const [revoked, released] = await Promise.all([change('revoke'), change('release')])
    expect(revoked.status).toBe(200)
    expect([200, 409]).toContain(released.status)
  })

  test('promises nothing while the chain is unreachable', async () => {
    const documents = people(2)
    stack.proxy.refuse = () => true
    const { status, error } = await issue(documents)
    expect([status, error.code]).toEqual([503, 'chain_unavailable'])
    stack.proxy.refuse = () => false
    await expect.poll(async () => (await issue(documents)).status).toBe(201)
  })

  test('slow uploads of one tenant block no other tenant and no admin', async () => {
    const [slow, other] = [stack.key(['documents:issue']), stack.key(['documents:issue'], 'other')]
    const issueWith = (key: string) =>
      issue(people(1), '', { authorization: `Bearer ${key}` }).then(({ status }) => status)
    const refused: (number | undefined)[] = []
    const uploads = Array.from({ length: 6 }, () => {
      const upload = httpRequest(`${stack.url}/v1/batches`, {
        method: 'POST',
        headers: { authorization: `Bearer ${slow}`, 'content-type': NDJSON },
      })
      upload.on('error', () => {})
      upload.on('response', (response) => refused.push(response.resume().statusCode))
      upload.write(bodyOf(people(1)))
      return upload
    })
    await expect.poll(() => refused).toEqual([503, 503])
    expect(await issueWith(slow)).toBe(503)
    expect(await issueWith(other)).toBe(201)
    expect(await issueWith(API_KEY)).toBe(201)
    for (const upload of uploads) upload.destroy()
    const four = () => Promise.all(Array.from({ length: 4 }, () => issueWith(slow)))
    await expect.poll(four).toEqual([201, 201, 201, 201])
  })

  test('frees the slots of clients that leave before the answer', async () => {
    for (let i = 0; i < 5; i++) {
      const upload = httpRequest(`${stack.url}/v1/batches`, {
        method: 'POST',
        headers: { authorization, 'content-type': NDJSON },
      })
      upload.on('error', () => {})
      upload.end(bodyOf(people(200)))
      await sleep(20)
      upload.destroy()
    }
    await expect.poll(async () => (await issue(people(1))).status).toBe(201)
    await expect.poll(spooled).toEqual([])
  })

  test('writes an answer no faster than its client reads it', async () => {
    // An answer of more than the sockets hold.
    const documents = people(8_000)
    const upload = httpRequest(`${stack.url}/v1/batches`, {
      method: 'POST',
      headers: { authorization, 'content-type': NDJSON },
    })
    upload.end(bodyOf(documents))
    const count = await new Promise<number>((resolve, reject) => {
      upload.on('error', reject)
      upload.on('response', async (response) => {
        response.pause()
        await sleep(1_000)
        // The other requests are served meanwhile.
        expect((await get('/healthz')).status).toBe(200)
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve(text.trimEnd().split('\n').length))
        response.resume()
      })
    })
    expect(count).toBe(documents.length)
  })
})

describe('batches', () => {
  const issued = async (count = 2) => {
    const { lines, error } = await issue(people(count))
    expect(error).toBeUndefined()
    const ids: { publicId: string; documentHash: Hex }[] = lines.map(({ data }) => data)
    return { root: lines[0].data.batchRoot as Hex, ids }
  }

  test('revokes, suspends and releases a whole batch', async () => {
    const { root, ids } = await issued()
    const publicId = ids[0]?.publicId ?? ''
    const suspended = await post(`/v1/batches/${root}/suspend`)
    expect([suspended.status, suspended.body.data]).toMatchObject([
      200,
      { root, status: 'suspended', reason: 'certificateHold' },
    ])
    expect(await statusOf(publicId)).toBe('suspended')
    const released = await post(`/v1/batches/${root}/release`)
    expect(released.body.data).toMatchObject({ root, status: 'valid' })
    expect(await statusOf(publicId)).toBe('valid')
    const revoked = await post(`/v1/batches/${root}/revoke`, { reason: 'keyCompromise' })
    expect(revoked.body.data).toMatchObject({ status: 'revoked', reason: 'keyCompromise' })
    expect(await statusOf(publicId)).toBe('revoked')
    const again = await post(`/v1/batches/${root}/revoke`, { reason: 'superseded' })
    expect(again.body.data).toEqual(revoked.body.data)
    expect((await get(`/v1/batches/${root}`)).body.data.status).toBe('revoked')
    const late = await post(`/v1/batches/${root}/suspend`)
    expect([late.status, late.body.error.code]).toEqual([409, 'already_revoked'])
  })

  test('releases a batch and a document of it that a thief released', async () => {
    const { provider, registry, adminKey } = stack
    const { root, ids } = await issued()
    const [one, two] = ids as [(typeof ids)[0], (typeof ids)[0]]
    const thief = await addAccount(stack, 2)
    const steal = (name: string, ...args: unknown[]) =>
      transact(provider, registry, thief, name, [1, root, ...args])
    const statuses = () => Promise.all([one, two].map(({ publicId }) => statusOf(publicId)))
    await post(`/v1/batches/${root}/suspend`)
    await post(`/v1/documents/${one.publicId}/suspend`)
    await steal('releaseBatch')
    await steal('releaseInBatch', [one.documentHash])
    expect(await statuses()).toEqual(['valid', 'valid'])
    const address = new Wallet(thief).address
    await transact(provider, registry, adminKey, 'distrustFrom', [1, address, 1])
    expect(await statuses()).toEqual(['suspended', 'suspended'])
    expect((await get(`/v1/batches/${root}`)).body.data.status).toBe('suspended')
    const released = await post(`/v1/batches/${root}/release`)
    expect(released.body.data).toMatchObject({ root, status: 'valid' })
    expect(released.body.data.blockchainHash).toMatch(/^0x/)
    expect(await statuses()).toEqual(['suspended', 'valid'])
    const own = await post(`/v1/documents/${one.publicId}/release`)
    expect(own.body.data).toMatchObject({ status: 'valid' })
    expect(await statuses()).toEqual(['valid', 'valid'])
    expect((await get(`/v1/batches/${root}`)).body.data.status).toBe('valid')
  })

  test('revokes, suspends and releases one document of a batch', async () => {
    const { ids } = await issued(3)
    const [one, two, three] = ids.map(({ publicId }) => publicId) as [string, string, string]
    const change = (id: string, action: string) => post(`/v1/documents/${id}/${action}`)
    const revoked = await change(one, 'revoke')
    expect([revoked.status, revoked.body.data]).toMatchObject([
      200,
      { publicId: one, documentHash: ids[0]?.documentHash, status: 'revoked' },
    ])
    expect(revoked.body.data.blockchainHash).toMatch(/^0x/)
    expect((await change(two, 'suspend')).body.data.status).toBe('suspended')
    expect(await Promise.all([one, two, three].map(statusOf))).toEqual([
      'revoked',
      'suspended',
      'valid',
    ])
    expect((await change(two, 'release')).body.data.status).toBe('valid')
    expect(await statusOf(two)).toBe('valid')
    const nothing = await change(three, 'release')
    expect([nothing.status, nothing.body.error.code]).toEqual([409, 'not_suspended'])
  })

  test('a document suspended in a suspended batch stays suspended when the batch is released', async () => {
    const { root, ids } = await issued()
    const [one, two] = ids.map(({ publicId }) => publicId) as [string, string]
    await post(`/v1/batches/${root}/suspend`)
    await post(`/v1/documents/${one}/suspend`)
    await post(`/v1/batches/${root}/release`)
    expect(await Promise.all([one, two].map(statusOf))).toEqual(['suspended', 'valid'])
  })

  test('lists batches, newest first, by pages', async () => {
    const roots = [(await issued()).root, (await issued()).root, (await issued()).root]
    const page = async (query: string) => (await get(`/v1/batches${query}`)).body.data
    const first = await page('?limit=2')
    expect(first.batches.map(({ root }: { root: Hex }) => root)).toEqual([roots[2], roots[1]])
    const second = await page(`?limit=2&cursor=${first.nextCursor}`)
    expect(second.batches[0].root).toBe(roots[0])
    expect((await get('/v1/batches?limit=0')).status).toBe(400)
    expect((await get('/v1/batches?cursor=x')).status).toBe(400)
  })

  test('hides a batch from keys of other tenants, and refuses their changes', async () => {
    const { root } = await issued()
    const key = await stack.key(['documents:read', 'documents:revoke'], 'another')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const { body } = await stack.request('/v1/batches', { headers })
    expect(body.data).toEqual({ batches: [], nextCursor: null })
    expect((await stack.request(`/v1/batches/${root}`, { headers })).status).toBe(404)
    const revoked = await stack.request(`/v1/batches/${root}/revoke`, {
      method: 'POST',
      headers,
      body: '{}',
    })
    expect([revoked.status, revoked.body.error.code]).toEqual([404, 'not_found'])
  })

  test('answers 404 for a batch that was never issued', async () => {
    for (const root of [`0x${'5a'.repeat(32)}`, 'x'])
      expect((await get(`/v1/batches/${root}`)).status).toBe(404)
    const { status, body } = await post(`/v1/batches/0x${'5a'.repeat(32)}/revoke`)
    expect([status, body.error.code]).toEqual([404, 'not_issued'])
  })

  test('revokes documents of batches by POST /v1/revocations', async () => {
    const { root, ids } = await issued(3)
    const [one, two, three] = ids as [(typeof ids)[0], (typeof ids)[0], (typeof ids)[0]]
    const response = await fetch(`${stack.url}/v1/revocations`, {
      method: 'POST',
      headers: { authorization, 'content-type': NDJSON },
      body: bodyOf([
        { publicId: one.publicId },
        { documentHash: two.documentHash, batchRoot: root, reason: 'superseded' },
        { documentHash: three.documentHash },
        { documentHash: root },
      ]),
    })
    const lines = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ data, error }) => data.status ?? error.code)).toEqual([
      'revoked',
      'superseded',
      'revoked',
      'not_issued',
    ])
    expect(await Promise.all(ids.map(({ publicId }) => statusOf(publicId)))).toEqual([
      'revoked',
      'superseded',
      'revoked',
    ])
  })
})
