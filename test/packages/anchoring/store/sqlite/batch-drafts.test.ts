import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { actionOfBatch, type KnownBatch } from '#promise/batch-log.ts'
import type { ListedStatus } from '#promise/document-index.ts'
import type { Lock } from '#promise/lock.ts'
import { createBatchDrafts } from '#store/batch-drafts.ts'
import { createBatchLog } from '#store/batches.ts'
import { createSoleSessions } from '#store/database.ts'
import { type SqliteDatabase as Database, openSqlite } from '#store/drivers/sqlite/driver.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { createDocumentIndex } from '#store/records.ts'
import { createWholeOutbox } from '#test/support/outbox.ts'
import { missingIn } from '#test/support/payloads.ts'
import { anchoredAt, placeIn, resolve } from '../ports/given.ts'

let dir: string
let database: Database
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'batch-drafts-'))
  database = openSqlite(join(dir, 'gateway.db'))
})
afterEach(async () => {
  await database.close()
  rmSync(dir, { recursive: true })
})

const hash = (): Hex => toHex(randomBytes(32))
const block = () => ({ hash: randomBytes(32), bytes: randomBytes(20) })
const going = new AbortController().signal

const locks = () => createSoleSessions(database)

function open() {
  const store = createPayloadStore(database)
  const outbox = createWholeOutbox(database)
  return {
    store,
    outbox,
    drafts: createBatchDrafts(database, { locks: locks(), isSole: true }),
    log: createBatchLog(database),
    index: createDocumentIndex(database),
  }
}

async function promise(
  { log }: ReturnType<typeof open>,
  request: Uint8Array,
  batch: Omit<KnownBatch, 'id'>,
): Promise<boolean> {
  const lock = (await locks().take('a batch')) as Lock
  try {
    return await log.promise(request, batch, lock)
  } finally {
    await lock.release()
  }
}

/** A request that has stored two blocks and two documents of a batch. */
async function drafted(parts: ReturnType<typeof open>) {
  const request = randomBytes(32)
  const batch = { root: hash(), size: 2, manifest: hash(), tenant: 'default' }
  const blocks = [block(), block()]
  const documents = [hash(), hash()]
  await parts.log.claim(request, { content: randomBytes(32), checkedAt: 1 })
  await parts.drafts.put(request, blocks)
  await parts.drafts.index(
    request,
    batch,
    documents.map((documentHash) => ({
      documentHash,
      entry: {
        issuedOn: 1,
        validUntil: 0,
        subject: 1n,
        category: 2n,
        tenant: 'default',
        batchBlock: hash(),
      },
    })),
  )
  return { request, batch, blocks, documents }
}

const rowsIn = (table: string) =>
  Number(database.sqlite.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n)

describe('what is stored before the promise', () => {
  test('is in the index from the promise on, with the block of its batch', async () => {
    const parts = open()
    const { request, batch, documents } = await drafted(parts)
    const listed = async (status?: ListedStatus) =>
      (await parts.index.page({ limit: 9, status })).documents.map((one) => one.documentHash)
    expect(await listed()).toEqual([])
    expect(await parts.index.find(documents[0] as Hex)).toBeUndefined()
    expect(await parts.log.list(null, undefined, 9)).toEqual([])

    expect(await promise(parts, request, batch)).toBe(true)
    expect(await promise(parts, request, batch)).toBe(false)
    expect(await listed()).toEqual(documents.toReversed())
    expect(await listed('pending')).toEqual(documents.toReversed())
    expect(await listed('valid')).toEqual([])
    const anchor = (action: Action, blockNumber: number) =>
      resolve(parts.outbox, action, anchoredAt(placeIn(blockNumber)))
    await anchor(actionOfBatch(batch), 7)
    expect(await parts.index.find(documents[0] as Hex)).toMatchObject({ blockNumber: 7 })
    expect([await listed('pending'), (await listed('valid')).length]).toEqual([[], 2])

    const change = { documentHash: batch.root, root: batch.root }
    await parts.outbox.add({ kind: 'suspend', ...change })
    await anchor({ kind: 'suspend', ...change }, 8)
    expect([(await listed('suspended')).length, await listed('valid')]).toEqual([2, []])
    const page = await parts.index.page({ limit: 9, status: 'suspended', subject: [1n] })
    expect(page.documents.length).toBe(2)
    await parts.outbox.add({ kind: 'release', ...change })
    await anchor({ kind: 'release', ...change }, 9)
    expect([await listed('suspended'), (await listed('valid')).length]).toEqual([[], 2])
  })

  test('is deleted when its batch was not promised', async () => {
    const parts = open()
    const { request, blocks } = await drafted(parts)
    const other = await drafted(parts)
    await parts.drafts.discard(request)
    expect(
      await missingIn(
        parts.store,
        blocks.map((one) => one.hash),
      ),
    ).toHaveLength(2)
    expect(
      await missingIn(
        parts.store,
        other.blocks.map((one) => one.hash),
      ),
    ).toEqual([])
    expect([rowsIn('record'), rowsIn('batch')]).toEqual([2, 1])
  })

  test('returns the erased documents', async () => {
    const parts = open()
    const [erased, other] = [hash(), hash()] as const
    database.sqlite.prepare('INSERT INTO tombstone VALUES (?)').run(fromHex(erased))
    const batch = { root: hash(), size: 2, manifest: hash(), tenant: 'default' }
    const entry = { issuedOn: 1, validUntil: 0, subject: 1n, category: 2n, tenant: 'default' }
    const found = await parts.drafts.index(
      randomBytes(32),
      batch,
      [erased, other].map((documentHash) => ({ documentHash, entry })),
    )
    expect(found).toEqual(new Set([erased]))
  })

  test('a start deletes it unless its batch was promised', async () => {
    const before = open()
    const lost = await drafted(before)
    const kept = await drafted(before)
    await promise(before, kept.request, kept.batch)
    await database.close()
    database = openSqlite(join(dir, 'gateway.db'))
    const parts = open()
    expect(await parts.drafts.discardAll(going)).toBe(2)
    expect(
      await missingIn(
        parts.store,
        kept.blocks.map((one) => one.hash),
      ),
    ).toEqual([])
    expect(
      await missingIn(
        parts.store,
        lost.blocks.map((one) => one.hash),
      ),
    ).toHaveLength(2)
    expect([rowsIn('record'), rowsIn('batch'), rowsIn('batch_draft')]).toEqual([2, 1, 0])
    expect(await parts.drafts.discardAll(going)).toBe(0)
  })

  test('an existing block stays', async () => {
    const parts = open()
    const shared = block()
    await parts.store.put(shared.hash, shared.bytes)
    const request = randomBytes(32)
    await parts.drafts.put(request, [shared, block()])
    await parts.drafts.discard(request)
    expect(rowsIn('payload')).toBe(1)
    expect(await missingIn(parts.store, [shared.hash])).toEqual([])
  })

  test('an existing block stays, also when it was stored again', async () => {
    const parts = open()
    const shared = block()
    await parts.store.put(shared.hash, shared.bytes)
    const request = randomBytes(32)
    await parts.drafts.put(request, [block(), shared])
    expect(await parts.store.get(shared.hash)).toMatchObject({ status: 'found' })
    await parts.drafts.discard(request)
    expect(rowsIn('payload')).toBe(1)
    expect(await missingIn(parts.store, [shared.hash])).toEqual([])
  })

  test('a repeat stores no block again', async () => {
    const parts = open()
    const { request, batch, blocks } = await drafted(parts)
    await promise(parts, request, batch)
    await parts.drafts.put(request, blocks)
    await parts.drafts.discard(request)
    expect([rowsIn('payload'), rowsIn('batch_draft')]).toEqual([2, 0])
  })

  test('deletes only what the request itself stored, whoever writes meanwhile', async () => {
    const parts = open()
    const [one, other] = [randomBytes(32), randomBytes(32)]
    const many = () => Array.from({ length: 200 }, block)
    const [ofOne, ofOther, alone] = [many(), many(), block()]
    await Promise.all([
      parts.drafts.put(one, ofOne),
      parts.store.put(alone.hash, alone.bytes),
      parts.drafts.put(other, ofOther),
    ])
    await parts.drafts.discard(one)
    expect(
      await missingIn(
        parts.store,
        ofOne.map(({ hash }) => hash),
      ),
    ).toHaveLength(200)
    expect(
      await missingIn(
        parts.store,
        [...ofOther, alone].map(({ hash }) => hash),
      ),
    ).toEqual([])
  })
})
