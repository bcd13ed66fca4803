import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import { type Lock, LockLost, lockOfBatch } from '#promise/lock.ts'
import type { MirrorRows, Unpinned } from '#promise/ports.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { describePorts } from '#test/support/databases.ts'
import { missingIn } from '#test/support/payloads.ts'

const hash = (): Hex => toHex(randomBytes(32))
const block = () => ({ hash: new Uint8Array(randomBytes(32)), bytes: new Uint8Array(20) })
const ENTRY = { issuedOn: 1, validUntil: 0, subject: 1n, category: 2n, tenant: 'default' }

describePorts('batches before and after their promise', (ports) => {
  let stores: DatabaseStores
  let drafts: DatabaseStores['batchDrafts']
  beforeEach(() => {
    stores = ports.stores
    drafts = stores.batchDrafts
  })

  /** A request that has stored two blocks and two documents of a batch. */
  async function drafted() {
    const request = new Uint8Array(randomBytes(32))
    const batch = { root: hash(), size: 2, manifest: hash(), tenant: 'default' }
    const blocks = [block(), block()]
    const documents = [hash(), hash()]
    await stores.batchLog.claim(request, { content: new Uint8Array(32), checkedAt: 1 })
    await drafts.put(request, blocks)
    const entry = { ...ENTRY, batchBlock: hash() }
    await drafts.index(
      request,
      batch,
      documents.map((documentHash) => ({ documentHash, entry })),
    )
    return { request, batch, blocks, documents }
  }
  async function promise(request: Uint8Array, batch: Omit<KnownBatch, 'id'>): Promise<boolean> {
    const lock = (await stores.shared.locks.take(lockOfBatch(batch.root))) as Lock
    try {
      return await stores.batchLog.promise(request, batch, lock)
    } finally {
      await lock.release()
    }
  }
  const missing = async (blocks: readonly { hash: Uint8Array }[]) =>
    (
      await missingIn(
        stores.embedded,
        blocks.map((one) => one.hash),
      )
    ).length
  const counts = async () => [
    await ports.count('record'),
    await ports.count('batch'),
    await ports.count('batch_draft'),
  ]

  test('a batch is visible from its promise on, and is promised once', async () => {
    const { request, batch, documents } = await drafted()
    const listed = async () =>
      (await stores.documentIndex.page({ limit: 9 })).documents.map((one) => one.documentHash)
    expect([await listed(), await stores.batchLog.get(batch.root)]).toEqual([[], undefined])
    expect(await promise(request, batch)).toBe(true)
    expect(await promise(request, batch)).toBe(false)
    expect(await listed()).toEqual(documents.toReversed())
    expect(await stores.batchLog.list('default', undefined, 9)).toMatchObject([batch])
    expect(await stores.batchLog.list('another', undefined, 9)).toEqual([])
    expect(await stores.batchLog.find(request)).toMatchObject({ isPromised: true })
    expect(await stores.outbox.find('issue', batch.root)).toMatchObject({
      outcome: { status: 'pending' },
    })
  })

  test('its payloads are to be pinned once it is promised, if there is a Kubo node', async () => {
    const mirror = (await stores.shared.lead())?.mirror as MirrorRows
    const without = await drafted()
    await promise(without.request, without.batch)
    await mirror.begin()
    const all = (await mirror.next()) as Unpinned
    expect(all.payloads).toHaveLength(2)
    await mirror.done(all, new Uint8Array(36))
    await mirror.done((await mirror.next()) as Unpinned, undefined)
    const { request, batch, blocks } = await drafted()
    expect(await mirror.next()).toBeUndefined()
    await promise(request, batch)
    const some = await mirror.next()
    expect(some?.payloads.map(({ hash }) => toHex(hash)).sort()).toEqual(
      blocks.map(({ hash }) => toHex(hash)).sort(),
    )
    expect(await stores.mirrorLag()).toBeGreaterThanOrEqual(0)
    await mirror.done(some as Unpinned, new Uint8Array(37))
    expect([await mirror.next(), await stores.mirrorLag()]).toEqual([undefined, 0])
    expect(toHex((await mirror.root()) as Uint8Array)).toBe(toHex(new Uint8Array(37)))
    await mirror.forget()
    expect([await mirror.root(), await stores.mirrorLag()]).toEqual([undefined, undefined])
    await stores.shared.leave()
  })

  test('the documents of a batch have the time of its promise', async () => {
    const before = Math.floor(Date.now() / 1000)
    const { request, batch, documents } = await drafted()
    await promise(request, batch)
    const [one] = documents as [Hex]
    const createdAt = async () => (await stores.documentIndex.find(one))?.createdAt
    expect(await createdAt()).toBeGreaterThanOrEqual(before)
    await ports.run(`UPDATE batch SET promised_at = ${10 * 86_400}`)
    await promise(request, batch)
    expect(await createdAt()).toBe(10 * 86_400)
    const found = async (days: { createdFrom?: number; createdTo?: number }) =>
      (await stores.documentIndex.page({ ...days, limit: 9 })).documents.length
    expect([await found({ createdFrom: 10, createdTo: 10 }), await found({})]).toEqual([2, 2])
    expect([await found({ createdFrom: 11 }), await found({ createdTo: 9 })]).toEqual([0, 0])
  })

  test('a restored batch with an unknown tenant gets that of its request', async () => {
    const restored = { root: hash(), size: 2, manifest: hash(), tenant: '' }
    const request = new Uint8Array(randomBytes(32))
    const tenantOf = async () => (await stores.batchLog.get(restored.root))?.tenant
    await promise(request, restored)
    expect(await tenantOf()).toBe('')
    for (const tenant of ['one', 'two']) {
      await promise(request, { ...restored, tenant })
      expect(await tenantOf()).toBe('one')
    }
  })

  test('of several drafts of one request the first counts', async () => {
    const request = new Uint8Array(randomBytes(32))
    const contents = [1, 2, 3].map((i) => new Uint8Array(32).fill(i))
    const claims = await Promise.all(
      contents.map((content, i) => stores.batchLog.claim(request, { content, checkedAt: i })),
    )
    expect(new Set(claims.map(({ checkedAt }) => checkedAt)).size).toBe(1)
    expect(await stores.batchLog.find(request)).toMatchObject({ isPromised: false })
  })

  test('a draft is deleted with only its own blocks', async () => {
    const before = block()
    await stores.embedded.put(before.hash, before.bytes)
    const [lost, other] = [await drafted(), await drafted()]
    await drafts.put(lost.request, [before])
    await drafts.discard(lost.request)
    expect(await missing(lost.blocks)).toBe(2)
    expect(await missing([...other.blocks, before])).toBe(0)
    expect((await counts()).slice(0, 2)).toEqual([2, 1])
  })

  test('only the notes of a promised batch are deleted', async () => {
    const { request, batch, blocks } = await drafted()
    await promise(request, batch)
    await drafts.put(request, blocks)
    await drafts.discard(request)
    expect(await missing(blocks)).toBe(0)
    expect(await counts()).toEqual([2, 1, 0])
  })

  test('refuses a promise after another gateway has taken the request over', async () => {
    const { locks } = stores.shared
    const { request, batch } = await drafted()
    const lock = (await locks.take('batch')) as Lock
    await lock.release()
    let next: Lock | undefined
    // The server frees it soon.
    while (!next) next = await locks.take('batch')
    await expect(stores.batchLog.promise(request, batch, lock)).rejects.toThrow(LockLost)
    expect(await stores.outbox.find('issue', batch.root)).toBeUndefined()
    expect(await stores.batchLog.promise(request, batch, next)).toBe(true)
    await next.release()
  })
})
