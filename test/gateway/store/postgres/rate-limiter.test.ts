import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '#base/log.ts'
import type { RateLimiter } from '#base/rate-limit.ts'
import { createMemoryRateLimiter } from '#base/rate-limit.ts'
import { openPostgres } from '#store/drivers/postgres/database.ts'
import { createPostgresRateLimiter } from '#store/drivers/postgres/rate-limiter.ts'
import { type PostgresServer, postgresFolder, startPostgres } from '#test/support/postgres.ts'

const folder = postgresFolder()
/** On a busy machine, the database may take long; here, it must be the one that answers. */
const PATIENCE_MS = 20_000

async function queryOnce(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

describe.skipIf(folder === undefined)('the rate limiter that gateways share', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(folder ?? '')
  })
  afterAll(() => server.remove())

  async function openLimiter(url: string, kind = 'key', patience = PATIENCE_MS) {
    const database = await openPostgres(url, createLog('silent'))
    onTestFinished(() => database.close())
    return createPostgresRateLimiter(database, createMemoryRateLimiter(10), kind, patience)
  }
  const allowedOf = async (takes: Promise<{ isAllowed: boolean }>[]) =>
    (await Promise.all(takes)).filter(({ isAllowed }) => isAllowed).length
  const takeMany = (limiter: RateLimiter, name: string, perSecond: number, count: number) =>
    Array.from({ length: count }, () => limiter.take(name, perSecond))

  test('default: counts down, and says when the next request is allowed', async () => {
    const limiter = await openLimiter(await server.newDatabase())
    const first = await limiter.take('a', 1)
    expect(first).toMatchObject({ isAllowed: true, remaining: 0, resetSeconds: 1 })
    const more = await Promise.all(takeMany(limiter, 'b', 1, 2))
    expect(more.map(({ isAllowed }) => isAllowed)).toEqual([true, false])
    expect(more[1]?.retryAfterSeconds).toBe(1)
  })

  test('behavior: a quota holds over all gateways, and for each kind of name', async () => {
    const url = await server.newDatabase()
    const [one, two] = [await openLimiter(url), await openLimiter(url)]
    const other = await openLimiter(url, 'address')
    const takes = [...takeMany(one, 'a', 50, 40), ...takeMany(two, 'a', 50, 40)]
    const started = performance.now()
    const allowed = await allowedOf(takes)
    const cameBack = Math.ceil(((performance.now() - started) / 1_000) * 50)
    expect(allowed).toBeGreaterThanOrEqual(50)
    expect(allowed).toBeLessThanOrEqual(50 + cameBack)
    expect(await allowedOf(takeMany(other, 'a', 50, 10))).toBe(10)
  })

  test('behavior: keeps no name after its window, also without further requests', async () => {
    const url = await server.newDatabase()
    const names = () => queryOnce(url, 'SELECT name FROM rate')
    const limiter = await openLimiter(url, 'address')
    await Promise.all(['192.0.2.1', '192.0.2.2'].map((name) => limiter.take(name, 1)))
    expect(await names()).toHaveLength(2)
    await expect.poll(names, { timeout: 10_000 }).toEqual([])
  })

  test('behavior: deletes what a killed gateway has left', async () => {
    const url = await server.newDatabase()
    await openLimiter(url)
    await queryOnce(url, "INSERT INTO rate VALUES ('address 192.0.2.1', 1, 1)")
    await openLimiter(url)
    await expect.poll(() => queryOnce(url, 'SELECT name FROM rate')).toEqual([])
  })

  test('behavior: limits by itself while the database is away', async () => {
    const limiter = await openLimiter(await server.newDatabase(), 'key', 100)
    await server.signal('SIGSTOP')
    try {
      expect(await allowedOf(takeMany(limiter, 'a', 2, 10))).toBe(2)
    } finally {
      await server.signal('SIGCONT')
    }
  })
})
