import { describe, expect, test } from 'vitest'
import { createPatience } from '#base/deadline.ts'

const MINUTE_MS = 60_000

describe('the time limit of a request with many entries', () => {
  test('entries keep waiting while others get into blocks', () => {
    let now = 0
    const patience = createPatience(15_000, () => now)
    now = 14_000
    expect(patience.left()).toBe(1_000)
    patience.progressed()
    expect(patience.left()).toBe(15_000)
    now += 15_000
    expect(patience.left()).toBe(0)
  })

  test('ends after five minutes, however steadily blocks come', () => {
    let now = 0
    const patience = createPatience(15_000, () => now)
    for (; now < 5 * MINUTE_MS; now += 10_000) patience.progressed()
    expect(patience.left()).toBe(0)
  })

  test('0 never waits', () => {
    const patience = createPatience(0, () => 0)
    patience.progressed()
    expect(patience.left()).toBe(0)
  })
})
