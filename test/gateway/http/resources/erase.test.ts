import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { cidOf } from '#document/cid.ts'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { type BlockServer, startBlockServer } from '#test/support/block-server.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

let stack: Stack
let elsewhere: BlockServer
beforeAll(async () => {
  elsewhere = await startBlockServer()
  stack = await startStack({ IPFS_GATEWAYS: elsewhere.url })
})
afterAll(async () => {
  await stack.stop()
  await elsewhere.close()
})

const WITH_KEY = { authorization: `Bearer ${API_KEY}` }
const erase = (publicId: string, headers: Record<string, string> = WITH_KEY) =>
  stack.request(`/v1/documents/${publicId}/payload`, { method: 'DELETE', headers })
const get = (path: string) => stack.request(path, { headers: WITH_KEY })
const issue = async (fields: object = ADA, headers = {}): Promise<string> =>
  (await stack.issue(fields, headers)).body.data.publicId
const cidIn = (publicId: string) => cidOf(decodePublicId(publicId).hash)
const sealedOf = async (publicId: string): Promise<Buffer> =>
  Buffer.from((await get(`/ipfs/${cidIn(publicId)}?format=raw`)).body)
const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

/** The files of the data folder that hold these bytes. */
function filesWith(bytes: Buffer): string[] {
  return readdirSync(stack.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(bytes))
}

test('erases a document, and answers with a receipt', async () => {
  const publicId = await issue()
  const sealed = await sealedOf(publicId)
  await stack.verify(publicId)
  expect(filesWith(sealed)).not.toEqual([])

  const { status, body } = await erase(publicId)
  expect(status).toBe(200)
  expect(body.data).toEqual({
    documentHash: toHex(decodePublicId(publicId).hash),
    status: 'erased',
    erasedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    removed: ['database'],
    remains: ['backups'],
    network: 'test',
  })
  expect(filesWith(sealed)).toEqual([])
  // Nor a part of it.
  expect(filesWith(sealed.subarray(-32))).toEqual([])

  const verdict = (await stack.verify(publicId)).body.data
  expect([verdict.status, verdict.document]).toEqual(['erased', null])
  const paths = ['', '/bundle'].map((more) => `/v1/documents/${publicId}${more}`)
  for (const path of [...paths, `/ipfs/${cidIn(publicId)}?format=raw`])
    expect(codeOf(await get(path))).toEqual([410, 'erased'])
})

test('erasing again gives the same receipt', async () => {
  const publicId = await issue()
  const [first, second] = await Promise.all([erase(publicId), erase(publicId)])
  expect(second.body.data).toEqual(first.body.data)
  expect((await erase(publicId)).body.data).toEqual(first.body.data)
  const list = readFileSync(`${stack.dataDir}.erased`, 'utf8')
  expect(list).toContain(first.body.data.documentHash)
})

test('accepts a documentHash of the tenant', async () => {
  const publicId = await issue()
  const hash = toHex(decodePublicId(publicId).hash)
  const stranger = stack.key(['documents:erase'], 'another')
  const refused = await erase(hash, { authorization: `Bearer ${stranger}` })
  expect(codeOf(refused)).toEqual([404, 'not_found'])
  const own = { authorization: `Bearer ${stack.key(['documents:erase'])}` }
  expect((await erase(hash, own)).body.data).toMatchObject({ documentHash: hash, status: 'erased' })
  expect((await erase(hash, own)).status).toBe(200)
  const { body } = await get('/v1/events?type=document.erased')
  expect(JSON.stringify(body.data)).toContain(hash)
})

test('neither a repeat nor another source restores it', async () => {
  const headers = { 'idempotency-key': 'erased-and-repeated' }
  const publicId = await issue(ADA, headers)
  const sealed = await sealedOf(publicId)
  elsewhere.set(decodePublicId(publicId).hash, sealed)
  expect((await erase(publicId)).status).toBe(200)

  expect(codeOf(await stack.issue(ADA, headers))).toEqual([410, 'erased'])
  expect((await stack.verify(publicId)).body.data.status).toBe('erased')
  expect(codeOf(await get(`/v1/documents/${publicId}`))).toEqual([410, 'erased'])
  expect(filesWith(sealed)).toEqual([])
})

test('a pending document is anchored as promised, and stays erased', async () => {
  const publicId = await issue(ADA, { prefer: 'respond-async' })
  const sealed = await sealedOf(publicId)
  expect((await erase(publicId)).body.data.status).toBe('erased')
  expect(filesWith(sealed)).toEqual([])
  expect(codeOf(await get(`/v1/documents/${publicId}`))).toEqual([410, 'erased'])
  await expect.poll(async () => (await stack.verify(publicId)).body.data?.status).toBe('erased')
})

test('a revoked document stays revoked, and cannot be retrieved', async () => {
  const publicId = await issue()
  await stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    headers: { ...WITH_KEY, 'content-type': 'application/json' },
    body: '{}',
  })
  expect((await erase(publicId)).status).toBe(200)
  expect((await stack.verify(publicId)).body.data.status).toBe('revoked')
  for (const more of ['', '/bundle'])
    expect(codeOf(await get(`/v1/documents/${publicId}${more}`))).toEqual([410, 'erased'])
})

test('erases many at once, while others are issued', async () => {
  const issueMany = () =>
    Promise.all(Array.from({ length: 60 }, (_, i) => issue({ ...ADA, subjectId: `${i}` })))
  const publicIds = await issueMany()
  const sealed = await Promise.all(publicIds.map(sealedOf))
  const [receipts, kept] = await Promise.all([
    Promise.all(publicIds.map((publicId) => erase(publicId))),
    issueMany(),
  ])
  for (const { status, body } of receipts) expect([200, 202], body.error).toContain(status)
  // On a busy machine a pass over the files may be repeated later.
  for (const publicId of publicIds)
    await expect.poll(async () => (await erase(publicId)).status).toBe(200)
  for (const bytes of sealed) expect(filesWith(bytes)).toEqual([])
  for (const publicId of kept) expect((await stack.verify(publicId)).body.data.status).toBe('valid')
})

describe('refusals', () => {
  test('requires the scope documents:erase', async () => {
    const publicId = await issue()
    const others = stack.key(['documents:issue', 'documents:read', 'documents:revoke', 'verify'])
    const refused = await erase(publicId, { authorization: `Bearer ${others}` })
    expect(codeOf(refused)).toEqual([403, 'forbidden'])
    expect(refused.headers.get('www-authenticate')).toContain('scope="documents:erase"')
    expect(codeOf(await erase(publicId, {}))).toEqual([401, 'unauthorized'])
    expect((await stack.verify(publicId)).body.data.status).toBe('valid')

    const own = stack.key(['documents:erase'])
    expect((await erase(publicId, { authorization: `Bearer ${own}` })).status).toBe(200)
  })

  test('refuses a document of another issuer, and one that was never issued', async () => {
    const [foreign] = golden.documents.filter(
      ({ publicId }) => decodePublicId(publicId).issuerId !== 1,
    )
    if (foreign) expect(codeOf(await erase(foreign.publicId))).toEqual([403, 'other_issuer'])
    const [never] = golden.documents.filter(
      ({ publicId }) => decodePublicId(publicId).issuerId === 1,
    )
    if (never) expect(codeOf(await erase(never.publicId))).toEqual([404, 'not_issued'])
    expect(foreign ?? never).toBeDefined()
    expect(codeOf(await erase('nonsense'))).toEqual([400, 'bad_public_id'])
  })
})

test('an erased document can still be revoked', async () => {
  const publicId = await issue()
  expect((await erase(publicId)).status).toBe(200)
  const revoked = await stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    headers: { ...WITH_KEY, 'content-type': 'application/json' },
    body: '{}',
  })
  expect(revoked.status).toBe(200)
  expect((await stack.verify(publicId)).body.data.status).toBe('revoked')
})
