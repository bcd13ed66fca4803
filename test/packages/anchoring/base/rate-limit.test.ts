import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryRateLimiter } from '#base/rate-limit.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** @returns How many of so many requests at once are allowed. */
async function allowed(
  limiter: ReturnType<typeof createMemoryRateLimiter>,
  [name, limit]: [string, number],
  requests: number,
): Promise<number> {
  let count = 0
  for (let i = 0; i < requests; i++) if ((await limiter.take(name, limit)).isAllowed) count++
  return count
}

test('counts down, and says when the quota is full again', async () => {
  const { take } = createMemoryRateLimiter(10)
  expect(await take('a', 2)).toMatchObject({ isAllowed: true, remaining: 1, resetSeconds: 1 })
  expect(await take('a', 2)).toMatchObject({ isAllowed: true, remaining: 0, resetSeconds: 1 })
  expect(await take('a', 2)).toMatchObject({
    isAllowed: false,
    remaining: 0,
    retryAfterSeconds: 1,
  })
})

test.each([1, 3, 7, 100, 333, 99_999])(
  'allows exactly %i requests at once, and as many in each further second',
  async (limit) => {
    const limiter = createMemoryRateLimiter(10)
    const more = limit + 50
    expect(await allowed(limiter, ['a', limit], more)).toBe(limit)
    vi.advanceTimersByTime(1_000)
    expect(await allowed(limiter, ['a', limit], more)).toBe(limit)
    vi.advanceTimersByTime(500)
    expect(await allowed(limiter, ['a', limit], more)).toBe(Math.floor(limit / 2))
  },
)

test('never refuses a client that keeps to the limit', async () => {
  const limiter = createMemoryRateLimiter(10)
  for (let i = 0; i < 1_000; i++) {
    expect((await limiter.take('a', 100)).isAllowed).toBe(true)
    vi.advanceTimersByTime(10)
  }
})

test('a refused request costs nothing', async () => {
  const limiter = createMemoryRateLimiter(10)
  await allowed(limiter, ['a', 2], 1_000)
  vi.advanceTimersByTime(500)
  expect((await limiter.take('a', 2)).isAllowed).toBe(true)
})

test('each name has its own quota', async () => {
  const limiter = createMemoryRateLimiter(10)
  expect(await allowed(limiter, ['a', 2], 5)).toBe(2)
  expect(await allowed(limiter, ['b', 3], 5)).toBe(3)
})

test('drops the name that was not seen for longest when there are too many', async () => {
  const limiter = createMemoryRateLimiter(10)
  expect(await allowed(limiter, ['old', 1], 2)).toBe(1)
  expect(await allowed(limiter, ['busy', 1], 2)).toBe(1)
  for (let i = 0; i < 30; i++) {
    await limiter.take(`other ${i}`, 1)
    // It stays in memory, and over its limit.
    expect((await limiter.take('busy', 1)).isAllowed).toBe(false)
  }
  expect((await limiter.take('old', 1)).isAllowed).toBe(true)
})
