import { expect, test } from 'vitest'
import { nextTryAt, pauseAfter, RETRY_PERIOD_MS } from '#modules/webhooks/retries.ts'

test('waits grow from seconds to hours, and cover three days', () => {
  const waits = Array.from({ length: 12 }, (_, i) => nextTryAt(i + 1, 0))
  expect(waits[0]).toBeGreaterThanOrEqual(5_000)
  expect(waits[0]).toBeLessThanOrEqual(6_000)
  for (let i = 1; i < 6; i++) expect(waits[i]).toBeGreaterThan((waits[i - 1] ?? 0) * 1.5)
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(12 * 3_600_000)
  expect(waits.reduce((sum, wait) => sum + wait)).toBeGreaterThan(RETRY_PERIOD_MS)
})

test('pauses double up to five minutes', () => {
  expect([0, 1, 2, 20].map(pauseAfter)).toEqual([5_000, 10_000, 20_000, 300_000])
})

test('Retry-After delays an attempt by an hour at most, and never advances it', () => {
  expect(nextTryAt(1, 0, 60_000)).toBe(60_000)
  expect(nextTryAt(1, 0, 10 ** 12)).toBe(3_600_000)
  expect(nextTryAt(6, 0, 1_000)).toBeGreaterThanOrEqual(10 * 3_600_000)
})
