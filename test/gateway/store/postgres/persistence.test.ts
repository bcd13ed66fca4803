import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { toHex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createOutbox, createPersistence } from '#store/outbox.ts'
import { createPayloadStore } from '#store/payloads.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

const folder = postgresFolder()
const ENTRY = { issuedOn: 1, validUntil: 0, subject: 1n, category: 2n, tenant: 3n }

describe.skipIf(folder === undefined)('payloads and promises of gateways on one database', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  async function openGateway(url: string) {
    const database = await openPostgres(url, createLog('silent'))
    onTestFinished(() => database.close())
    const outbox = createOutbox(database, {})
    const store = createPayloadStore(database)
    return {
      database,
      outbox,
      store,
      persistence: createPersistence(database, store, outbox),
    }
  }

  test('behavior: a withdrawal at one gateway takes no payload from the promise of another', async () => {
    const url = await server.newDatabase()
    const [one, two] = [await openGateway(url), await openGateway(url)]
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    const hash = new Uint8Array(randomBytes(32))
    const intent: Intent = { kind: 'issue', documentHash: toHex(hash), validUntil: 0 }
    const sealed = { documentHash: hash, bytes: new Uint8Array(randomBytes(300)), entry: ENTRY }
    await one.persistence.add(intent, sealed)

    await client.query('BEGIN')
    await client.query('SELECT 1 FROM block FOR UPDATE')
    // Not in the transaction, which would see its first reading again.
    const blocked = async () => {
      const [row] = await two.database.query(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
      )
      return Number(row?.n)
    }
    const withdrawn = one.persistence.withdraw([intent])
    await expect.poll(blocked).toBe(1)
    const added = two.persistence.add(intent, sealed, true)
    await expect.poll(blocked).toBe(2)
    await client.query('COMMIT')
    await Promise.all([withdrawn, added])
    expect(await two.outbox.find('issue', intent.documentHash)).toMatchObject({ promised: true })
    expect(await two.store.get(hash)).toMatchObject({ status: 'found' })
  })
})
