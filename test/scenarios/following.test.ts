import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { LOCK_CLASS, lockNumberOf } from '#store/drivers/postgres/session.ts'
import { LEADER } from '#store/stores.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts'
import { ADA, type Stack, startStack } from '../support/stack.ts'

const folder = postgresFolder()
const IDLE = { outage: null, isClosed: false, queued: 0, refused: 0, inFlight: 0 }

describe.skipIf(folder === undefined)('a gateway while another one leads', () => {
  let postgres: PostgresServer
  let client: pg.Client
  let stack: Stack
  beforeAll(async () => {
    postgres = await startPostgres(folder ?? '')
    const url = await postgres.newDatabase()
    await (await openPostgres(url, createLog('silent'))).close()
    client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('SELECT pg_advisory_lock($1, $2)', [LOCK_CLASS, lockNumberOf(LEADER)])
    await tell({})
    stack = await startStack({ DATABASE_URL: url, WAIT_SECONDS: '5' })
  })
  afterAll(async () => {
    await stack.stop()
    await client.end()
    await postgres.remove()
  })

  async function tell(state: object): Promise<void> {
    const text = JSON.stringify({ ...IDLE, spentLastHour: '0', ...state })
    await client.query(
      `INSERT INTO leader (id, state, written_at)
       VALUES (1, $1, extract(epoch FROM clock_timestamp()) * 1000)
       ON CONFLICT (id) DO UPDATE SET state = $1, written_at = excluded.written_at`,
      [text],
    )
  }
  const answer = async () => {
    const { status, body } = await stack.issue(ADA, { prefer: 'respond-async' })
    return [status, body.error?.code ?? body.data?.status]
  }

  test('accepts documents, and refuses them when the leader would', async () => {
    expect(await answer()).toEqual([202, 'pending'])
    await tell({ queued: 20_000 })
    await expect.poll(answer).toEqual([503, 'overloaded'])
    await tell({ outage: { code: 'fee_too_high', message: 'the price of gas' } })
    await expect.poll(answer).toEqual([503, 'fee_too_high'])
    await tell({})
    await expect.poll(answer).toEqual([202, 'pending'])
  })

  test('refuses documents when the leader was silent for 15 s', async () => {
    await tell({})
    await expect.poll(answer, { interval: 500 }).toEqual([503, 'store_unavailable'])
  })

  test('leads once the leader has gone', async () => {
    await tell({})
    await client.query('SELECT pg_advisory_unlock_all()')
    const issued = async () => (await stack.issue(ADA)).body.data?.status
    await expect.poll(issued).toBe('valid')
  })
})
