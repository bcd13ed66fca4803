import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromHex, type Hex } from '#document/hex.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

type Data = Record<string, string>
const UNKNOWN = `0x${'ab'.repeat(32)}`

async function issue(key = API_KEY): Promise<Data> {
  const { status, body } = await stack.issue(ADA, { authorization: `Bearer ${key}` })
  expect(status).toBe(201)
  return body.data
}

const get = (path: string | undefined, key = API_KEY) =>
  stack.request(`/v1/documents/${path}`, { headers: { authorization: `Bearer ${key}` } })

const post = (path: string, body: object = {}, key = API_KEY) =>
  stack.request(`/v1/documents/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

function withDatabase(work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(stack.dataDir, 'gateway.db'))
  work(database)
  database.close()
}

describe('a documentHash in a path', () => {
  test('returns the publicId, and works like the publicId', async () => {
    const { publicId, documentHash } = await issue()
    const byHash = await get(documentHash)
    expect(byHash.status).toBe(200)
    expect(byHash.body.data).toMatchObject({ publicId, documentHash, status: 'valid' })
    const byId = await get(publicId)
    expect(byHash.body.data).toMatchObject({ ...byId.body.data, blockchainProof: {} })
    expect((await get(documentHash?.toUpperCase().replace('0X', '0x'))).status).toBe(200)
  })

  test('suspends, releases and revokes', async () => {
    const { publicId, documentHash } = await issue()
    const suspended = await post(`${documentHash}/suspend`)
    expect(suspended.body.data).toMatchObject({ publicId, documentHash, status: 'suspended' })
    expect((await post(`${documentHash}/release`)).body.data.status).toBe('valid')
    const revoked = await post(`${documentHash}/revoke`, { reason: 'keyCompromise' })
    expect(revoked.body.data).toMatchObject({ status: 'revoked', reason: 'keyCompromise' })
    expect((await get(publicId)).body.data.status).toBe('revoked')
  })

  test('revokes a document whose payload is lost, without its publicId', async () => {
    const { documentHash } = await issue()
    withDatabase((database) => {
      database.prepare('DELETE FROM payload WHERE hash = ?').run(fromHex(documentHash as Hex))
    })
    const lost = await get(documentHash)
    expect(lost.status).toBe(503)
    expect(lost.body.error.code).toBe('unverifiable')
    const revoked = await post(`${documentHash}/revoke`)
    expect(revoked.body.data).toMatchObject({ publicId: null, documentHash, status: 'revoked' })
  })

  test('says that an erased document is erased', async () => {
    const { documentHash } = await issue()
    withDatabase((database) => {
      database.prepare('INSERT INTO tombstone VALUES (?)').run(fromHex(documentHash as Hex))
    })
    const { status, body } = await get(documentHash)
    expect([status, body.error.code]).toEqual([410, 'erased'])
  })

  test('a key does not find documents of another tenant; an admin finds all', async () => {
    const scopes = ['documents:issue', 'documents:read', 'documents:revoke'] as const
    const [a, b] = [stack.key([...scopes], 'a'), stack.key([...scopes], 'b')]
    const { documentHash, publicId } = await issue(a)
    expect((await get(documentHash, a)).status).toBe(200)
    const foreign = await get(documentHash, b)
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'not_found'])
    for (const action of ['revoke', 'suspend', 'release']) {
      const { status, body } = await post(`${documentHash}/${action}`, {}, b)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
    expect((await get(publicId, b)).status).toBe(404)
    expect((await post(`${documentHash}/revoke`)).body.data.status).toBe('revoked')
  })

  test('finds no document for an unknown hash, and refuses other text', async () => {
    expect((await get(UNKNOWN)).status).toBe(404)
    expect((await post(`${UNKNOWN}/revoke`)).body.error.code).toBe('not_issued')
    const key = stack.key(['documents:read'])
    expect((await get(UNKNOWN, key)).status).toBe(404)
    expect((await get(UNKNOWN.slice(0, -1))).body.error.code).toBe('bad_public_id')
  })

  test('requires the scopes of the publicId', async () => {
    const { documentHash } = await issue()
    const key = stack.key(['verify'])
    expect((await get(documentHash, key)).status).toBe(403)
    expect((await post(`${documentHash}/revoke`, {}, key)).status).toBe(403)
  })
})
