import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import * as dagCbor from '@ipld/dag-cbor'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLog } from '#base/log.ts'
import { cidOf } from '#document/cid.ts'
import { toHex } from '#document/hex.ts'
import { decodePublicId, encodePublicId } from '#document/public-id.ts'
import { blockCid } from '#kubo/group.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { type Bundle, createBundleSource } from '#verifier/bundle.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { createChainReader } from '#verifier/readers/chain.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { verify } from '#verifier/verify.ts'
import { type Desk, signIn, useInvitation } from '../support/desk.ts'
import { createKubo, type Kubo, kuboBinary } from '../support/kubo.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../support/stack.ts'

const folder = postgresFolder()
const binary = await kuboBinary()
const authorization = `Bearer ${API_KEY}`
const AWAY = [503, 'store_unavailable']
const { issuedAt: _, ...DOCUMENT } = ADA

const hashOf = (publicId: string) => decodePublicId(publicId).hash
const codeOf = ({ status, body }: Answer) => [status, body.error?.code]

function clientOf(stack: Stack) {
  const send = (method: string, path: string, body?: object) =>
    stack.request(path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  return {
    get: (path: string) => send('GET', path),
    issue: async (): Promise<string> => (await stack.issue(ADA)).body.data.publicId,
    async issueBatch(): Promise<string> {
      const response = await fetch(`${stack.url}/v1/batches`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/x-ndjson' },
        body: [ADA, { ...ADA, subjectId: '2' }].map((one) => JSON.stringify(one)).join('\n'),
      })
      const [line = ''] = (await response.text()).split('\n')
      return JSON.parse(line).data.publicId
    },
    revoke: (publicId: string) => send('POST', `/v1/documents/${publicId}/revoke`, {}),
    erase: (publicId: string) => send('DELETE', `/v1/documents/${publicId}/payload`),
    /** As a reader of the QR code verifies, who has only the public routes. */
    async pageVerdict(publicId: string, ...more: BlockSource[]) {
      const chain = createChainReader(createFetchProvider(`${stack.url}/rpc`), stack.registry)
      const blocks = [...more, createIpfsGatewaySource(stack.url)]
      return (await verify(publicId, { chain, blocks })).status
    },
  }
}

/** What a verifier learns over REST. */
async function verdictOf(stack: Stack, publicId: string) {
  const { status, body } = await stack.verify(publicId)
  const { data, error } = body
  return { status, verdict: data?.status ?? error.code, document: data?.document ?? null }
}

/** The publicId of a document that this issuer never issued. */
function neverIssued(publicId: string): string {
  const hash = crypto.getRandomValues(new Uint8Array(32))
  return encodePublicId({ ...decodePublicId(publicId), hash })
}

describe.skipIf(folder === undefined)('PostgreSQL is down', () => {
  let postgres: PostgresServer
  let url: string
  let stack: Stack
  let client: ReturnType<typeof clientOf>
  beforeAll(async () => {
    postgres = await startPostgres(folder ?? '')
  })
  afterAll(() => postgres.remove())

  const OUTAGES = [
    ['refuses connections', () => postgres.shutDown(), () => postgres.start()],
    ['hangs', () => postgres.signal('SIGSTOP'), () => postgres.signal('SIGCONT')],
  ] as const

  async function start(env: Record<string, string> = {}): Promise<void> {
    url = await postgres.newDatabase()
    stack = await startStack({ DATABASE_URL: url, WAIT_SECONDS: '10', ...env })
    client = clientOf(stack)
  }

  /** During the outage, before all tests of it, and after it. */
  function during(begin: () => Promise<void>, end: () => Promise<void>): void {
    beforeAll(begin)
    afterAll(async () => {
      await end()
      const { get } = client
      const isReady = async () => expect((await get('/readyz')).status).toBe(200)
      await vi.waitFor(isReady, { timeout: 30_000, interval: 200 })
      const publicId = await client.issue()
      expect((await get(`/v1/documents/${publicId}`)).body.data).toMatchObject(DOCUMENT)
    }, 60_000)
  }

  describe.skipIf(binary === undefined)('payloads on Kubo', () => {
    let kubo: Kubo
    const issued = { read: '', unread: '', batch: '', revoked: '', erased: '', erasing: '' }

    beforeAll(async () => {
      kubo = await createKubo(binary ?? '')
      await kubo.start()
      await start({ IPFS_API_URL: kubo.apiUrl })
      issued.batch = await client.issueBatch()
      for (const name of ['read', 'unread', 'revoked', 'erased', 'erasing'] as const)
        issued[name] = await client.issue()
      const metrics = async () => Buffer.from((await client.get('/metrics')).body).toString()
      const isMirrored = async () =>
        expect(await metrics()).toMatch(/^document_registry_mirror_lag_seconds 0$/m)
      await vi.waitFor(isMirrored, { timeout: 30_000, interval: 500 })
      // Opened documents are remembered.
      for (const name of ['read', 'erased', 'erasing'] as const)
        expect(await verdictOf(stack, issued[name])).toMatchObject({ verdict: 'valid' })
      expect((await client.revoke(issued.revoked)).status).toBe(200)
      expect((await client.erase(issued.erased)).status).toBe(200)
      // The node keeps the block of this one, so its erasure is not finished.
      const link = dagCbor.encode({ link: blockCid(hashOf(issued.erasing)) })
      await kubo.client.pin.add(await kubo.client.block.put(link, { format: 'dag-cbor' }))
      expect((await client.erase(issued.erasing)).status).toBe(202)
    }, 120_000)
    afterAll(async () => {
      await stack.stop()
      await kubo.remove()
    })

    describe.each(OUTAGES)('it %s', (_, begin, end) => {
      during(begin, end)

      test.each(['read', 'unread', 'batch'] as const)('verifies (%s)', async (name) => {
        const publicId = issued[name]
        expect(await verdictOf(stack, publicId)).toMatchObject({
          status: 200,
          verdict: 'valid',
          document: DOCUMENT,
        })
        expect(await client.pageVerdict(publicId)).toBe('valid')
      })

      test('shows a revocation', async () => {
        expect(await verdictOf(stack, issued.revoked)).toMatchObject({ verdict: 'revoked' })
      })

      test('serves the metrics that it can read', async () => {
        const { status, body } = await client.get('/metrics')
        expect(status).toBe(200)
        expect(Buffer.from(body).toString()).not.toMatch(/^document_registry_erasures_unfinished /m)
      })

      test.each(['erased', 'erasing'] as const)('stays hidden: %s', async (name) => {
        const publicId = issued[name]
        expect(await verdictOf(stack, publicId)).toEqual({
          status: 200,
          verdict: 'erased',
          document: null,
        })
        const block = await client.get(`/ipfs/${cidOf(hashOf(publicId))}?format=raw`)
        expect(codeOf(block)).toEqual([410, 'erased'])
      })

      test('does not say of an unknown document that it was never issued', async () => {
        // A gateway may have promised it just before the outage.
        expect(codeOf(await stack.verify(neverIssued(issued.read)))).toEqual(AWAY)
      })

      test('issuing, retrieving and changing answer that the store is unavailable', async () => {
        const path = `/v1/documents/${issued.read}`
        const byHash = `/v1/documents/${toHex(hashOf(issued.read))}`
        const answers = await Promise.all([
          stack.issue(ADA),
          client.get('/readyz'),
          client.get('/v1/documents'),
          client.get(path),
          client.get(byHash),
          client.get(`${path}/bundle`),
          client.revoke(issued.read),
          client.erase(issued.read),
        ])
        expect(answers.map(codeOf)).toEqual(answers.map(() => AWAY))
      })
    })
  })

  describe('payloads in the database', () => {
    const issued = { valid: '', batch: '', revoked: '' }
    let bundle: Bundle
    let batchBundle: Bundle
    let desk: Desk

    beforeAll(async () => {
      await start()
      desk = await signIn(stack)
      issued.batch = await client.issueBatch()
      for (const name of ['valid', 'revoked'] as const) issued[name] = await client.issue()
      expect((await client.revoke(issued.revoked)).status).toBe(200)
      bundle = (await client.get(`/v1/documents/${issued.valid}/bundle`)).body
      batchBundle = (await client.get(`/v1/documents/${issued.batch}/bundle`)).body
    }, 60_000)
    afterAll(() => stack.stop())

    describe.each(OUTAGES)('it %s', (_, begin, end) => {
      // After the outage has ended.
      afterAll(async () => {
        expect((await desk.send('GET', '/v1/session')).status).toBe(200)
      })
      during(begin, end)

      test('refuses sign-in and sessions, because a session may have ended', async () => {
        const { valid } = issued
        expect(codeOf(await desk.send('GET', '/v1/session'))).toEqual(AWAY)
        expect(codeOf(await desk.send('GET', `/v1/verify?publicId=${valid}`))).toEqual(AWAY)
        expect(codeOf(await useInvitation(stack, 'guess'))).toEqual(AWAY)
      })

      test('reads the record, and reports that no source has the content', async () => {
        const { status, body } = await stack.verify(issued.valid)
        expect([status, body.error.code]).toEqual([503, 'unverifiable'])
        expect(body.error.details).toEqual(
          expect.arrayContaining([
            { check: 'record', outcome: 'pass', code: expect.any(String) },
            { check: 'revocation', outcome: 'pass', code: expect.any(String) },
            { check: 'payload', outcome: 'unknown', code: 'unreachable' },
          ]),
        )
        expect(await client.pageVerdict(issued.valid)).toBe('unverifiable')
        expect(await verdictOf(stack, issued.batch)).toMatchObject({ verdict: 'unverifiable' })
      })

      test('shows a revocation', async () => {
        expect(await verdictOf(stack, issued.revoked)).toMatchObject({
          status: 200,
          verdict: 'revoked',
          document: null,
        })
      })

      test("verifies a document from the reader's file", async () => {
        const { valid, batch } = issued
        expect(await client.pageVerdict(valid, createBundleSource(bundle))).toBe('valid')
        expect(await client.pageVerdict(batch, createBundleSource(batchBundle))).toBe('valid')
      })
    })
  })

  test('hides what was erased when an older database is restored', async () => {
    const copy = `${postgres.data}-copy`
    const copyTo = (from: string, to: string) => {
      rmSync(to, { recursive: true, force: true })
      execFileSync('cp', ['-a', from, to])
    }
    await start()
    onTestFinished(() => stack.stop())
    const [publicId, other] = [await client.issue(), await client.issue()]
    await postgres.shutDown()
    copyTo(postgres.data, copy)
    await postgres.start()
    const erasing = () => client.erase(publicId)
    await vi.waitFor(async () => expect((await erasing()).status).toBe(200), 30_000)
    expect(await verdictOf(stack, publicId)).toMatchObject({ verdict: 'erased' })

    await postgres.shutDown()
    copyTo(copy, postgres.data)
    await postgres.start()
    const erasedNow = async () => (await verdictOf(stack, publicId)).verdict
    await vi.waitFor(async () => expect(await erasedNow()).toBe('erased'), 30_000)
    // A gateway that remembers nothing reads it from the database.
    const rows = async () => {
      const database = await openPostgres(url, createLog('silent'))
      const [row] = await database.query('SELECT count(*) AS n FROM erasure')
      await database.close()
      return row?.n
    }
    await vi.waitFor(async () => expect(await rows()).toBe(1), 30_000)
    expect(await verdictOf(stack, other)).toMatchObject({ verdict: 'valid' })
  }, 120_000)
})
