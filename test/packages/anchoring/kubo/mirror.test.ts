import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import { blockCid } from '#kubo/group.ts'
import { startMirror } from '#kubo/mirror.ts'
import { createKuboNode } from '#kubo/node.ts'
import { createKuboStore, type KuboStore } from '#kubo/store.ts'
import type { MirrorRows } from '#promise/ports.ts'
import { openSqlite, type SqliteDatabase } from '#store/drivers/sqlite/driver.ts'
import { createScrubber } from '#store/drivers/sqlite/scrub.ts'
import { openErasureList } from '#store/erasure-list.ts'
import { createErasures } from '#store/erasures.ts'
import { createMirrorRows, mirrorHealth, mirrorLag } from '#store/mirror.ts'
import { createIsErased, createPayloadStore } from '#store/payloads.ts'
import { createKubo, type Kubo, kuboBinary } from '../../../support/kubo.ts'

const binary = await kuboBinary()

const randomBlock = () => {
  const bytes = new Uint8Array(randomBytes(300))
  const hash = new Uint8Array(createHash('sha256').update(bytes).digest())
  return { hash, bytes, documentHash: toHex(hash) }
}
type Block = ReturnType<typeof randomBlock>

describe.skipIf(binary === undefined)('the mirror', () => {
  let kubo: Kubo
  let folder: string
  let database: SqliteDatabase
  beforeAll(async () => {
    kubo = await createKubo(binary ?? '')
    await kubo.start()
  })
  afterAll(() => kubo.remove())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mirror-'))
    database = openSqlite(join(folder, 'gateway.db'))
    onTestFinished(async () => {
      await database.close()
      rmSync(folder, { recursive: true })
    })
  })

  let warnings: string[] = []
  const log = {
    debug() {},
    info() {},
    warn: (event: string) => void warnings.push(event),
    error() {},
  }
  const storeOn = (node = kubo) =>
    createKuboStore(createKuboNode(node.apiUrl, 2_000, false), () => {})
  /** Starts it until the end of the test. */
  function start({
    rows,
    kubo = storeOn(),
    isErased = createIsErased(database),
  }: {
    rows?: Partial<MirrorRows>
    kubo?: KuboStore
    isErased?: (hash: Uint8Array) => Promise<boolean>
  } = {}) {
    const stop = startMirror({
      rows: { ...createMirrorRows(database), ...rows },
      kubo,
      isErased,
      log,
    })
    onTestFinished(stop)
    return stop
  }
  const lag = () => database.snapshot(mirrorLag)
  const put = async (count: number) => {
    const blocks = Array.from({ length: count }, randomBlock)
    const payloads = createPayloadStore(database)
    await Promise.all(blocks.map(({ hash, bytes }) => payloads.put(hash, bytes)))
    return blocks
  }
  const arePinned = async (blocks: readonly Block[], node = kubo) => {
    const pinned = new Set<string>()
    try {
      for await (const { cid } of node.client.pin.ls({ type: 'all' })) pinned.add(String(cid))
    } catch {}
    return blocks.every(({ hash }) => pinned.has(String(blockCid(hash))))
  }
  const rootsOf = async ({ hash }: Block) => {
    const roots: string[] = []
    for (const pin of await kubo.pins()) {
      const refs = await kubo.ipfs('refs', pin)
      if (refs.includes(String(blockCid(hash)))) roots.push(pin)
    }
    return roots
  }
  const losePins = async () => {
    for (const pin of await kubo.pins()) await kubo.client.pin.rm(CID.parse(pin))
    for await (const { err } of kubo.client.repo.gc()) if (err) throw err
  }
  const erasures = () =>
    createErasures(database, createScrubber(database), openErasureList(join(folder, 'list')))

  test('pins what is there when a node is added, and then what comes, in groups', async () => {
    const before = await put(450)
    const pins = (await kubo.pins()).length
    start()
    await expect.poll(() => arePinned(before)).toBe(true)
    await expect.poll(lag).toBe(0)
    expect((await kubo.pins()).length - pins).toBe(3)
    const after = await put(230)
    expect(await lag()).toBeGreaterThanOrEqual(0)
    await expect.poll(() => arePinned(after)).toBe(true)
    expect(await rootsOf(before[0] as Block)).toHaveLength(1)
  })

  test('pins everything anew on a node that has lost its pins, or is another one', async () => {
    const blocks = await put(5)
    const stop = start()
    await expect.poll(() => arePinned(blocks)).toBe(true)
    await expect.poll(lag).toBe(0)
    await stop()
    await losePins()
    expect(await arePinned(blocks)).toBe(false)
    const next = start()
    await expect.poll(() => arePinned(blocks)).toBe(true)
    await next()
    expect(warnings).toContain('pins_lost')

    const other = await createKubo(binary ?? '')
    await other.start()
    onTestFinished(() => other.remove())
    start({ kubo: storeOn(other) })
    await expect.poll(() => arePinned(blocks, other)).toBe(true)
  })

  test('a node that lost its pins gets them back without a restart, also when it was away', async () => {
    const blocks = await put(3)
    start()
    await expect.poll(() => arePinned(blocks)).toBe(true)
    await expect.poll(lag).toBe(0)
    await losePins()
    await expect.poll(() => arePinned(blocks)).toBe(true)
    await expect.poll(lag).toBe(0)
    await losePins()
    warnings = []
    await kubo.signal('SIGKILL')
    const late = await put(1)
    await expect.poll(() => warnings.includes('payloads_not_pinned')).toBe(true)
    await kubo.start()
    await expect.poll(() => arePinned([...blocks, ...late])).toBe(true)
  })

  test('goes on from an older database', async () => {
    const old = await put(3)
    const stop = start()
    await expect.poll(() => arePinned(old)).toBe(true)
    await stop()
    const path = join(folder, 'gateway.db')
    await database.close()
    copyFileSync(path, join(folder, 'backup.db'))
    database = openSqlite(path)
    const lost = await put(2)
    const next = start()
    await expect.poll(() => arePinned(lost)).toBe(true)
    await next()
    await database.close()
    database = openSqlite(join(folder, 'backup.db'))
    const later = await put(2)
    start()
    await expect.poll(() => arePinned(later)).toBe(true)
    expect(await arePinned([...old, ...lost])).toBe(true)
    expect(await rootsOf(old[0] as Block)).toHaveLength(1)
  })

  test.each(['this', 'another'] as const)(
    'never leaves a payload pinned that is erased between reading and pinning (%s gateway)',
    async (who) => {
      const [erased, kept] = (await put(2)) as [Block, Block]
      const rows = createMirrorRows(database)
      const store = storeOn()
      let erasing: Promise<unknown> | undefined
      start({
        kubo: store,
        rows: {
          async next() {
            const some = await rows.next()
            if (some && !erasing) {
              await erasures().begin(erased.documentHash, 'default')
              erasing = (who === 'this' ? store : storeOn()).erase(erased.hash)
              if (who === 'another') await erasing
            }
            return some
          },
        },
      })
      await expect.poll(() => arePinned([kept])).toBe(true)
      await erasing
      await expect.poll(lag).toBe(0)
      expect(await store.get(erased.hash)).toEqual({ status: 'missing' })
      expect(await rootsOf(kept)).toHaveLength(1)
    },
  )

  test('a kill between the pin and its note pins twice, and erasing removes both', async () => {
    const [block] = (await put(1)) as [Block]
    const killed = start({ rows: { done: () => Promise.reject(new Error('killed')) } })
    await expect.poll(() => arePinned([block])).toBe(true)
    await killed()
    const stop = start()
    await expect.poll(lag).toBe(0)
    expect((await rootsOf(block)).length).toBeGreaterThan(1)
    // It would take an erasure without a tombstone for a lost pin.
    await stop()
    const store = storeOn()
    expect(await store.erase(block.hash)).toBe(true)
    expect([await rootsOf(block), await store.get(block.hash)]).toEqual([[], { status: 'missing' }])
  })

  test('unpins what was erased before a killed gateway pinned it', async () => {
    await put(1)
    const stop = start()
    await expect.poll(lag).toBe(0)
    await stop()
    const [erased, kept] = (await put(2)) as [Block, Block]
    const store = storeOn()
    const killed = start({
      kubo: {
        ...store,
        async pin(payloads) {
          await erasures().begin(erased.documentHash, 'default')
          return store.pin(payloads)
        },
      },
      isErased: () => Promise.reject(new Error('killed')),
    })
    await expect.poll(() => arePinned([erased, kept])).toBe(true)
    await killed()
    start()
    await expect.poll(lag).toBe(0)
    expect(await store.get(erased.hash)).toEqual({ status: 'missing' })
    expect(await arePinned([kept])).toBe(true)
  })

  test('an erasure from the newest group does not look like a lost pin', async () => {
    const [erased, kept] = (await put(2)) as [Block, Block]
    const store = storeOn()
    const stop = start({ kubo: store })
    await expect.poll(() => arePinned([erased, kept])).toBe(true)
    await expect.poll(lag).toBe(0)
    await erasures().begin(erased.documentHash, 'default')
    await store.erase(erased.hash)
    const root = () => createMirrorRows(database).root()
    const old = await root()
    await expect.poll(root).not.toEqual(old)
    await stop()
    warnings = []
    start()
    const [late] = await put(1)
    await expect.poll(() => arePinned([late as Block])).toBe(true)
    expect(warnings).toEqual([])
    expect(await rootsOf(kept)).toHaveLength(1)
  })

  test('leaves out a damaged payload', async () => {
    const [damaged, good] = (await put(2)) as [Block, Block]
    const { sqlite } = database
    sqlite.prepare('UPDATE payload SET bytes = ? WHERE hash = ?').run(randomBytes(9), damaged.hash)
    start()
    await expect.poll(() => arePinned([good])).toBe(true)
    await expect.poll(lag).toBe(0)
    expect(await arePinned([damaged])).toBe(false)
  })

  test('tells when payloads wait for more than five minutes', async () => {
    const rows = createMirrorRows(database)
    expect(await lag()).toBeUndefined()
    await put(1)
    expect(await database.snapshot(mirrorHealth)).toEqual([])
    const away = createKuboStore(createKuboNode('http://127.0.0.1:1', 500, false), () => {})
    const stop = start({ kubo: away })
    await expect.poll(lag).toBeGreaterThan(0)
    await stop()
    expect(await database.snapshot(mirrorHealth)).toEqual([])
    database.sqlite.prepare('UPDATE mirror SET since = since - 400000').run()
    expect(await lag()).toBeGreaterThan(400_000)
    expect(await database.snapshot(mirrorHealth)).toMatchObject([
      { outcome: 'warn', message: expect.stringContaining('6 minutes') },
    ])
    // A start without a node forgets it, and the next one with a node pins everything.
    await rows.forget()
    expect([await lag(), await database.snapshot(mirrorHealth)]).toEqual([undefined, []])
  })
})
