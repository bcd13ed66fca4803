import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { type Lease, LeaseLost, type Leases } from '#promise/lease.ts'
import { type Database, fenced } from '#store/database.ts'
import { openPostgres, type Postgres } from '#store/drivers/postgres/database.ts'
import { createLeases, RELEASED_CHANNEL } from '#store/leases.ts'
import { all, single, statement } from '#store/sql.ts'

import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { startPostgresProxy } from '#test/support/postgres-proxy.ts'

const folder = postgresFolder()
const log = createLog('silent')

describe.skipIf(folder === undefined)('leases in PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  async function open(url: string): Promise<Postgres> {
    const database = await openPostgres(url, log)
    onTestFinished(() => database.close())
    return database
  }

  /** Two gateways on one database. */
  async function openTwo(termMs = 10_000) {
    const url = await server.newDatabase()
    const database = await open(url)
    const other = await open(url)
    return {
      url,
      database,
      other,
      one: createLeases(database, log, termMs),
      two: createLeases(other, log, termMs),
    }
  }

  async function take(leases: Leases, ...names: string[]): Promise<Lease> {
    const lease = await leases.take(names)
    if (lease === undefined) throw new Error('no lease is free')
    onTestFinished(() => lease.release().catch(() => {}))
    return lease
  }

  /** As after a process that was stopped for longer than its lease. */
  const expire = ({ query }: Postgres) => query('UPDATE lease SET expires_at = 0')

  test('default: only one gateway holds a lease', async () => {
    const { one, two } = await openTwo()
    const held = await take(one, 'a')
    await held.assertHeld()
    expect(await two.take(['a'])).toBeUndefined()
  })

  test('default: takes the first one that is free', async () => {
    const { one, two } = await openTwo()
    expect(await take(one, 'b', 'a')).toMatchObject({ name: 'b' })
    expect(await take(two, 'b', 'a')).toMatchObject({ name: 'a' })
  })

  test('behavior: gateways that ask at the same time get different leases', async () => {
    const { one, two } = await openTwo()
    const names = ['a', 'b', 'c', 'd']
    const taken = await Promise.all(names.map((_, i) => (i % 2 ? one : two).take(names)))
    // A gateway may miss a lease that another one just looks at; it asks again.
    const got = taken.flatMap((lease) => lease?.name ?? [])
    expect(new Set(got).size).toBe(got.length)
    for (const lease of taken) await lease?.release()
  })

  test('behavior: a released lease is free at once, with a higher token, and others are notified', async () => {
    const { one, two, other } = await openTwo()
    const heard = Promise.withResolvers<string | undefined>()
    other.listen(RELEASED_CHANNEL, (payload) => payload && heard.resolve(payload))
    const held = await take(one, 'a')
    const again = expect.poll(async () => {
      await held.release()
      return two.take(['a'])
    })
    await again.toMatchObject({ name: 'a', token: held.token + 1 })
    expect(held.ended.aborted).toBe(true)
    await expect(held.assertHeld()).rejects.toThrow(LeaseLost)
  })

  const expiryIn = async ({ query }: Postgres) => {
    const [row] = await query(
      'SELECT expires_at > extract(epoch FROM clock_timestamp()) * 1000 AS lasts, expires_at FROM lease',
    )
    return { lasts: row?.lasts, at: Number(row?.expires_at) }
  }

  test('behavior: a lease is renewed for as long as its holder runs', async () => {
    const { one, two, database } = await openTwo(3_000)
    const held = await take(one, 'a')
    const first = await expiryIn(database)
    await expect.poll(async () => (await expiryIn(database)).at).toBeGreaterThan(first.at)
    expect(await two.take(['a'])).toBeUndefined()
    await held.assertHeld()
  })

  test('behavior: the holder notices that another gateway has taken its lease', async () => {
    const { one, two, database } = await openTwo(600)
    const held = await take(one, 'a')
    await expire(database)
    await take(two, 'a')
    await expect(held.assertHeld()).rejects.toThrow(LeaseLost)
    await expect.poll(() => held.ended.aborted).toBe(true)
  })

  test('behavior: a lease that nobody else has taken goes on, even after its time', async () => {
    const { one, two, database } = await openTwo(3_000)
    const held = await take(one, 'a')
    await expire(database)
    await held.assertHeld()
    await expect.poll(async () => (await expiryIn(database)).lasts).toBe(true)
    expect(await two.take(['a'])).toBeUndefined()
    expect(held.ended.aborted).toBe(false)
  })

  test('behavior: a lease ends when the database is away for longer', async () => {
    const { one } = await openTwo(600)
    const held = await take(one, 'a')
    await server.shutDown()
    onTestFinished(() => server.start())
    await expect.poll(() => held.ended.aborted).toBe(true)
  })

  describe('behind a fence', () => {
    const INSERT = statement('INSERT INTO written VALUES (:value)')
    const SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"

    async function openFenced() {
      const parts = await openTwo()
      await parts.database.query('CREATE TABLE written (value integer)')
      const held = await take(parts.one, 'a')
      const values = async () =>
        (await parts.other.query('SELECT value FROM written')).map(({ value }) => value)
      return { ...parts, held, values, fence: fenced(parts.database, held) }
    }

    test('default: the holder writes, in a transaction or a single statement', async () => {
      const { fence, values } = await openFenced()
      await fence.change(INSERT, { value: 1 })
      await fence.write(single(INSERT, { value: 2 }))
      expect(await values()).toEqual([1, 2])
    })

    test('error: writes nothing once another gateway has the lease', async () => {
      const { fence, values, two, database } = await openFenced()
      await expire(database)
      await take(two, 'a')
      await expect(fence.change(INSERT, { value: 1 })).rejects.toThrow(LeaseLost)
      await expect(fence.write(single(INSERT, { value: 2 }))).rejects.toThrow(LeaseLost)
      expect(await values()).toEqual([])
    })

    test('behavior: nobody takes the lease while its holder is in a transaction', async () => {
      const { fence, values, two, database } = await openFenced()
      const written = fence.write(function* () {
        yield* all(statement('SELECT pg_sleep(2)'))
        yield* all(INSERT, { value: 1 })
      })
      await expect.poll(() => database.query(SLEEPING)).toHaveLength(1)
      // A renewal does not wait for the transaction.
      await expire(database)
      expect(await two.take(['a'])).toBeUndefined()
      await written
      await take(two, 'a')
      expect(await values()).toEqual([1])
    })

    /** The connections of the holder can be cut. */
    async function openProxied() {
      const url = await server.newDatabase()
      const proxy = await startPostgresProxy(url)
      onTestFinished(() => proxy.close())
      const [database, other] = [await open(proxy.url), await open(url)]
      await other.query('CREATE TABLE written (value integer)')
      const held = await take(createLeases(database, log, 10_000), 'a')
      const two = createLeases(other, log, 10_000)
      const values = async () =>
        (await other.query('SELECT value FROM written')).map(({ value }) => value)
      return { proxy, other, held, two, values, fence: fenced(database, held) }
    }
    const unknown = { code: 'outcome_unknown' }
    function* insertAll(values: readonly number[]) {
      for (const value of values) yield* all(INSERT, { value })
      return [...values]
    }

    test.each<[string, (fence: Database) => Promise<unknown>]>([
      ['a transaction', ({ write }) => write(single(INSERT, { value: 1 }))],
      ['a statement', ({ change }) => change(INSERT, { value: 1 })],
      ['a group of writes', ({ together }) => together({ work: insertAll })(1)],
    ])('error: the holder gives the lease up after %s without an answer', async (_, write) => {
      const { proxy, held, two, values, fence } = await openProxied()
      proxy.loseNext('COMMIT')
      await expect(write(fence)).rejects.toMatchObject(unknown)
      await expect.poll(() => held.ended.aborted).toBe(true)
      await expect.poll(() => two.take(['a'])).toMatchObject({ token: held.token + 1 })
      expect(await values()).toEqual([1])
    })

    test('behavior: nobody takes the lease before that write is decided', async () => {
      const { proxy, other, held, two, values, fence } = await openProxied()
      await other.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$`)
      await other.query(`CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON written
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
      const failed = expect(fence.change(INSERT, { value: 1 })).rejects.toMatchObject(unknown)
      await expect.poll(() => other.query(SLEEPING)).toHaveLength(1)
      proxy.cut()
      await failed
      const expiry = () => other.query('SELECT expires_at FROM lease')
      await expect.poll(expiry).toEqual([{ expires_at: 0 }])
      expect(await two.take(['a'])).toBeUndefined()
      expect(await other.query(SLEEPING)).toHaveLength(1)
      await expect
        .poll(() => two.take(['a']), { timeout: 10_000 })
        .toMatchObject({ token: held.token + 1 })
      expect(await values()).toEqual([1])
    })

    test('behavior: the holder keeps the lease after a write that changed nothing', async () => {
      const { proxy, held, two, values, fence } = await openProxied()
      proxy.loseNext('INSERT 0 1')
      await expect(fence.change(INSERT, { value: 1 })).rejects.toMatchObject({
        code: 'store_unavailable',
      })
      expect(await two.take(['a'])).toBeUndefined()
      expect(held.ended.aborted).toBe(false)
      await fence.change(INSERT, { value: 2 })
      expect(await values()).toEqual([2])
    })
  })
})
