import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { toHex } from '#document/hex.ts'
import { lockOfBatch } from '#promise/lock.ts'
import { createBatchDrafts } from '#store/batch-drafts.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createSessions } from '#store/drivers/postgres/session.ts'
import { createPayloadStore } from '#store/payloads.ts'

import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

const folder = postgresFolder()
const log = createLog('silent')
const bytes = (length: number) => new Uint8Array(randomBytes(length))

describe.skipIf(folder === undefined)('drafts of batches of several gateways', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  test('a start deletes the drafts that no gateway uses', async () => {
    const url = await server.newDatabase()
    const database = await openPostgres(url, log)
    onTestFinished(() => database.close())
    const locks = createSessions({ url, log, termMs: 10_000, shared: database })
    const store = createPayloadStore(database)
    const [worked, left] = [bytes(32), bytes(32)]
    const blocks = [worked, left].map(() => ({ hash: bytes(32), bytes: bytes(100) }))
    const drafts = createBatchDrafts(database, { locks, isSole: false })
    await drafts.put(worked, blocks.slice(0, 1))
    await drafts.put(left, blocks.slice(1))
    const lock = await locks.take(lockOfBatch(toHex(worked)))

    const statuses = () =>
      Promise.all(blocks.map(async ({ hash }) => (await store.get(hash)).status))
    expect(await drafts.discardAll(new AbortController().signal)).toBe(1)
    expect(await statuses()).toEqual(['found', 'missing'])
    await lock?.release()
    // The server frees it soon.
    await expect.poll(() => drafts.discardAll(new AbortController().signal)).toBe(1)
    expect(await statuses()).toEqual(['missing', 'missing'])
  })
})
