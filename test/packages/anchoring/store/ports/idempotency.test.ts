import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Hex, toHex } from '#document/hex.ts'
import type { IdempotencyLog } from '#promise/ports.ts'
import { describePorts } from '#test/support/databases.ts'

const DAY_MS = 86_400_000
const hash = (): Hex => toHex(randomBytes(32))

describePorts('idempotency log', (ports) => {
  let log: IdempotencyLog
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.UTC(2026, 0, 31) })
    log = ports.stores.idempotency
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const claimNew = () => log.claim(randomBytes(32), hash())
  const remembered = () => ports.count('idempotency')

  test('default: returns the document that a key was first claimed for', async () => {
    const [key, first] = [randomBytes(32), hash()]
    expect(await log.has(key)).toBe(false)
    expect(await log.claim(key, first)).toBe(first)
    expect(await log.claim(key, hash())).toBe(first)
    expect(await log.has(key)).toBe(true)
  })

  test.each(Array.from({ length: 8 }, (_, day) => day))(
    'behavior: remembers a key that was claimed on day %i for seven days',
    async (day) => {
      vi.advanceTimersByTime(day * DAY_MS)
      const [key, first] = [randomBytes(32), hash()]
      await log.claim(key, first)
      vi.advanceTimersByTime(7 * DAY_MS - 1)
      for (let i = 0; i < 10; i++) await claimNew()
      expect(await log.claim(key, hash())).toBe(first)
      expect(await log.has(key)).toBe(true)
    },
  )

  test('behavior: forgets a key after fourteen days', async () => {
    const [key, second] = [randomBytes(32), hash()]
    await log.claim(key, hash())
    vi.advanceTimersByTime(14 * DAY_MS)
    expect(await log.has(key)).toBe(false)
    expect(await log.claim(key, second)).toBe(second)
  })

  test('behavior: a clock that is ahead for a while makes it forget nothing', async () => {
    const [key, first] = [randomBytes(32), hash()]
    await log.claim(key, first)
    vi.setSystemTime(Date.now() + 31 * DAY_MS)
    for (let i = 0; i < 5; i++) await claimNew()
    expect(await log.has(key)).toBe(true)
    const later = randomBytes(32)
    await log.claim(later, first)
    vi.setSystemTime(Date.now() - 31 * DAY_MS)
    expect(await log.claim(key, hash())).toBe(first)
    expect(await log.has(later)).toBe(true)
    expect(await remembered()).toBe(7)
  })

  test('behavior: deletes a few old keys with each new one, however many there are', async () => {
    const OLD = 1_000
    await Promise.all(Array.from({ length: OLD }, claimNew))
    vi.advanceTimersByTime(14 * DAY_MS)
    await claimNew()
    expect(await remembered()).toBe(OLD - 2 + 1)
    for (let i = 0; i < OLD / 2; i++) await claimNew()
    expect(await remembered()).toBe(1 + OLD / 2)
  })
})
