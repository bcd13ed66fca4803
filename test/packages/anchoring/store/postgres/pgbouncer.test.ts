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

  /** A pooler before a new database. */
  async function pool(mode: PoolMode) {
    const pooler = await startPgbouncer(program ?? '', await server.newDatabase(), mode)
    onTestFinished(() => pooler.stop())
    return pooler
  }
  /** @returns The URL of a new database. */
  const through = async (mode: PoolMode) => (await pool(mode)).url

  async function open(url: string) {
    const database = await openPostgres(url, createLog('silent'))
    onTestFinished(() => database.close())
    return database
  }

  test('in session mode, gateways wake each other', async () => {
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

  test('in session mode, the server limits statements and idle transactions', async () => {
    const { query } = await open(await through('session'))
    expect(
      await query(`SELECT current_setting('statement_timeout') AS statement,
        current_setting('idle_in_transaction_session_timeout') AS idle`),
    ).toEqual([{ statement: '10s', idle: '10s' }])
  })

  test('in session mode, a gateway issues and verifies', async () => {
    const stack: Stack = await startStack({ DATABASE_URL: await through('session') })
    onTestFinished(() => stack.stop())
    const issued = await stack.issue(ADA)
    expect(issued.status).toBe(201)
    expect((await stack.verify(issued.body.data.publicId)).body.data?.status).toBe('valid')
  })

  test.each(['PgBouncer', 'PostgreSQL'] as const)(
    'a gateway leads again after %s was killed',
    async (which) => {
      const pooler = await pool('session')
      const stack: Stack = await startStack({ DATABASE_URL: pooler.url })
      onTestFinished(() => stack.stop())
      const before = await stack.issue(ADA)
      const waiting = stack.issue({ ...ADA, subjectId: '2' })
      if (which === 'PgBouncer') await pooler.kill()
      else await server.signal('SIGKILL')
      // Known to be issued, or unknown; never lost if it was acknowledged.
      const acknowledged = [before, await waiting].filter(({ status }) => status < 300)
      if (which === 'PgBouncer') await pooler.start()
      else await server.start()
      const again = async () => (await stack.issue({ ...ADA, subjectId: '3' })).status
      // PgBouncer tries a server that was away again after 15 s.
      await expect.poll(again, { timeout: 60_000 }).toBe(201)
      for (const { body } of acknowledged)
        expect((await stack.verify(body.data.publicId)).body.data.status).toBe('valid')
    },
    90_000,
  )

  test.each(['transaction', 'statement'] as const)(
    'refuses %s mode, with an explanation',
    async (mode) => {
      const opened = openPostgres(await through(mode), createLog('silent'))
      await expect(opened).rejects.toThrow(DatabaseUrlError)
      await expect(opened).rejects.toThrow(/or to a pooler in session mode/)
    },
    20_000,
  )
})
