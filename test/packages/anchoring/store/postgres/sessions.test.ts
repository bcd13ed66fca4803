import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { LockLost } from '#promise/lock.ts'
import type { Database, Session, Sessions } from '#store/database.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createSessions } from '#store/drivers/postgres/session.ts'
import { all, single, statement } from '#store/sql.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { startPostgresProxy } from '#test/support/postgres-proxy.ts'

const folder = postgresFolder()
const log = createLog('silent')

const INSERT = statement('INSERT INTO written VALUES (:value)')
const TERMINATE = `
  SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2`
const SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"

describe.skipIf(folder === undefined)('session locks in PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  /** Two gateways on one database. The connections of the first one go through a proxy. */
  async function openTwo(termMs = 10_000) {
    const url = await server.newDatabase()
    const proxy = await startPostgresProxy(url)
    onTestFinished(() => proxy.close())
    const shared = await openPostgres(url, log)
    onTestFinished(() => shared.close())
    await shared.query('CREATE TABLE written (value integer)')
    const sessionsAt = (to: string) => createSessions({ url: to, log, termMs, shared })
    return {
      proxy,
      query: shared.query,
      one: sessionsAt(proxy.url),
      two: sessionsAt(url),
      values: async () =>
        (await shared.query('SELECT value FROM written')).map(({ value }) => value),
    }
  }

  async function take(sessions: Sessions, name: string): Promise<Session> {
    const session = await sessions.take(name)
    if (session === undefined) throw new Error('the lock is not free')
    onTestFinished(() => session.release())
    return session
  }
  /** Takes a lock once the server has freed it. */
  async function takeSoon(sessions: Sessions, name: string): Promise<void> {
    const free = async () => {
      const session = await sessions.take(name)
      if (session) onTestFinished(() => session.release())
      return session !== undefined
    }
    await expect.poll(free).toBe(true)
  }

  test('two sessions never have the same lock', async () => {
    const { one, two } = await openTwo()
    const held = await take(one, 'a')
    await held.assertHeld()
    expect(await two.take('a')).toBeUndefined()
    const other = await take(two, 'b')
    expect(await other.alsoTake('a')).toBe(false)
    expect(await held.alsoTake('b')).toBe(false)
    expect(await other.alsoTake('c')).toBe(true)
    expect(await held.alsoTake('c')).toBe(false)
  })

  test('one of several concurrent sessions gets the lock', async () => {
    const { one, two } = await openTwo()
    const asked = await Promise.all([one, two, one, two].map((sessions) => sessions.take('a')))
    const taken = asked.filter((session) => session !== undefined)
    expect(taken).toHaveLength(1)
    await taken[0]?.release()
  })

  test('a released lock becomes free', async () => {
    const { one, two } = await openTwo()
    const held = await take(one, 'a')
    await held.release()
    expect(held.ended.aborted).toBe(true)
    await expect(held.assertHeld()).rejects.toThrow(LockLost)
    await takeSoon(two, 'a')
  })

  test('the write under way is committed before a lock is released', async () => {
    const { one, values } = await openTwo()
    const held = await take(one, 'a')
    const written = held.database.write(single(INSERT, { value: 1 }))
    await held.release()
    await written
    expect(await values()).toEqual([1])
  })

  test('a session whose connection is killed ends, and its lock becomes free', async () => {
    const { one, two, query, values } = await openTwo()
    const held = await take(one, 'a')
    await query(TERMINATE)
    await expect.poll(() => held.ended.aborted).toBe(true)
    await takeSoon(two, 'a')
    const { database } = held
    await expect(database.change(INSERT, { value: 1 })).rejects.toThrow(LockLost)
    await expect(database.write(single(INSERT, { value: 2 }))).rejects.toThrow(LockLost)
    const group = database.together({ work: insertAll })
    await expect(group(3)).rejects.toThrow(LockLost)
    await expect(held.alsoTake('b')).rejects.toThrow(LockLost)
    await expect(held.assertHeld()).rejects.toThrow(LockLost)
    expect(await values()).toEqual([])
  })

  test('a session ends when the database is stopped', async () => {
    const { one } = await openTwo()
    const held = await take(one, 'a')
    await server.shutDown()
    onTestFinished(() => server.start())
    await expect.poll(() => held.ended.aborted).toBe(true)
  })

  test('a session that only pings outlives its term', async () => {
    const { one, two, query } = await openTwo(900)
    const held = await take(one, 'a')
    await query('SELECT pg_sleep(3)')
    expect(held.ended.aborted).toBe(false)
    await held.assertHeld()
    expect(await two.take('a')).toBeUndefined()
  })

  test('a process that stops loses its lock after the term', async () => {
    const { proxy, one, two, values } = await openTwo(900)
    const held = await take(one, 'a')
    proxy.freeze()
    await takeSoon(two, 'a')
    await expect.poll(() => held.ended.aborted).toBe(true)
    await expect(held.database.change(INSERT, { value: 1 })).rejects.toThrow(LockLost)
    expect(await values()).toEqual([])
  })

  test('a process that stops in a transaction loses its lock and the transaction', async () => {
    const { proxy, one, two, values } = await openTwo(900)
    const held = await take(one, 'a')
    proxy.holdNext(/INSERT INTO written/, 60_000)
    const written = held.database.write(single(INSERT, { value: 1 })).catch((error) => error)
    await takeSoon(two, 'a')
    // The server answered that nothing is committed.
    expect(await written).toMatchObject({ code: 'store_unavailable' })
    expect(held.ended.aborted).toBe(true)
    expect(await values()).toEqual([])
  })

  test('a session sees those that wait for the same lock', async () => {
    const { one, two } = await openTwo()
    const [held, other] = [await one.open(), await two.open()]
    onTestFinished(() => held.release())
    await held.stand('gateway')
    expect(await held.hasRival('gateway')).toBe(false)
    await other.stand('another')
    expect(await held.hasRival('gateway')).toBe(false)
    await other.stand('gateway')
    expect(await held.hasRival('gateway')).toBe(true)
    expect(await other.hasRival('gateway')).toBe(true)
    await other.release()
    await expect.poll(() => held.hasRival('gateway')).toBe(false)
  })

  describe('a write through a session', () => {
    test('is a transaction or a single statement', async () => {
      const { one, values } = await openTwo()
      const { database } = await take(one, 'a')
      await database.change(INSERT, { value: 1 })
      await database.write(single(INSERT, { value: 2 }))
      expect(await values()).toEqual([1, 2])
    })

    test('is rolled back when the work throws, and the session lasts', async () => {
      const { one, two, values } = await openTwo()
      const { database, ended } = await take(one, 'a')
      const refused = database.write(function* () {
        yield* all(INSERT, { value: 1 })
        throw new Error('refused')
      })
      await expect(refused).rejects.toThrow('refused')
      await database.change(INSERT, { value: 2 })
      expect(await values()).toEqual([2])
      expect(ended.aborted).toBe(false)
      expect(await two.take('a')).toBeUndefined()
    })

    test.each<[string, string, (database: Database) => Promise<unknown>]>([
      ['a transaction', 'COMMIT', ({ write }) => write(single(INSERT, { value: 1 }))],
      ['a statement', 'INSERT 0 1', ({ change }) => change(INSERT, { value: 1 })],
      ['a group of writes', 'COMMIT', ({ together }) => together({ work: insertAll })(1)],
    ])('ends the session after %s without an answer', async (_, tag, write) => {
      const { proxy, one, two, values } = await openTwo()
      const held = await take(one, 'a')
      proxy.loseNext(tag, /INSERT INTO written/)
      await expect(write(held.database)).rejects.toMatchObject({ code: 'outcome_unknown' })
      expect(held.ended.aborted).toBe(true)
      await takeSoon(two, 'a')
      expect(await values()).toEqual([1])
    })

    test('is decided before another session gets the lock', async () => {
      const { proxy, one, two, query, values } = await openTwo()
      await query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(3); RETURN NULL; END $$`)
      await query(`CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON written
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
      const held = await take(one, 'a')
      const written = held.database.write(single(INSERT, { value: 1 })).catch((error) => error)
      await expect.poll(() => query(SLEEPING)).toHaveLength(1)
      proxy.cut()
      expect(await written).toMatchObject({ code: 'outcome_unknown' })
      expect(held.ended.aborted).toBe(true)
      expect(await two.take('a')).toBeUndefined()
      expect(await query(SLEEPING)).toHaveLength(1)
      await takeSoon(two, 'a')
      expect(await values()).toEqual([1])
    })
  })
})

function* insertAll(values: readonly number[]) {
  for (const value of values) yield* all(INSERT, { value })
  return [...values]
}
