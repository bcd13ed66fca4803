import { Wallet } from 'ethers'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { createKeySigner } from '#chain/signer.ts'
import { leaseOfAccount } from '#promise/lease.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

const folder = postgresFolder()

describe.skipIf(folder === undefined)('a gateway whose account another one has', () => {
  let postgres: PostgresServer
  let client: pg.Client
  let stack: Stack
  beforeAll(async () => {
    postgres = await startPostgres(folder ?? '')
    const url = await postgres.newDatabase()
    await (await openPostgres(url, createLog('silent'))).close()
    client = new pg.Client({ connectionString: url })
    await client.connect()
    stack = await startStack({ DATABASE_URL: url, WAIT_SECONDS: '5' }, async (key) => {
      const account = new Wallet(key).address.toLowerCase() as `0x${string}`
      await client.query('INSERT INTO lease (name, token, expires_at) VALUES ($1, 1, 1e15)', [
        leaseOfAccount(account),
      ])
      return createKeySigner(key)
    })
  })
  afterAll(async () => {
    await stack.stop()
    await client.end()
    await postgres.remove()
  })

  test('behavior: promises documents for the others, but not without a limit', async () => {
    const { status, body } = await stack.issue(ADA, { prefer: 'respond-async' })
    expect([status, body.data?.status]).toEqual([202, 'pending'])
    await client.query(`
      INSERT INTO intent (kind, document_hash, valid_until)
      SELECT 'issue', sha256(i::text::bytea), 0 FROM generate_series(1, 10000) AS i`)
    const refused = async () => (await stack.issue(ADA, { prefer: 'respond-async' })).body.error
    await expect.poll(refused, { timeout: 10_000 }).toMatchObject({ code: 'overloaded' })
    await client.query('DELETE FROM intent WHERE kind = $1', ['issue'])
    await expect.poll(refused, { timeout: 10_000 }).toBeUndefined()
  }, 60_000)
})
