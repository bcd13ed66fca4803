import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cidOf } from '#document/cid.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { createKubo, type Kubo, kuboBinary } from '#test/support/kubo.ts'
import { ADA, API_KEY, type Stack, startStack } from '#test/support/stack.ts'

const binary = await kuboBinary()
const authorization = `Bearer ${API_KEY}`
const NDJSON = 'application/x-ndjson'

type Issued = { publicId: string; documentHash: Hex; batchRoot: Hex }
/** Each call gives documents that no other test has. */
let series = 0

describe.each(binary ? ['database', 'kubo'] : ['database'])('documents of a batch, %s', (place) => {
  let stack: Stack
  let kubo: Kubo | undefined
  beforeAll(async () => {
    if (place === 'kubo') {
      kubo = await createKubo(binary as string)
      await kubo.start()
    }
    stack = await startStack({ WAIT_SECONDS: '5', ...(kubo && { IPFS_API_URL: kubo.apiUrl }) })
  })
  afterAll(async () => {
    await stack.stop()
    await kubo?.remove()
  })

  async function issue(count = 2, key?: string): Promise<Issued[]> {
    series++
    const lines = Array.from({ length: count }, (_, i) =>
      JSON.stringify({ ...ADA, subjectId: `${series}0${i}` }),
    )
    const response = await fetch(`${stack.url}/v1/batches`, {
      method: 'POST',
      headers: { authorization, 'content-type': NDJSON, ...(key && { 'idempotency-key': key }) },
      body: lines.join('\n'),
    })
    const text = await response.text()
    expect([response.status, text]).toEqual([201, expect.any(String)])
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).data)
  }
  const send = (method: string, path: string, body?: object, key = authorization) =>
    stack.request(path, {
      method,
      headers: { authorization: key, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const get = (path: string) => send('GET', path)
  const listed = async (query: string) => (await get(`/v1/documents?${query}`)).body.data.documents

  test('lists and searches find them, and their hash gives the publicId back', async () => {
    const [one, two] = (await issue()) as [Issued, Issued]
    expect(await listed('limit=2')).toMatchObject([
      { publicId: two.publicId, documentHash: two.documentHash, status: 'valid' },
      { publicId: one.publicId, documentHash: one.documentHash },
    ])
    const subjectId = `${series}00`
    const { body } = await send('POST', '/v1/documents/search', { subjectId })
    expect(body.data.documents).toMatchObject([{ publicId: one.publicId, subjectId }])
    const { data } = (await get(`/v1/documents/${one.documentHash}`)).body
    expect(data).toMatchObject({ publicId: one.publicId, subjectId, status: 'valid' })
    const stranger = `Bearer ${stack.key(['documents:read'], 'another')}`
    const refused = await send('GET', `/v1/documents/${one.documentHash}`, undefined, stranger)
    expect(refused.status).toBe(404)
  })

  test('filters by batch, also with the other filters', async () => {
    const [one, two] = (await issue()) as [Issued, Issued]
    const [other] = (await issue(1)) as [Issued]
    const ofBatch = `batchRoot=${one.batchRoot}`
    const found = async (query: string) =>
      (await listed(query)).map(({ documentHash }: Issued) => documentHash)
    expect(await found(ofBatch)).toEqual([two.documentHash, one.documentHash])
    expect(await found(`batchRoot=${other.batchRoot}`)).toEqual([other.documentHash])
    expect(await found(`batchRoot=0x${'ab'.repeat(32)}`)).toEqual([])
    await send('POST', `/v1/documents/${one.documentHash}/revoke`, {})
    expect(await found(`${ofBatch}&status=revoked`)).toEqual([one.documentHash])
    expect(await found(`${ofBatch}&status=valid`)).toEqual([two.documentHash])
    expect(await found(`${ofBatch}&category=${ADA.category}&limit=1`)).toEqual([two.documentHash])
    const stranger = `Bearer ${stack.key(['documents:read'], 'another')}`
    const { body } = await send('GET', `/v1/documents?${ofBatch}`, undefined, stranger)
    expect(body.data.documents).toEqual([])
    expect((await get('/v1/documents?batchRoot=0x1')).status).toBe(400)
  })

  test('a documentHash identifies one to revoke, suspend and release', async () => {
    const [one, two] = (await issue()) as [Issued, Issued]
    const change = (hash: Hex, action: string) =>
      send('POST', `/v1/documents/${hash}/${action}`, {})
    expect((await change(one.documentHash, 'revoke')).body.data).toMatchObject({
      publicId: one.publicId,
      status: 'revoked',
    })
    expect((await change(two.documentHash, 'suspend')).body.data.status).toBe('suspended')
    expect(await listed('status=suspended&limit=1')).toMatchObject(
      [two].map(({ publicId }) => ({ publicId })),
    )
    expect(await listed('status=revoked&limit=1')).toMatchObject([{ publicId: one.publicId }])
    expect((await change(two.documentHash, 'release')).body.data.status).toBe('valid')
    expect((await get(`/v1/documents/${two.documentHash}`)).body.data.status).toBe('valid')
  })

  test('the list follows a change of the whole batch', async () => {
    const [one, two] = (await issue()) as [Issued, Issued]
    const both = [two, one].map(({ publicId }) => ({ publicId, status: 'suspended' }))
    await send('POST', `/v1/batches/${one.batchRoot}/suspend`, {})
    expect(await listed('status=suspended&limit=2')).toMatchObject(both)
    await send('POST', `/v1/batches/${one.batchRoot}/release`, {})
    expect(await listed('status=suspended&limit=2')).toEqual([])
    // A list does not wait until the disk has what it corrected in the index.
    await expect
      .poll(() => listed('status=valid&limit=2'))
      .toMatchObject([{ publicId: two.publicId }, { publicId: one.publicId }])
  })

  test('one is superseded by a single document', async () => {
    const [old, other] = (await issue()) as [Issued, Issued]
    const corrected = { ...ADA, subjectName: 'Augusta Ada King' }
    const { status, body } = await send(
      'POST',
      `/v1/documents/${old.publicId}/supersede`,
      corrected,
    )
    expect([status, body.data]).toMatchObject([
      201,
      {
        supersedes: old.documentHash,
        status: 'valid',
        superseded: { publicId: old.publicId, status: 'superseded' },
      },
    ])
    const { data } = (await stack.verify(old.publicId)).body
    expect(data.status).toBe('superseded')
    expect((await stack.verify(other.publicId)).body.data.status).toBe('valid')
    expect(await listed('limit=1&status=superseded')).toMatchObject([
      { publicId: old.publicId, supersededBy: body.data.documentHash },
    ])
    const again = await send('POST', `/v1/documents/${old.documentHash}/supersede`, corrected)
    expect([again.status, again.body.error.code]).toEqual([409, 'already_superseded'])
    await send('POST', `/v1/batches/${old.batchRoot}/revoke`, {})
    const late = await send('POST', `/v1/documents/${other.publicId}/supersede`, corrected)
    expect([late.status, late.body.error.code]).toEqual([409, 'already_revoked'])
  })

  test('completes a revocation that no request waits for', async () => {
    const [old] = (await issue()) as [Issued]
    const { status } = await stack.request(`/v1/documents/${old.publicId}/supersede`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', prefer: 'respond-async' },
      body: JSON.stringify(ADA),
    })
    expect(status).toBe(202)
    await expect
      .poll(async () => (await stack.verify(old.publicId)).body.data?.status)
      .toBe('superseded')
  })

  test('erases one by its hash or its publicId, permanently', async () => {
    const key = `erased-${place}`
    const [one, two, three] = (await issue(3, key)) as [Issued, Issued, Issued]
    const cid = cidOf(fromHex(one.documentHash))
    const removed = kubo ? ['database', 'kubo'] : ['database']
    const mirrored = async () =>
      kubo?.ipfs('block', 'get', '--offline', cid).then(Boolean, () => false)
    if (kubo) await expect.poll(mirrored).toBe(true)
    const receipt = await send('DELETE', `/v1/documents/${one.documentHash}/payload`)
    expect([receipt.status, receipt.body.data]).toEqual([
      200,
      {
        documentHash: one.documentHash,
        status: 'erased',
        removed,
        erasedAt: expect.stringMatching(/Z$/),
        network: 'test',
        remains: expect.arrayContaining(['backups']),
      },
    ])
    expect((await send('DELETE', `/v1/documents/${two.publicId}/payload`)).body.data).toMatchObject(
      { documentHash: two.documentHash, status: 'erased', removed },
    )
    const gone = [
      `/v1/documents/${one.documentHash}`,
      `/v1/documents/${one.publicId}`,
      `/v1/documents/${one.publicId}/bundle`,
      `/ipfs/${cid}?format=raw`,
    ]
    const isGone = async () => {
      for (const path of gone) expect([path, (await get(path)).status]).toEqual([path, 410])
      expect((await stack.verify(one.publicId)).body.data.status).toBe('erased')
    }
    await isGone()
    expect((await stack.verify(three.publicId)).body.data.status).toBe('valid')
    const transaction = (await get(`/v1/documents/${three.publicId}`)).body.data.blockchainHash
    expect((await listed('limit=3')).slice(1)).toMatchObject([
      { documentHash: two.documentHash, status: 'erased', blockchainHash: transaction },
      { documentHash: one.documentHash, status: 'erased', blockchainHash: transaction },
    ])

    // Neither a repeat of the batch brings it back.
    series--
    const again = await issue(3, key)
    expect(again.map(({ publicId }) => publicId)).toEqual([undefined, undefined, three.publicId])
    await isGone()
    if (kubo) await expect(kubo.ipfs('block', 'get', '--offline', cid)).rejects.toThrow()
    // And it can still be revoked.
    const { body } = await send('POST', `/v1/documents/${one.documentHash}/revoke`, {})
    expect(body.data).toMatchObject({ publicId: null, status: 'revoked' })
    const list = (await get('/v1/events?type=document.erased')).body
    expect(JSON.stringify(list)).toContain(one.documentHash)
  })
})
