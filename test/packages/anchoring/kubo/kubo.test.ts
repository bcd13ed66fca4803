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
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import { blockCid, groupRoot } from '#kubo/group.ts'
import { createKuboNode } from '#kubo/node.ts'
import { createKuboStore, type KuboStore } from '#kubo/store.ts'
import { persistInOrder } from '#promise/persistence.ts'
import { openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createIsErased, createPayloadStore } from '#store/payloads.ts'
import { createTombstones, withOlder } from '#store/tombstones.ts'
import { onConnection } from '#test/support/on-connection.ts'
import { createWholeOutbox, waitingFor } from '#test/support/outbox.ts'
import { type BlockServer, startBlockServer } from '../../../support/block-server.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { bodyOf, serveHttp } from '../../../support/http.ts'
import { createKubo, type Kubo, kuboBinary } from '../../../support/kubo.ts'
import { ADA, type Answer, type Stack, startStack } from '../../../support/stack.ts'

const binary = await kuboBinary()
const TIMEOUT = 2_000

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const randomBlock = () => {
  const bytes = new Uint8Array(randomBytes(300))
  return { hash: sha256(bytes), bytes }
}

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

    test('puts and gets', async () => {
      const store = open()
      const { hash, bytes } = randomBlock()
      expect(await store.get(hash)).toEqual({ status: 'missing' })
      await store.put(hash, bytes)
      await store.put(hash, bytes)
      await collectGarbage()
      expect(await store.get(hash)).toEqual({ status: 'found', bytes })
    })

    test('concurrent puts share one pin of one root', async () => {
      const store = open()
      const before = await kubo.pins()
      const blocks = Array.from({ length: 150 }, randomBlock)
      await Promise.all(
        [...blocks, ...blocks.slice(0, 5)].map(({ hash, bytes }) => store.put(hash, bytes)),
      )
      const fresh = (await kubo.pins()).filter((pin) => !before.includes(pin))
      expect(fresh).toHaveLength(1)
      const refs = (await kubo.ipfs('refs', fresh[0] ?? '')).split('\n')
      expect(refs.sort()).toEqual(blocks.map(({ hash }) => cidOf(hash)).sort())
    })

    test('erasing a block leaves its group whole', async () => {
      const store = open()
      const blocks = Array.from({ length: 5 }, randomBlock)
      const gone = blocks.slice(0, 2)
      const before = (await kubo.pins()).length
      await Promise.all(blocks.map(({ hash, bytes }) => store.put(hash, bytes)))
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

    test('refuses bytes of another hash', async () => {
      const { hash } = randomBlock()
      await expect(open().put(hash, randomBytes(10))).rejects.toThrow(TypeError)
    })

    test('notices a pin that fails in a 200 answer', async () => {
      const root = groupRoot([blockCid(randomBlock().hash)])
      await expect(node().pin(root, [])).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('could not find'),
      })
    })

    test('checks many blocks with one request', async () => {
      const asked: string[] = []
      const counting = await serveHttp(async (request, response) => {
        const url = request.url ?? ''
        asked.push(url)
        const answer = await fetch(kubo.apiUrl + url, { method: 'POST' })
        response.writeHead(answer.status)
        response.end(Buffer.from(await answer.arrayBuffer()))
      })
      const blocks = Array.from({ length: 200 }, randomBlock)
      const first = open()
      await Promise.all(blocks.map(({ hash, bytes }) => first.put(hash, bytes)))
      const hashes = blocks.map(({ hash }) => hash)
      const store = createKuboStore(node(counting.url), () => {})
      expect(await store.missing(hashes)).toEqual([])
      expect(asked).toHaveLength(1)
      const lost = randomBlock().hash
      expect(await store.missing([...hashes.slice(0, 5), lost])).toEqual([lost])
      // It does not query other sources.
      for (const url of asked) expect(url).toContain('offline=true')
      await counting.close()
    })

    test('does not mistake a failing node for one that lost blocks', async () => {
      const failing = await serveHttp((_, response) => {
        response.end(JSON.stringify({ Ref: '', Err: 'too many open files' }))
      })
      const store = createKuboStore(node(failing.url), () => {})
      await expect(store.missing([randomBlock().hash])).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      await failing.close()
    })

    test.each([
      ['import', 'pinned without having been', /^\/api\/v0\/dag\/import/],
      ['export', 'cut off', /^\/api\/v0\/dag\/export/],
    ])('%s %s', async (what, _, path) => {
      const { hash, bytes } = randomBlock()
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
      await expect(store.put(hash, bytes)).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      await liar.close()
    })

    test('refuses a node that announces its blocks, unless configured', async () => {
      const { hash, bytes } = randomBlock()
      await kubo.client.config.set('Provide.Enabled', true)
      const refused = {
        code: 'store_unavailable',
        message: expect.stringContaining('IPFS_ANNOUNCE'),
      }
      await expect(open().assertReady()).rejects.toMatchObject(refused)
      await expect(open().put(hash, bytes)).rejects.toMatchObject(refused)
      expect(await has(hash)).toBe(false)
      const told = createKuboStore(node(kubo.apiUrl, true), () => {})
      await told.put(hash, bytes)
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

      const onKubo = () => {
        const store = open()
        return { bare: store, erase: store.erase }
      }
      const inDatabase = () => {
        const store = createPayloadStore(database)
        return { bare: store, erase: store.delete }
      }

      test.each([
        ['Kubo', onKubo],
        ['SQLite', inDatabase],
      ])('an erased block does not come back: %s', async (_, make) => {
        const { bare, erase } = make()
        const tombstones = createTombstones(createIsErased(database))
        const store = tombstones.guardStore(bare, erase)
        const { hash, bytes } = randomBlock()
        await store.put(hash, bytes)
        await erase(hash)
        await bury(hash)
        await store.put(hash, bytes)
        expect(await store.get(hash)).toEqual({ status: 'erased' })
        expect(await bare.get(hash)).toEqual({ status: 'missing' })
        const elsewhere = tombstones.guardSource({
          get: async () => ({ status: 'found', bytes }),
        })
        expect(await elsewhere.get(hash)).toEqual({ status: 'erased' })

        const during = randomBlock()
        const putting = store.put(during.hash, during.bytes)
        await bury(during.hash)
        await putting
        expect(await bare.get(during.hash)).toEqual({ status: 'missing' })
      })

      test('reports neither erased payloads nor those of the older store as missing', async () => {
        const embedded = createPayloadStore(database)
        const kubo = open()
        const store = createTombstones(createIsErased(database)).guardStore(
          withOlder(kubo, embedded),
          kubo.erase,
        )
        const [erased, older, lost] = [randomBlock(), randomBlock(), randomBlock()]
        await bury(erased.hash)
        await embedded.put(older.hash, older.bytes)
        const hashes = [erased, older, lost].map(({ hash }) => hash)
        expect(await store.missing(hashes)).toEqual([lost.hash])
      })

      test('never keeps a promise without its payload', async () => {
        const outbox = createWholeOutbox(database)
        const nowhere = createKuboStore(node('http://127.0.0.1:1'), () => {})
        const { hash, bytes } = randomBlock()
        const documentHash = toHex(hash)
        const intent = { kind: 'issue', documentHash, validUntil: 0 } as const
        const sealed = { documentHash: hash, bytes }
        await expect(persistInOrder(nowhere, outbox).add(intent, sealed)).rejects.toMatchObject({
          code: 'store_unavailable',
        })
        expect(await outbox.find('issue', documentHash)).toBeUndefined()
        await persistInOrder(open(), outbox).add(intent, sealed)
        expect(await outbox.find('issue', documentHash)).toBeDefined()
        expect(await has(hash)).toBe(true)
      })

      test('still reads blocks stored before Kubo', async () => {
        const embedded = createPayloadStore(database)
        const store = withOlder(open(), embedded)
        const { hash, bytes } = randomBlock()
        await embedded.put(hash, bytes)
        expect(await store.get(hash)).toEqual({ status: 'found', bytes })
      })

      test.each([
        ['by the same gateway', (store: KuboStore) => store],
        ['after a restart', () => open()],
        ['by another gateway on the same node', () => open()],
      ])('a repeat %s leaves the payload of a final document pinned', async (_, next) => {
        const outbox = createWholeOutbox(database)
        const { hash, bytes } = randomBlock()
        const documentHash = toHex(hash)
        const intent = { kind: 'issue', documentHash, validUntil: 0 } as const
        const sealed = { documentHash: hash, bytes }
        const block = { blockNumber: 5, blockHash: toHex(randomBytes(32)) }
        const anchoring = { ...block, transactionHash: toHex(randomBytes(32)) }
        const outcome = { status: 'anchored', ...anchoring } as const
        const first = open()
        await persistInOrder(first, outbox).add(intent, sealed)
        const own = (await waitingFor(outbox)).filter(
          (one) => one.intent.documentHash === documentHash,
        )
        await outbox.resolve(own.map((one) => ({ ...one, outcome })))
        expect(await outbox.finish(block)).toMatchObject([{ intent }])
        expect(await persistInOrder(next(first), outbox).add(intent, sealed)).toBe(false)
        await collectGarbage()
        expect(await has(hash)).toBe(true)
      })
    })
  })

  describe('a gateway on Kubo', () => {
    let stack: Stack
    let gateway: BlockServer
    beforeAll(async () => {
      gateway = await startBlockServer()
      stack = await startStack({
        IPFS_API_URL: kubo.apiUrl,
        IPFS_GATEWAYS: gateway.url,
        IPFS_TIMEOUT_SECONDS: '1',
        WAIT_SECONDS: '5',
      })
    })
    afterEach(() => kubo.signal('SIGCONT'))
    afterAll(async () => {
      await stack.stop()
      await gateway.close()
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
      }).finally(() => set(spec))
      await other.stop()
      log.stop()
      for (const event of ['kubo_announces', 'kubo_not_durable'])
        expect(log.lines(event)).toMatchObject([{ level: 'warn', warning: expect.any(String) }])
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
      expect(await pinType(hash)).toMatch(/^indirect/)
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

    test('reads fall back to other gateways', async () => {
      const issued = await stack.issue(ADA)
      const hash = hashOf(issued)
      const read = await fetch(`${stack.url}/ipfs/${cidOf(hash)}?format=raw`)
      const bytes = new Uint8Array(await read.arrayBuffer())
      for (const pin of await kubo.pins()) await kubo.client.pin.rm(CID.parse(pin))
      await collectGarbage()
      expect((await stack.verify(issued.body.data.publicId)).status).toBe(503)
      gateway.set(hash, bytes)
      expect(await statusOf(issued)).toBe('valid')
    })

    test.each(['SIGSTOP', 'SIGKILL'] as const)(
      'answers 503 for %s, leaves nothing behind, and the retry works',
      async (signal) => {
        const issued = await stack.issue(ADA)
        const before = await issuedEvents()
        await kubo.signal(signal)
        const refused = await stack.issue(ADA)
        expect(refused.status).toBe(503)
        expect(refused.headers.get('retry-after')).toBeTruthy()
        expect(refused.body.error.code).toBe('store_unavailable')
        // Kubo is asked once a second.
        await expect.poll(ready).toMatchObject({
          status: 503,
          body: { error: { code: 'store_unavailable' } },
        })
        const unread = await stack.verify(issued.body.data.publicId)
        expect(unread.body.error.code).toBe('unverifiable')
        const block = await stack.request(`/ipfs/${cidOf(hashOf(issued))}?format=raw`)
        expect(block.status).toBe(503)

        if (signal === 'SIGSTOP') await kubo.signal('SIGCONT')
        else await kubo.start()
        expect((await stack.issue(ADA)).status).toBe(201)
        await expect.poll(async () => (await ready()).status).toBe(200)
        expect(await issuedEvents()).toBe(before + 1)
        expect(await statusOf(issued)).toBe('valid')
      },
    )

    test('killed and restarted under load, has the block of everything acknowledged', async () => {
      const before = await issuedEvents()
      const acknowledged: Answer[] = []
      let refused = 0
      let over = false
      const client = async () => {
        while (!over) {
          const answer = await stack.issue(ADA)
          if (answer.status === 201 || answer.status === 202) acknowledged.push(answer)
          else {
            expect(answer.body.error.code).toBe('store_unavailable')
            refused++
            await sleep(20)
          }
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

      expect(refused).toBeGreaterThan(0)
      expect(acknowledged.length).toBeGreaterThan(20)
      for (const issued of acknowledged) expect(await has(hashOf(issued))).toBe(true)
      const sample = acknowledged.filter((_, i) => i % 10 === 0)
      for (const issued of sample) {
        expect(await pinType(hashOf(issued))).toMatch(/^indirect/)
        await expect.poll(() => statusOf(issued)).toBe('valid')
      }
      // Each exactly once, and no refused one.
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
    await store.put(hash, bytes)
    expect(await store.get(hash)).toEqual({ status: 'found', bytes })
    for (const url of [guarded.apiUrl, `http://gateway:guess@${host}`]) {
      const error = await open(url)
        .put(hash, bytes)
        .catch((error) => error)
      expect(error.code).toBe('store_unavailable')
      expect(error.message).not.toContain('guess')
    }
    await guarded.remove()
  })

  test('a gateway does not start without its Kubo', async () => {
    const url = 'http://127.0.0.1:1'
    await expect(startStack({ IPFS_API_URL: url })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
  })
})
