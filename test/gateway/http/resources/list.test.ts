import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fromHex } from '#document/hex.ts'
import { ADA, API_KEY, randomKey, type Stack, startStack } from '#test/support/stack.ts'
import { PERMISSION, transact } from '#test/support/transact.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())
afterEach(() => {
  stack.proxy.fail = () => undefined
})

/** Each test issues in a category of its own. */
let categories = 0
const newCategory = () => `kind_${++categories}`

type Data = Record<string, string>
type Init = { key?: string; body?: object }

async function call(path: string, { key = API_KEY, body }: Init = {}) {
  const authorization = `Bearer ${key}`
  const answer = await stack.request(path, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
  })
  expect(answer.body.error?.code).not.toBe('internal')
  return answer
}

const list = async (query: string, init: Init = {}) =>
  (await call(`/v1/documents?${query}`, init)).body.data as {
    documents: Data[]
    nextCursor: string | null
  }
const search = async (body: object, key?: string) =>
  (await call('/v1/documents/search', { body, ...(key !== undefined && { key }) })).body.data
    .documents as Data[]

async function issue(fields: object, key = API_KEY): Promise<Data> {
  const { status, body } = await stack.issue(
    { ...ADA, ...fields },
    { authorization: `Bearer ${key}` },
  )
  expect(status).toBe(201)
  return body.data
}

const post = (publicId: string | undefined, action: string, body = {}) =>
  call(`/v1/documents/${publicId}/${action}`, { body })

/** A document in a list: an answer to its request does not have the time. */
const listed = (document: object) => ({
  ...document,
  createdAt: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
})
const hashesOf = (documents: Data[]) => documents.map(({ documentHash }) => documentHash)

describe('lists', () => {
  test('lists documents by time of issue, newest first', async () => {
    const category = newCategory()
    const first = await issue({ category, expiresAt: '2050-01-01', metadata: { a: 'b' } })
    const second = await issue({ category })
    const { documents, nextCursor } = await list(`category=${category}`)
    expect(documents).toEqual([second, first].map(listed))
    expect(nextCursor).toBe(null)
  })

  test('pages neither repeat nor omit while others are issued', async () => {
    const category = newCategory()
    const issued: Data[] = []
    for (let i = 0; i < 5; i++) issued.unshift(await issue({ category }))
    const first = await list(`category=${category}&limit=2`)
    await issue({ category })
    const second = await list(`category=${category}&limit=2&cursor=${first.nextCursor}`)
    const third = await list(`category=${category}&limit=2&cursor=${second.nextCursor}`)
    expect([first, second, third].flatMap(({ documents }) => documents)).toEqual(issued.map(listed))
    expect(third.nextCursor).toBe(null)
  })

  test('filters by date of issue, inclusive, and by status', async () => {
    const category = newCategory()
    const early = await issue({ category, issuedAt: '2025-01-01' })
    const late = await issue({ category, issuedAt: '2025-01-03', expiresAt: '2025-02-01' })
    const of = async (query: string) =>
      hashesOf((await list(`category=${category}&${query}`)).documents)
    expect(await of('issuedFrom=2025-01-01&issuedTo=2025-01-02')).toEqual([early.documentHash])
    expect(await of('issuedFrom=2025-01-03T00:00:00Z')).toEqual([late.documentHash])
    expect(await of('status=expired')).toEqual([late.documentHash])
    await post(early.publicId, 'suspend')
    expect(await of('status=suspended')).toEqual([early.documentHash])
    expect(await of('status=valid')).toEqual([])
    await post(early.publicId, 'release')
    expect(await of('status=valid')).toEqual([early.documentHash])
    await post(early.publicId, 'revoke')
    expect(await of('status=revoked')).toEqual([early.documentHash])
  })

  test('filters by the day on which a document was accepted, in UTC', async () => {
    const category = newCategory()
    const before = Math.floor(Date.now() / 1000)
    const first = await issue({ category, issuedAt: '2025-01-01' })
    const second = await issue({ category, issuedAt: '2025-01-01' })
    const after = Date.now() / 1000
    const { documents } = await list(`category=${category}`)
    for (const { createdAt = '' } of documents) {
      expect(Date.parse(createdAt) / 1000).toBeGreaterThanOrEqual(before)
      expect(Date.parse(createdAt) / 1000).toBeLessThanOrEqual(after)
    }
    const database = new DatabaseSync(join(stack.dataDir, 'gateway.db'))
    database
      .prepare('UPDATE record SET created_at = ? WHERE hash = ?')
      .run(Date.UTC(2024, 1, 29) / 1000 + 86_399, fromHex(first.documentHash as `0x${string}`))
    database.close()
    const of = async (query: string) =>
      hashesOf((await list(`category=${category}&${query}`)).documents)
    expect(await of('createdTo=2024-02-29')).toEqual([first.documentHash])
    expect(await of('createdTo=2024-02-28')).toEqual([])
    expect(await of('createdFrom=2024-03-01')).toEqual([second.documentHash])
    expect(await of('createdFrom=2024-02-29T00:00:00Z&limit=1')).toEqual([second.documentHash])
    const createdAt = '2024-02-29T23:59:59Z'
    expect(await search({ category, createdFrom: '2024-02-29', createdTo: '2024-02-29' })).toEqual([
      { ...first, createdAt },
    ])
    const { body } = await call(`/v1/documents/${first.publicId}`)
    expect(body.data).toMatchObject({ documentHash: first.documentHash, createdAt })
  })

  test('lists a promised document as pending', async () => {
    const category = newCategory()
    stack.proxy.fail = (method) =>
      method === 'eth_sendRawTransaction' ? { code: -32_000, message: 'not now' } : undefined
    const { status, body } = await stack.issue(
      { ...ADA, category },
      { prefer: 'respond-async', authorization: `Bearer ${API_KEY}` },
    )
    expect(status).toBe(202)
    const { documents } = await list(`category=${category}&status=pending`)
    expect(documents).toEqual([listed(body.data)])
  })

  test('never lists as valid or suspended what another account has revoked', async () => {
    const category = newCategory()
    const [suspended, valid] = [await issue({ category }), await issue({ category })]
    const hashes = [valid, suspended].map(({ documentHash }) => documentHash)
    const key = randomKey()
    const { address } = new Wallet(key)
    const { provider, registry, adminKey } = stack
    await provider.request({ method: 'anvil_setBalance', params: [address, `0x${'f'.repeat(18)}`] })
    await transact(provider, registry, adminKey, 'addAccount', [1, address, PERMISSION.revoke])
    // The gateway guards its suspension until the block is final.
    expect((await post(suspended.publicId, 'suspend')).status).toBe(200)
    await transact(provider, registry, key, 'revokeMany', [1, hashes, 1])
    for (const status of ['valid', 'suspended'])
      expect((await list(`category=${category}&status=${status}`)).documents).toEqual([])
    const { documents } = await list(`category=${category}`)
    const revoked = hashes.map((documentHash) => ({ documentHash, status: 'revoked' }))
    expect(documents).toMatchObject(revoked)
    // The index learns it on the way, and no list waits for that.
    await expect
      .poll(async () => hashesOf((await list(`category=${category}&status=revoked`)).documents))
      .toEqual(hashes)
  })

  test('lists a document whose payload is lost or erased without its content', async () => {
    const category = newCategory()
    const [lost, erased] = [await issue({ category }), await issue({ category })]
    const database = new DatabaseSync(join(stack.dataDir, 'gateway.db'))
    const hashOf = ({ documentHash }: Data) => fromHex(documentHash as `0x${string}`)
    database.prepare('DELETE FROM payload WHERE hash IN (?, ?)').run(hashOf(lost), hashOf(erased))
    database.prepare('INSERT INTO tombstone VALUES (?)').run(hashOf(erased))
    database
      .prepare('UPDATE record SET subject = NULL, category = NULL WHERE hash = ?')
      .run(hashOf(erased))
    database.close()
    const { documents } = await list('limit=2')
    const { registry, issuerId, network } = lost
    const publicPart = { registry, issuerId, network }
    expect(documents).toEqual(
      [
        {
          ...publicPart,
          documentHash: erased.documentHash,
          blockchainHash: erased.blockchainHash,
          status: 'erased',
        },
        {
          ...publicPart,
          documentHash: lost.documentHash,
          blockchainHash: lost.blockchainHash,
          status: 'valid',
        },
      ].map(listed),
    )
    // Neither its subject nor its category finds an erased document.
    expect(hashesOf((await list(`category=${category}`)).documents)).toEqual([lost.documentHash])
  })
})

describe('searches', () => {
  test('finds the documents of a subject, with the other filters too', async () => {
    const subjectId = '900100200'
    const [category, other] = [newCategory(), newCategory()]
    const first = await issue({ subjectId, category })
    const second = await issue({ subjectId, category: other })
    await issue({ subjectId: '900100201', category })
    expect(await search({ subjectId })).toEqual([second, first].map(listed))
    expect(await search({ subjectId, category })).toEqual([listed(first)])
    expect(await search({ subjectId, limit: 1 })).toEqual([listed(second)])
    expect(await search({ subjectId: '9001002000' })).toEqual([])
  })

  test('the database stores no subject and no category in clear text', async () => {
    const subjectId = '77001122334455'
    const category = 'most_secret_category'
    const { documentHash } = await issue({ subjectId, category, subjectName: 'Mallory Moriarty' })
    const files = ['gateway.db', 'gateway.db-wal'].map((name) =>
      readFileSync(join(stack.dataDir, name)).toString('latin1'),
    )
    const hash = Buffer.from(fromHex(documentHash as `0x${string}`)).toString('latin1')
    expect(files.join()).toContain(hash)
    for (const secret of [subjectId, category, 'Moriarty'])
      expect(files.join().includes(secret), secret).toBe(false)
  })
})

describe('tenants', () => {
  test('a key lists the documents of its tenant, an admin those of all', async () => {
    const category = newCategory()
    const scopes = ['documents:issue', 'documents:read'] as const
    const [a, b] = [stack.key([...scopes], 'office a'), stack.key([...scopes], 'office b')]
    const [ofA, ofB] = [await issue({ category }, a), await issue({ category }, b)]
    expect(hashesOf((await list(`category=${category}`, { key: a })).documents)).toEqual([
      ofA.documentHash,
    ])
    expect(hashesOf((await list('', { key: b })).documents)).toEqual([ofB.documentHash])
    expect(hashesOf(await search({ subjectId: ADA.subjectId, category }, b))).toEqual([
      ofB.documentHash,
    ])
    expect(hashesOf((await list(`category=${category}`)).documents)).toEqual([
      ofB.documentHash,
      ofA.documentHash,
    ])
  })
})

describe('refusals', () => {
  test('reports that the chain cannot be read, and gives no status', async () => {
    await issue({})
    stack.proxy.fail = (method) =>
      method === 'eth_call' ? { code: -32_000, message: 'down' } : undefined
    const { status, body } = await call('/v1/documents')
    expect(status).toBe(503)
    expect(body.error.code).toBe('chain_unavailable')
  })

  test('names every bad parameter at once', async () => {
    const bad = 'status=lost&issuedFrom=2025-02-30&createdTo=x&limit=0&cursor=1&subjectId=1'
    const { status, body } = await call(`/v1/documents?${bad}`)
    expect(status).toBe(400)
    expect(body.error.code).toBe('bad_query')
    expect(body.error.details.map(({ field }: Data) => field).sort()).toEqual(
      ['createdTo', 'cursor', 'issuedFrom', 'limit', 'status', 'subjectId'].sort(),
    )
    expect((await call('/v1/documents?limit=101')).status).toBe(400)
  })

  test('names every bad field of a search at once', async () => {
    const body = { subjectId: '12a', limit: '5', issuedTo: 20250101, wrong: 1 }
    const answer = await call('/v1/documents/search', { body })
    expect(answer.status).toBe(422)
    expect(answer.body.error.details.map(({ field }: Data) => field).sort()).toEqual(
      ['issuedTo', 'limit', 'subjectId', 'wrong'].sort(),
    )
    expect((await call('/v1/documents/search', { body: [] })).status).toBe(422)
  })

  test('requires documents:read', async () => {
    const key = stack.key(['documents:issue', 'verify'])
    expect((await call('/v1/documents', { key })).status).toBe(403)
    expect((await call('/v1/documents/search', { key, body: {} })).status).toBe(403)
    expect((await stack.request('/v1/documents')).status).toBe(401)
  })
})
