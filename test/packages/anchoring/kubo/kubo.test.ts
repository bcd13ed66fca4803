import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CarReader } from '@ipld/car'
import { CID } from 'multiformats/cid'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { registryAbi } from '#base/registry-abi.ts'
import { cidOf } from '#document/cid.ts'
import { decodePublicId } from '#document/public-id.ts'
import { blockCid, groupRoot } from '#kubo/group.ts'
import { createKuboNode } from '#kubo/node.ts'
import { createKuboStore } from '#kubo/store.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createIsErased, createPayloadStore } from '#store/payloads.ts'
import { createTombstones } from '#store/tombstones.ts'
import { onConnection } from '#test/support/on-connection.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { bodyOf, serveHttp } from '../../../support/http.ts'
import { createKubo, type Kubo, kuboBinary } from '../../../support/kubo.ts'
import { ADA, type Answer, API_KEY, type Stack, startStack } from '../../../support/stack.ts'

const binary = await kuboBinary()
const TIMEOUT = 2_000
const WITH_KEY = { authorization: `Bearer ${API_KEY}` }

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const randomBlock = () => {
  const bytes = new Uint8Array(randomBytes(300))
  return { hash: sha256(bytes), bytes }
}
type Block = ReturnType<typeof randomBlock>

/** The root of the CAR in a multipart body. */
async function rootIn(body: Buffer): Promise<string> {
  const start = body.indexOf('\r\n\r\n') + 4
  const car = body.subarray(start, body.lastIndexOf('\r\n--'))
  const [root] = await (await CarReader.fromBytes(car)).getRoots()
  return String(root)
}

/** Kubo's message for a pinned root. */
const pinned = (root: string) => ({
  Root: { Cid: { '/': root }, PinErrorMsg: '' },
})

describe.skipIf(binary === undefined)('Kubo', () => {
  let kubo: Kubo
  beforeAll(async () => {
    kubo = await createKubo(binary ?? '')
    await kubo.start()
  })
  afterAll(() => kubo.remove())

  const has = (hash: Uint8Array) =>
    kubo.client.block
      .get(blockCid(hash), {
        searchParams: new URLSearchParams({ offline: 'true' }),
      })
      .then(
        (bytes) => Buffer.compare(sha256(bytes), hash) === 0,
        () => false,
      )
  const pinType = async (hash: Uint8Array) => {
    const options = { paths: blockCid(hash), type: 'all' } as const
    for await (const { type } of kubo.client.pin.ls(options)) return type
    return undefined
  }

  const collectGarbage = async () => {
    for await (const { err } of kubo.client.repo.gc()) if (err) throw err
  }

  describe('the store', () => {
    const node = (url = kubo.apiUrl, announce = false) => createKuboNode(url, TIMEOUT, announce)
    const open = () => createKuboStore(node(), () => {})

    test('pins a group with one root, and gets its blocks', async () => {
      const store = open()
      const before = await kubo.pins()
      const blocks = Array.from({ length: 150 }, randomBlock)
      const [{ hash, bytes }] = blocks as [Block]
      expect(await store.get(hash)).toEqual({ status: 'missing' })
      const root = await store.pin(blocks)
      await collectGarbage()
      expect(await store.get(hash)).toEqual({ status: 'found', bytes })
      const fresh = (await kubo.pins()).filter((pin) => !before.includes(pin))
      expect(fresh).toEqual([String(CID.decode(root as Uint8Array))])
      const refs = (await kubo.ipfs('refs', fresh[0] ?? '')).split('\n')
      expect(refs.sort()).toEqual(blocks.map(({ hash }) => cidOf(hash)).sort())
      expect(await store.hasPinned(root as Uint8Array)).toBe(true)
      expect(await store.hasPinned(groupRoot([]).cid.bytes)).toBe(false)
    })

    test('erasing a block leaves its group whole', async () => {
      const store = open()
      const blocks = Array.from({ length: 5 }, randomBlock)
      const gone = blocks.slice(0, 2)
      const before = (await kubo.pins()).length
      await store.pin(blocks)
      await Promise.all(gone.map(({ hash }) => store.erase(hash)))
      await collectGarbage()
      expect(await Promise.all(blocks.map(({ hash }) => has(hash)))).toEqual([
        false,
        false,
        true,
        true,
        true,
      ])
      expect((await kubo.pins()).length).toBe(before + 1)
      await Promise.all(blocks.map(({ hash }) => store.erase(hash)))
      for (const { hash } of blocks) expect(await has(hash)).toBe(false)
      expect((await kubo.pins()).length).toBe(before)
    })

    test('leaves out bytes of another hash', async () => {
      const [good, damaged] = [randomBlock(), { ...randomBlock(), bytes: randomBytes(10) }]
      await open().pin([damaged, good])
      expect([await has(good.hash), await has(damaged.hash)]).toEqual([true, false])
      expect(await open().pin([damaged])).toBeUndefined()
    })

    test('notices a pin that fails in a 200 answer', async () => {
      const root = groupRoot([blockCid(randomBlock().hash)])
      await expect(node().pin(root, [])).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('could not find'),
      })
    })

    test.each([
      ['import', 'pinned without having been', /^\/api\/v0\/dag\/import/],
      ['export', 'cut off', /^\/api\/v0\/dag\/export/],
    ])('%s %s', async (what, _, path) => {
      const liar = await serveHttp(async (request, response) => {
        const url = request.url ?? ''
        const body = Buffer.from(await bodyOf(request, 'latin1'), 'latin1')
        if (what === 'import' && path.test(url)) {
          response.end(JSON.stringify(pinned(await rootIn(body))))
          return
        }
        const type = request.headers['content-type']
        const answer = await fetch(kubo.apiUrl + url, {
          method: 'POST',
          ...(type && { headers: { 'content-type': type } }),
          body,
        })
        const read = Buffer.from(await answer.arrayBuffer())
        response.writeHead(answer.status, {
          'content-type': answer.headers.get('content-type') ?? '',
        })
        response.end(path.test(url) ? read.subarray(0, -100) : read)
      })
      const store = createKuboStore(node(liar.url), () => {})
      await expect(store.pin([randomBlock()])).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      await liar.close()
    })

    test('refuses a node that announces its blocks, unless configured', async () => {
      await kubo.client.config.set('Provide.Enabled', true)
      await expect(open().assertReady()).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('IPFS_ANNOUNCE'),
      })
      await createKuboStore(node(kubo.apiUrl, true), () => {}).assertReady()
      await kubo.client.config.set('Provide.Enabled', false)
      await open().assertReady()
    })

    test('warns once of a datastore without flushes', async () => {
      const spec = await kubo.ipfs('config', 'Datastore.Spec')
      const set = (spec: string) => kubo.ipfs('config', '--json', 'Datastore.Spec', spec)
      const warnings: string[] = []
      const store = createKuboStore(node(), (text) => warnings.push(text))
      await store.assertReady()
      expect(warnings).toEqual([])
      await set(spec.replace('"sync": true', '"sync": false'))
      await store.assertReady()
      await store.assertReady()
      expect(warnings).toHaveLength(1)
      await set(spec)
    })

    describe('with a database', () => {
      let folder: string
      let database: ReturnType<typeof openSqlite>
      beforeAll(() => {
        folder = mkdtempSync(join(tmpdir(), 'document-registry-'))
        database = openSqlite(join(folder, 'gateway.db'))
      })
      afterAll(async () => {
        await database.close()
        rmSync(folder, { recursive: true })
      })
      const bury = (hash: Uint8Array) =>
        database.write(
          onConnection(() =>
            database.sqlite.prepare('INSERT INTO tombstone (hash) VALUES (?)').run(hash),
          ),
        )

      test('reads the database first, then the node, and nothing that was erased', async () => {
        const embedded = createPayloadStore(database)
        const kubo = open()
        const tombstones = createTombstones(createIsErased(database))
        const store = tombstones.guardStore(embedded, kubo)
        const [near, far, erased] = [randomBlock(), randomBlock(), randomBlock()]
        await store.put(near.hash, near.bytes)
        await kubo.pin([far, erased])
        for (const { hash, bytes } of [near, far])
          expect(await store.get(hash)).toEqual({ status: 'found', bytes })
        await bury(erased.hash)
        await store.put(erased.hash, erased.bytes)
        expect(await store.get(erased.hash)).toEqual({ status: 'erased' })
        expect(await embedded.get(erased.hash)).toEqual({ status: 'missing' })
        const elsewhere = tombstones.guardSource({
          get: async () => ({ status: 'found', bytes: erased.bytes }),
        })
        expect(await elsewhere.get(erased.hash)).toEqual({ status: 'erased' })
      })
    })
  })

  describe('a gateway on Kubo', () => {
    let stack: Stack
    beforeAll(async () => {
      stack = await startStack({
        IPFS_API_URL: kubo.apiUrl,
        IPFS_TIMEOUT_SECONDS: '1',
        WAIT_SECONDS: '5',
      })
    })
    afterEach(() => kubo.signal('SIGCONT'))
    afterAll(async () => {
      await stack.stop()
    })

    test('warns the operator in the log', async () => {
      const spec = await kubo.ipfs('config', 'Datastore.Spec')
      const set = (spec: string) => kubo.ipfs('config', '--json', 'Datastore.Spec', spec)
      await set(spec.replace('"sync": true', '"sync": false'))
      const log = captureLog()
      const other = await startStack({
        IPFS_API_URL: kubo.apiUrl,
        IPFS_ANNOUNCE: 'true',
        LOG_LEVEL: 'warn',
      })
      for (const event of ['kubo_announces', 'kubo_not_durable'])
        await expect
          .poll(() => log.lines(event))
          .toMatchObject([{ level: 'warn', warning: expect.any(String) }])
      await set(spec)
      await other.stop()
      log.stop()
    })

    const issuedEvents = async () => {
      const topics = [registryAbi.getEvent('DocumentIssued')?.topicHash]
      const params = [{ fromBlock: '0x0', topics }]
      const logs = await stack.provider.request({
        method: 'eth_getLogs',
        params,
      })
      return (logs as unknown[]).length
    }
    const ready = () => stack.request('/readyz')
    const hashOf = ({ body }: Answer) => decodePublicId(body.data.publicId).hash
    const statusOf = async ({ body }: Answer) =>
      (await stack.verify(body.data.publicId)).body.data.status

    test('issues, pins and verifies; any IPFS client gets the block', async () => {
      const issued = await stack.issue(ADA)
      expect(issued.status).toBe(201)
      expect(await statusOf(issued)).toBe('valid')
      const hash = hashOf(issued)
      await expect.poll(() => pinType(hash)).toMatch(/^indirect/)
      await kubo.ipfs('block', 'stat', cidOf(hash))
      for (const url of [kubo.gatewayUrl, stack.url]) {
        const response = await fetch(`${url}/ipfs/${cidOf(hash)}?format=raw`)
        expect(response.status).toBe(200)
        const bytes = new Uint8Array(await response.arrayBuffer())
        expect(sha256(bytes)).toEqual(hash)
      }
      expect((await ready()).status).toBe(200)
    })

    test('repeats a request with the same idempotency key', async () => {
      const headers = { 'idempotency-key': 'once' }
      const [a, b] = [await stack.issue(ADA, headers), await stack.issue(ADA, headers)]
      expect(a.body.data.publicId).toBe(b.body.data.publicId)
    })

    test.each(['SIGSTOP', 'SIGKILL'] as const)(
      'issues, verifies and serves payloads during %s, and pins them afterwards',
      async (signal) => {
        await kubo.signal(signal)
        const issued = await stack.issue(ADA)
        expect(issued.status).toBe(201)
        expect((await ready()).status).toBe(200)
        expect(await statusOf(issued)).toBe('valid')
        const block = await stack.request(`/ipfs/${cidOf(hashOf(issued))}?format=raw`)
        expect(block.status).toBe(200)
        const lag = async () => {
          const { body } = await stack.request('/metrics', { headers: WITH_KEY })
          const text = Buffer.from(body).toString()
          return Number(/^document_registry_mirror_lag_seconds (.*)$/m.exec(text)?.[1])
        }
        await expect.poll(lag).toBeGreaterThan(2)

        if (signal === 'SIGSTOP') await kubo.signal('SIGCONT')
        else await kubo.start()
        await expect.poll(() => pinType(hashOf(issued))).toMatch(/^indirect/)
        await expect.poll(lag).toBe(0)
      },
    )

    test('killed and restarted under load, gets the block of everything acknowledged', async () => {
      const before = await issuedEvents()
      const acknowledged: Answer[] = []
      let over = false
      const client = async () => {
        while (!over) {
          const answer = await stack.issue(ADA)
          expect(answer.status).toBe(201)
          acknowledged.push(answer)
        }
      }
      const clients = Array.from({ length: 16 }, client)
      for (let kill = 0; kill < 5; kill++) {
        await sleep(300 + Math.random() * 300)
        await kubo.signal('SIGKILL')
        await sleep(50)
        await kubo.start()
      }
      await sleep(300)
      over = true
      await Promise.all(clients)

      expect(acknowledged.length).toBeGreaterThan(20)
      for (const issued of acknowledged) await expect.poll(() => has(hashOf(issued))).toBe(true)
      const sample = acknowledged.filter((_, i) => i % 10 === 0)
      for (const issued of sample) {
        expect(await pinType(hashOf(issued))).toMatch(/^indirect/)
        await expect.poll(() => statusOf(issued)).toBe('valid')
      }
      // Each exactly once.
      await expect.poll(issuedEvents).toBe(before + acknowledged.length)
    })
  })

  test('reads the password of an RPC API from IPFS_API_URL', async () => {
    const guarded = await createKubo(binary ?? '', 'gateway:p@ss/word')
    await guarded.start()
    const { host } = new URL(guarded.apiUrl)
    const open = (url: string) => createKuboStore(createKuboNode(url, TIMEOUT, false), () => {})
    const store = open(`http://gateway:p%40ss%2Fword@${host}`)
    const { hash, bytes } = randomBlock()
    await store.pin([{ hash, bytes }])
    expect(await store.get(hash)).toEqual({ status: 'found', bytes })
    for (const url of [guarded.apiUrl, `http://gateway:guess@${host}`]) {
      const error = await open(url)
        .pin([{ hash, bytes }])
        .catch((error) => error)
      expect(error.code).toBe('store_unavailable')
      expect(error.message).not.toContain('guess')
    }
    await guarded.remove()
  })

  test('a gateway starts without its Kubo, and says so', async () => {
    const log = captureLog()
    const stack = await startStack({ IPFS_API_URL: 'http://127.0.0.1:1', LOG_LEVEL: 'warn' })
    await expect.poll(() => log.lines('payloads_not_pinned')).toHaveLength(1)
    expect((await stack.issue(ADA)).status).toBe(201)
    await stack.stop()
    log.stop()
  })
})
