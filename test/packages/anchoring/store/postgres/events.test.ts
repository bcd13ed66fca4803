import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { toHex } from '#document/hex.ts'
import type { EventType } from '#events/events.ts'
import { lockOutcomes } from '#store/database.ts'
import type { Query } from '#store/drivers/postgres/connection.ts'
import { openPostgres, type Postgres } from '#store/drivers/postgres/database.ts'
import { runWork } from '#store/drivers/postgres/statements.ts'
import { createEventLog } from '#store/events.ts'
import { appendEvents } from '#store/outcomes.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

const folder = postgresFolder()

describe.skipIf(folder === undefined)('events of several gateways', () => {
  let server: PostgresServer
  let database: Postgres
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
    database = await openPostgres(await server.newDatabase(), createLog('silent'))
  })
  afterAll(async () => {
    await database.close()
    await server.remove()
  })

  const append = (query: Query, type: EventType) =>
    runWork(query, function* () {
      yield* lockOutcomes()
      yield* appendEvents([
        { type, hash: toHex(randomBytes(32)), place: null, tenant: null, hasOwner: false },
      ])
    })

  test('a reader with a cursor misses no event of a slower transaction', async () => {
    const log = createEventLog(database)
    const written = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const slow = database.transaction(async (query) => {
      await append(query, 'document.issued')
      written.resolve()
      await mayCommit.promise
    })
    await written.promise
    let isFastDone = false
    const fast = database
      .transaction((query) => append(query, 'document.revoked'))
      .then(() => {
        isFastDone = true
      })
    // The second waits for the first: with numbers alone it would be committed before it.
    await expect
      .poll(async () => {
        const [row] = await database.query(
          "SELECT count(*) AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
        )
        return row?.waiting
      })
      .toBe(1)
    expect(await log.read({ limit: 10 })).toMatchObject({ events: [] })
    await sleep(50)
    expect(isFastDone).toBe(false)
    mayCommit.resolve()
    await Promise.all([slow, fast])
    const page = await log.read({ limit: 10 })
    expect(page).toMatchObject({
      events: [{ type: 'document.issued' }, { type: 'document.revoked' }],
    })
  })
})
