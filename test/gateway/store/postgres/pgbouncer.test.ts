import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { DatabaseUrlError } from '#store/drivers/postgres/errors.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { ADA, type Stack, startStack } from '#test/support/stack.ts'
import { type PoolMode, pgbouncerProgram, startPgbouncer } from './pgbouncer.ts'

const program = pgbouncerProgram()

describe.skipIf(program === undefined)('PostgreSQL through PgBouncer', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(postgresFolder() ?? '')
  })
  afterAll(() => server.remove())

  /** @returns The URL of a new database. */
  async function through(mode: PoolMode): Promise<string> {
    const pooler = await startPgbouncer(program ?? '', await server.newDatabase(), mode)
    onTestFinished(() => pooler.stop())
    return pooler.url
  }

  async function open(url: string) {
    const database = await openPostgres(url, createLog('silent'))
    onTestFinished(() => database.close())
    return database
  }

  test('default: in session mode, gateways wake each other up', async () => {
    const url = await through('session')
    const [one, other] = await Promise.all([open(url), open(url)])
    const heard: (string | undefined)[] = []
    other.listen('docreg_test', (payload) => heard.push(payload))
    await expect
      .poll(async () => {
        await one.query("SELECT pg_notify('docreg_test', 'hello')")
        return heard
      })
      .toContain('hello')
  })

  test('behavior: in session mode, the server limits statements and idle transactions', async () => {
    const { query } = await open(await through('session'))
    expect(
      await query(`SELECT current_setting('statement_timeout') AS statement,
        current_setting('idle_in_transaction_session_timeout') AS idle`),
    ).toEqual([{ statement: '10s', idle: '10s' }])
  })

  test('behavior: in session mode, a gateway issues and verifies', async () => {
    const stack: Stack = await startStack({ DATABASE_URL: await through('session') })
    onTestFinished(() => stack.stop())
    const issued = await stack.issue(ADA)
    expect(issued.status).toBe(201)
    expect((await stack.verify(issued.body.data.publicId)).body.data?.status).toBe('valid')
  })

  test.each(['transaction', 'statement'] as const)(
    'error: refuses %s mode, with a sentence',
    async (mode) => {
      const opened = openPostgres(await through(mode), createLog('silent'))
      await expect(opened).rejects.toThrow(DatabaseUrlError)
      await expect(opened).rejects.toThrow(/or to a pooler in session mode/)
    },
    20_000,
  )
})
