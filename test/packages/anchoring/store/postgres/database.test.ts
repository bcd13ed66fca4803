import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { IssueError } from '#promise/errors.ts'
import { openPostgres, type Postgres } from '#store/drivers/postgres/database.ts'
import { all, statement } from '#store/sql.ts'
import { SCHEMA_VERSION } from '#store/tables.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { startPostgresProxy } from '#test/support/postgres-proxy.ts'

const folder = postgresFolder()
const log = createLog('silent')

const outage = expect.objectContaining({ code: 'store_unavailable' })

async function open(url: string): Promise<Postgres> {
  const database = await openPostgres(url, log)
  onTestFinished(() => database.close())
  return database
}

describe.skipIf(folder === undefined)('PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  async function newTable(): Promise<Postgres> {
    const database = await open(await server.newDatabase())
    await database.query('CREATE TABLE number (value integer PRIMARY KEY)')
    return database
  }
  const numbersIn = async (database: Postgres) =>
    (await database.query('SELECT value FROM number ORDER BY value')).map(({ value }) => value)

  test('prepares a new database, and opens it again', async () => {
    const url = await server.newDatabase()
    const first = await open(url)
    await first.query("INSERT INTO tombstone VALUES ('\\x01')")
    const second = await open(url)
    expect(await second.query('SELECT hash FROM tombstone')).toEqual([{ hash: Buffer.from([1]) }])
  })

  test('gateways that start at the same time prepare it once', async () => {
    const url = await server.newDatabase()
    const opened = await Promise.all([open(url), open(url), open(url)])
    for (const database of opened) await database.assertReady()
  })

  test('refuses a server that may lose acknowledged commits', async () => {
    const url = await server.newDatabase()
    const { query } = await open(url)
    await query("ALTER ROLE registry SET synchronous_commit = 'off'")
    onTestFinished(() => query('ALTER ROLE registry RESET synchronous_commit').then(() => {}))
    await expect(openPostgres(url, log)).rejects.toThrow(/synchronous_commit/)
  })

  test('a transaction is durable as a whole', async () => {
    const database = await newTable()
    await database.transaction(async (query) => {
      await query('INSERT INTO number VALUES (1)')
      await query('INSERT INTO number VALUES (2)')
    })
    expect(await numbersIn(database)).toEqual([1, 2])
  })

  test('an error in a transaction rolls it back, and reaches the caller unchanged', async () => {
    const database = await newTable()
    const error = new IssueError('conflict', 'on purpose')
    const failed = database.transaction(async (query) => {
      await query('INSERT INTO number VALUES (1)')
      throw error
    })
    await expect(failed).rejects.toBe(error)
    expect(await numbersIn(database)).toEqual([])
  })

  test('repeats a transaction that lost a deadlock', async () => {
    const database = await newTable()
    await database.query('INSERT INTO number VALUES (1), (2)')
    const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let runs = 0
    const lock = (own: number, other: number) =>
      database.transaction(async (query) => {
        runs++
        await query('SELECT 1 FROM number WHERE value = $1 FOR UPDATE', [own])
        both[own - 1]?.resolve()
        await both[other - 1]?.promise
        await query('SELECT 1 FROM number WHERE value = $1 FOR UPDATE', [other])
      })
    await Promise.all([lock(1, 2), lock(2, 1)])
    // On a busy machine a transaction may lose twice.
    expect(runs).toBeGreaterThan(2)
  })

  test('reports an outage, and works again after it', async () => {
    const database = await newTable()
    await server.shutDown()
    await expect(database.query('INSERT INTO number VALUES (1)')).rejects.toEqual(outage)
    await expect(database.assertReady()).rejects.toEqual(outage)
    await server.start()
    await expect
      .poll(() =>
        database.assertReady().then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await database.query('INSERT INTO number VALUES (2)')
    expect(await numbersIn(database)).toEqual([2])
  })

  describe('a lost answer', () => {
    const INSERT = statement('INSERT INTO number VALUES (:value)')
    const unknown = { code: 'outcome_unknown' }

    /** A database whose connections can be cut. */
    async function openProxied() {
      const url = await server.newDatabase()
      const proxy = await startPostgresProxy(url)
      onTestFinished(() => proxy.close())
      const [direct, database] = [await open(url), await open(proxy.url)]
      await direct.query('CREATE TABLE number (value integer PRIMARY KEY)')
      return { proxy, direct, database }
    }

    test.each<[string, string, (database: Postgres) => Promise<unknown>]>([
      ['transaction', 'COMMIT', ({ write }) => write(() => all(INSERT, { value: 1 }))],
      ['group of writes', 'COMMIT', ({ together }) => together({ work: insertAll })(1)],
      ['single statement', 'INSERT 0 1', ({ change }) => change(INSERT, { value: 1 })],
    ])('a %s may have been carried out', async (_, tag, write) => {
      const { proxy, direct, database } = await openProxied()
      proxy.loseNext(tag)
      await expect(write(database)).rejects.toMatchObject(unknown)
      expect(await numbersIn(direct)).toEqual([1])
      await database.change(INSERT, { value: 2 })
      expect(await numbersIn(direct)).toEqual([1, 2])
    })
    function* insertAll(values: readonly number[]) {
      for (const value of values) yield* all(INSERT, { value })
      return [...values]
    }

    test('a transaction that breaks before its COMMIT has changed nothing', async () => {
      const { proxy, direct, database } = await openProxied()
      proxy.loseNext('INSERT 0 1')
      const failed = database.write(() => all(INSERT, { value: 1 }))
      await expect(failed).rejects.toEqual(outage)
      expect(await numbersIn(direct)).toEqual([])
    })

    test('a COMMIT that the server refuses has changed nothing', async () => {
      const { direct, database } = await openProxied()
      await direct.query('ALTER TABLE number ADD UNIQUE (value) DEFERRABLE INITIALLY DEFERRED')
      await direct.query('ALTER TABLE number DROP CONSTRAINT number_pkey')
      await direct.query('INSERT INTO number VALUES (1)')
      await expect(database.write(() => all(INSERT, { value: 1 }))).rejects.toEqual(outage)
      await expect(database.change(INSERT, { value: 1 })).rejects.toEqual(outage)
      expect(await numbersIn(direct)).toEqual([1])
    })

    test('a read without an answer is an outage', async () => {
      const { proxy, database } = await openProxied()
      proxy.loseNext('SELECT 0')
      await expect(database.read(statement('SELECT value FROM number'))).rejects.toEqual(outage)
    })
  })

  test('wakes another gateway, also after the connection broke', async () => {
    const url = await server.newDatabase()
    const [one, other] = await Promise.all([open(url), open(url)])
    const heard: (string | undefined)[] = []
    other.listen('docreg_test', (payload) => heard.push(payload))
    const tell = (payload: string) =>
      one.query('SELECT pg_notify($1, $2)', ['docreg_test', payload])
    await expect.poll(() => tell('first').then(() => heard)).toContain('first')
    await one.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`)
    await expect.poll(() => heard).toContain(undefined)
    await expect.poll(() => tell('second').then(() => heard)).toContain('second')
  })

  test('refuses a database of another version, and leaves it unchanged', async () => {
    const url = await server.newDatabase()
    const { query } = await open(url)
    for (const [version, message] of [
      [SCHEMA_VERSION - 1, 'an older version'],
      [SCHEMA_VERSION + 1, 'a newer version'],
      [-SCHEMA_VERSION, 'was moved to a data folder'],
    ] as const) {
      await query('UPDATE schema_version SET version = $1', [version])
      await expect(openPostgres(url, log)).rejects.toThrow(message)
      expect(await query('SELECT version FROM schema_version')).toEqual([{ version }])
    }
  })

  test('the message of a rejected value does not quote it', async () => {
    const database = await newTable()
    const failed = database.query('INSERT INTO number VALUES ($1)', ['a secret'])
    await expect(failed).rejects.toThrow('a value was rejected')
  })
})
