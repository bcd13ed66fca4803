import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readQrCodes } from '#cli/qr-image.ts'
import golden from '#corpus/vectors/documents.json' with { type: 'json' }
import { cidOf } from '#document/cid.ts'
import { fromHex, toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import {
  createChainReader,
  createFetchProvider,
  createIpfsGatewaySource,
  verify,
} from '#verifier/index.ts'
import manifest from '../../package.json' with { type: 'json' }
import { bareApp } from '../support/bare-app.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

test('omits metadata without an entry', async () => {
  const { status, body } = await stack.issue({ ...ADA, metadata: {} })
  expect(status).toBe(201)
  expect(body.data).not.toHaveProperty('metadata')
  const verified = await stack.verify(body.data.publicId)
  expect(verified.body.data.document).toEqual(body.data)
})

test('issues, then verifies', async () => {
  const fields = {
    ...ADA,
    expiresAt: '2096-02-29',
    metadata: { registrar: 'Testville', constructor: 'x' },
  }
  const issued = await stack.issue(fields)
  expect(issued.status).toBe(201)
  const { publicId, blockchainHash, documentHash } = issued.body.data
  expect(issued.body).toEqual({
    success: true,
    data: {
      publicId: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{77}$/),
      ...fields,
      issuedAt: '2026-01-31T00:00:00Z',
      expiresAt: '2096-02-29T00:00:00Z',
      validUntil: '2096-03-01T00:00:00Z',
      registry: stack.registry,
      issuerId: 1,
      documentHash: toHex(decodePublicId(publicId).hash),
      blockchainHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      status: 'valid',
      network: 'test',
      qrCodeUrl: `${stack.url}/qr/${publicId}`,
      verifyUrl: `${stack.url}/verify#publicId=${publicId}&registry=${stack.registry}`,
    },
  })
  expect(issued.headers.get('location')).toBe(`${stack.url}/v1/documents/${publicId}`)
  expect(issued.headers.get('cache-control')).toBe('no-store')
  expect(issued.headers.get('referrer-policy')).toBe('no-referrer')

  const verified = await stack.verify(publicId)
  expect(verified.status).toBe(200)
  expect(verified.headers.get('cache-control')).toBe('no-store')
  const { data } = verified.body
  expect(data).toMatchObject({
    valid: true,
    status: 'valid',
    network: 'test',
  })
  expect(data.document).toEqual(issued.body.data)
  expect(data.blockchainProof).toMatchObject({
    chainId: 31337,
    registry: stack.registry,
    documentHash,
    transactionHash: blockchainHash,
    issuer: {
      id: 1,
      name: 'Registry office of Testville',
      uri: 'https://testville.example',
    },
    validUntil: '2096-03-01T00:00:00Z',
    revokedAt: null,
    reason: null,
    releasedAt: null,
  })

  const { blockHash, blockNumber, blockTime, issuer } = data.blockchainProof
  const block = await stack.provider.request({
    method: 'eth_getBlockByHash',
    params: [blockHash, false],
  })
  expect(block).toMatchObject({
    number: `0x${blockNumber.toString(16)}`,
    timestamp: `0x${(Date.parse(blockTime) / 1000).toString(16)}`,
    transactions: expect.arrayContaining([blockchainHash]),
  })
  const transaction = await stack.provider.request({
    method: 'eth_getTransactionByHash',
    params: [blockchainHash],
  })
  expect(transaction).toMatchObject({ from: issuer.account })
})

test('accepts dates only in the form in which they are returned', async () => {
  const dates = { issuedAt: '2026-01-31', expiresAt: '2036-01-30' }
  const returned = {
    issuedAt: '2026-01-31T00:00:00Z',
    expiresAt: '2036-01-30T00:00:00Z',
  }
  const headers = { 'idempotency-key': 'either-form' }
  const first = await stack.issue({ ...ADA, ...dates }, headers)
  expect(first.body.data).toMatchObject(returned)
  const millis = { issuedAt: '2026-01-31T00:00:00.000Z' }
  for (const form of [returned, { ...returned, ...millis }]) {
    const again = await stack.issue({ ...ADA, ...form }, headers)
    expect([again.status, again.body]).toEqual([201, first.body])
  }
  for (const issuedAt of [
    '2026-01-31T00:00:00.001Z',
    '2026-01-31T00:00:00+00:00',
    '2026-01-31T00:00:01Z',
    '2026-01-31T00:00Z',
    '2026-01-31t00:00:00z',
    '2026-02-30T00:00:00Z',
    ' 2026-01-31T00:00:00Z',
  ]) {
    const refused = await stack.issue({ ...ADA, issuedAt })
    expect([refused.status, refused.body.error?.details]).toEqual([
      422,
      [{ field: 'issuedAt', message: expect.any(String) }],
    ])
  }
})

test('/api is the same as /v1', async () => {
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
  }
  const issued = await stack.request('/api/documents', {
    method: 'POST',
    headers,
    body: JSON.stringify(ADA),
  })
  expect(issued.status).toBe(201)
  const { publicId } = issued.body.data
  const verified = await stack.request(`/api/verify?publicId=${publicId}`, {
    headers,
  })
  expect(verified.body.data.valid).toBe(true)
})

test.each([
  'Ωμέγα Άλφα',
  '山田 太郎',
  'مُحَمَّد بن سَلمان',
  'नरेन्द्र',
  'Nguyễn Thị Hồng',
  'e\u0301 is not é',
  '👩‍🔬 𐍈 \u202Ertl',
  `O'Brien "the" <b>&amp; \\ /`,
])('returns %s as it was sent', async (subjectName) => {
  const metadata = { [subjectName]: subjectName }
  const issued = await stack.issue({ ...ADA, subjectName, metadata })
  const { data } = (await stack.verify(issued.body.data.publicId)).body
  expect(data.valid).toBe(true)
  expect(data.document.subjectName).toBe(subjectName)
  expect(data.document.metadata).toEqual(metadata)
})

test('issues many at once in few transactions, each with its own publicId', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => stack.issue(ADA)))
  expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(201))
  const ids = new Set(answers.map(({ body }) => body.data.publicId))
  expect(ids.size).toBe(60)
  const transactions = new Set(answers.map(({ body }) => body.data.blockchainHash))
  expect(transactions.size).toBeLessThan(30)
  for (const publicId of ids) expect((await stack.verify(publicId)).body.data.valid).toBe(true)
})

describe('Idempotency-Key', () => {
  const replayed = ({ headers }: Answer) => headers.get('idempotency-replayed')

  test('the same request returns the same document', async () => {
    const headers = { 'idempotency-key': '"order-1"' }
    const first = await stack.issue(ADA, headers)
    const again = await stack.issue(ADA, headers)
    expect(again.status).toBe(201)
    expect(again.body).toEqual(first.body)
    expect(replayed(first)).toBeNull()
    expect(replayed(again)).toBe('true')
  })

  test('concurrent requests share one document, and all but one are marked as repeats', async () => {
    const headers = { 'idempotency-key': 'order-2' }
    const answers = await Promise.all(Array.from({ length: 5 }, () => stack.issue(ADA, headers)))
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body)
    expect(answers.map(replayed).sort()).toEqual([null, ...Array(4).fill('true')])
  })

  test('marks a repeat that is answered 202 too', async () => {
    const headers = { 'idempotency-key': 'order-3', prefer: 'respond-async' }
    stack.proxy.refuse = (method) => method === 'eth_sendRawTransaction'
    const [first, again] = [await stack.issue(ADA, headers), await stack.issue(ADA, headers)]
    stack.proxy.refuse = () => false
    expect([first.status, replayed(first)]).toEqual([202, null])
    expect([again.status, replayed(again)]).toEqual([202, 'true'])
    // The gateway takes a moment to notice that the node is back.
    await expect.poll(async () => (await stack.issue(ADA)).status).toBe(201)
  })

  test('marks each repeat of a request that the node refused for a while', async () => {
    const headers = { 'idempotency-key': 'order-4' }
    stack.proxy.fail = (method) =>
      method === 'eth_estimateGas' ? { code: 3, message: 'execution reverted' } : undefined
    const accepted = await stack.issue(ADA, headers)
    stack.proxy.fail = () => undefined
    expect([accepted.status, replayed(accepted)]).toEqual([202, null])
    await expect.poll(async () => (await stack.issue(ADA, headers)).status).toBe(201)
    const answers = await Promise.all(Array.from({ length: 5 }, () => stack.issue(ADA, headers)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201))
    expect(answers.map(replayed)).toEqual(Array(5).fill('true'))
  })

  test("marks neither another tenant's request nor a failure", async () => {
    const headers = { 'idempotency-key': 'order-1' }
    const authorization = `Bearer ${stack.key(['documents:issue'], 'another')}`
    const other = await stack.issue(ADA, { ...headers, authorization })
    expect([other.status, replayed(other)]).toEqual([201, null])
    const reused = await stack.issue({ ...ADA, subjectId: '2' }, headers)
    expect([reused.status, replayed(reused)]).toEqual([422, null])
    const unkeyed = [await stack.issue(ADA), await stack.issue(ADA)]
    expect(unkeyed.map(replayed)).toEqual([null, null])
  })

  test('refuses a key that is too long', async () => {
    const headers = { 'idempotency-key': 'x'.repeat(256) }
    expect((await stack.issue(ADA, headers)).body.error.code).toBe('bad_idempotency_key')
  })
})

test('Prefer: respond-async is answered at once, and the document is anchored', async () => {
  const accepted = await stack.issue(ADA, { prefer: 'respond-async' })
  expect(accepted.status).toBe(202)
  expect(accepted.body.data.status).toBe('pending')
  await expect
    .poll(async () => {
      const { data } = (await stack.verify(accepted.body.data.publicId)).body
      return data.status
    })
    .toBe('valid')
})

describe('QR code', () => {
  test('returns SVG, or PNG on request', async () => {
    const { publicId, verifyUrl } = (await stack.issue(ADA)).body.data
    const svg = await stack.request(`/qr/${publicId}`)
    expect(svg.headers.get('content-type')).toBe('image/svg+xml')
    expect(Buffer.from(svg.body).toString()).toMatch(/^<svg /)
    expect(svg.headers.get('cache-control')).toBe('no-store')
    expect(svg.headers.get('referrer-policy')).toBe('no-referrer')
    for (const [query, accept] of [
      ['?format=png', '*/*'],
      ['', 'image/png'],
    ]) {
      const png = await stack.request(`/qr/${publicId}${query}`, {
        headers: { accept: accept ?? '' },
      })
      expect(png.headers.get('content-type')).toBe('image/png')
      // One bit a pixel takes little time to draw.
      expect([png.body[24], png.body[25]]).toEqual([1, 0])
      expect(await readQrCodes(png.body)).toEqual([verifyUrl])
    }
  })

  test('returns a page to a browser', async () => {
    const { publicId, verifyUrl } = (await stack.issue(ADA)).body.data
    const open = (query = '', dest = 'document') =>
      stack.request(`/qr/${publicId}${query}`, {
        headers: { 'sec-fetch-dest': dest, accept: 'text/html,image/png,*/*' },
      })
    const page = await open()
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      'cross-origin-opener-policy': 'same-origin',
      vary: 'Accept, Sec-Fetch-Dest',
    })
    const html = Buffer.from(page.body).toString()
    const style = /<style>(.*)<\/style>/s.exec(html)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(html).toContain(`href="${verifyUrl.replaceAll('&', '&amp;')}"`)
    expect(html).not.toContain('<script')
    for (const [query, dest, type] of [
      ['', 'image', 'image/png'],
      ['', 'empty', 'image/png'],
      ['', 'iframe', 'image/png'],
      ['?format=svg', 'document', 'image/svg+xml'],
    ]) {
      const { headers } = await open(query, dest)
      expect(headers.get('content-type')).toBe(type)
      expect(headers.get('vary')).toBe('Accept, Sec-Fetch-Dest')
      expect(headers.get('x-robots-tag')).toBe('noindex')
      expect(headers.get('content-disposition')).toMatch(
        /^inline; filename="document-qr-code\.(png|svg)"$/,
      )
    }
  })

  test('returns a page for a mistyped address, without repeating it', async () => {
    const { status, headers, body } = await stack.request('/qr/%3Cscript%3E', {
      headers: { 'sec-fetch-dest': 'document' },
    })
    expect(status).toBe(404)
    expect(headers.get('content-type')).toContain('text/html')
    const html = new TextDecoder().decode(body)
    expect(html).toContain('There is nothing at this address')
    expect(html).not.toMatch(/(<|%3C)script/i)
  })

  test('refuses a malformed publicId and an unknown format', async () => {
    const { publicId } = (await stack.issue(ADA)).body.data
    expect((await stack.request('/qr/nonsense')).status).toBe(400)
    expect((await stack.request(`/qr/${publicId}?format=gif`)).status).toBe(400)
  })
})

describe('/ipfs', () => {
  test('returns the sealed block as a trustless gateway does', async () => {
    const { documentHash } = (await stack.issue(ADA)).body.data
    const cid = cidOf(fromHex(documentHash))
    const block = await stack.request(`/ipfs/${cid}?format=raw`)
    expect(block.status).toBe(200)
    expect(Object.fromEntries(block.headers)).toMatchObject({
      'content-type': 'application/vnd.ipld.raw',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      etag: `"${cid}.raw"`,
    })
    const digest = await crypto.subtle.digest('SHA-256', block.body)
    expect(toHex(new Uint8Array(digest))).toBe(documentHash)
    const byAccept = await stack.request(`/ipfs/${cid}`, {
      headers: { accept: 'application/vnd.ipld.raw' },
    })
    expect(byAccept.body).toEqual(block.body)
    const fresh = await stack.request(`/ipfs/${cid}?format=raw`, {
      headers: { 'if-none-match': `"${cid}.raw"` },
    })
    expect(fresh.status).toBe(304)
  })

  test.each([
    ['bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku', '?format=raw', 404],
    ['bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku', '', 406],
    ['bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku', '?format=car', 406],
    ['nonsense', '?format=raw', 400],
  ])('%s%s', async (cid, query, status) => {
    expect((await stack.request(`/ipfs/${cid}${query}`)).status).toBe(status)
  })
})

test('can be verified without the service, with publicId, node, registry and /ipfs alone', async () => {
  const { publicId } = (await stack.issue(ADA)).body.data
  const verdict = await verify(publicId, {
    chain: createChainReader(createFetchProvider(stack.chainUrl), stack.registry),
    blocks: [createIpfsGatewaySource(stack.url)],
  })
  expect(verdict).toMatchObject({
    valid: true,
    document: { ...ADA, registry: stack.registry, issuerId: 1 },
  })
})

test('stores no name or identifier of a subject in clear text', async () => {
  const subjectName = 'Zweifelsfrei Einzigartig'
  const subjectId = '909192939495969798'
  const metadata = { geheim: 'Nirgendwo Lesbar' }
  const fields = { ...ADA, subjectName, subjectId, metadata }
  const { publicId, documentHash } = (await stack.issue(fields)).body.data
  await stack.verify(publicId)
  const state = await stack.provider.request({ method: 'anvil_dumpState' })
  const kept = [
    Buffer.from(String(state).slice(2), 'hex'),
    ...filesIn(stack.dataDir).map((path) => readFileSync(path)),
  ]
  // The search itself works: the hash is there, in the journal at least.
  const all = Buffer.concat(kept)
  expect(all.includes(documentHash.slice(2))).toBe(true)
  const secrets = [subjectName, subjectId, ...Object.values(metadata), publicId]
  for (const secret of secrets) {
    expect(all.includes(secret)).toBe(false)
    expect(all.includes(Buffer.from(secret).toString('hex'))).toBe(false)
    expect(all.includes(Buffer.from(secret).toString('base64url').slice(2, -4))).toBe(false)
  }
})

function filesIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })
}

test('reports health, with the version, and readiness', async () => {
  const { status, body } = await stack.request('/healthz')
  expect(status).toBe(200)
  expect(body.data).toEqual({ status: 'ok', version: manifest.version })
  expect((await stack.request('/readyz')).status).toBe(200)
})

test('the verify page loads nothing from other hosts', async () => {
  const page = await stack.request('/verify')
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const html = Buffer.from(page.body).toString()
  expect(html).toContain(stack.registry)
  expect(html).not.toMatch(/ (src|href)="(?!data:)/)
})

describe('landing page', () => {
  const open = async (accept?: string) => {
    const answer = await stack.request('/', {
      headers: { ...(accept && { accept }) },
    })
    expect(answer.headers.get('vary')).toBe('Accept')
    return answer
  }

  test.each([undefined, '*/*', 'text/html,application/json;q=0.9,*/*;q=0.8'])(
    'returns a page for Accept: %s',
    async (accept) => {
      const { status, headers, body } = await open(accept)
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(Buffer.from(body).toString()).toContain(stack.registry)
    },
  )

  test('returns the same links to a program', async () => {
    const { body } = await open('application/json')
    expect(body.data).toMatchObject({
      service: 'document-registry',
      network: 'test',
      registry: stack.registry,
    })
    const { verifyPage, health, ready, metrics } = body.data.links
    for (const link of [verifyPage, health, ready, metrics])
      expect((await fetch(link)).status).toBe(200)
  })
})

describe('network', () => {
  test('is in every answer about a document', async () => {
    const pending = await stack.issue(ADA, { prefer: 'respond-async' })
    expect(pending.status).toBe(202)
    const { publicId } = (await stack.issue(ADA)).body.data
    const headers = {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    }
    const never = golden.documents[0]?.publicId
    for (const { status, body } of [
      pending,
      await stack.request(`/v1/documents/${publicId}`, { headers }),
      await stack.verify(publicId),
      await stack.verify(`${publicId}&proof=full`),
      await stack.verify(`${never}`),
      await stack.request(`/v1/documents/${publicId}/revoke`, {
        method: 'POST',
        headers,
        body: '{}',
      }),
    ]) {
      expect(status).toBeLessThan(300)
      expect(body.data.network).toBe('test')
    }
    expect((await stack.verify(publicId)).body.data.document.network).toBe('test')
  })

  test('a live network has no banner', async () => {
    const { app } = bareApp({
      addresses: {
        baseUrl: 'https://gateway.example',
        verifyUrl: 'https://gateway.example/verify',
        registry: `eip155:1:0x${'11'.repeat(20)}`,
        network: 'live',
        issuerId: 1,
      },
    })
    const json = await app.request('/', {
      headers: { accept: 'application/json' },
    })
    expect(await json.json()).toMatchObject({ data: { network: 'live' } })
    for (const path of ['/', `/qr/${golden.documents[0]?.publicId}`]) {
      const page = await app.request(path, {
        headers: { 'sec-fetch-dest': 'document' },
      })
      expect(await page.text()).not.toContain('class="banner"')
    }
  })
})
