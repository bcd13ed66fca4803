import { expect, test, vi } from 'vitest'
import { pruneEvents } from '#events/events.ts'

const DAY_MS = 86_400_000

test('deletes old events in slices, and continues after an error', async () => {
  const before: number[] = []
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (event: string) => warnings.push(event), error() {} }
  const events = {
    leaveBehind: async (time: number) => {
      expect(Date.now() - time).toBeGreaterThanOrEqual(2 * DAY_MS)
      return before.length === 0 ? ['wh_one'] : []
    },
    async prune(time: number) {
      before.push(time)
      if (before.length === 3) throw new Error('the disk is full')
      return before.length < 3
    },
  }
  const certainTime = async () => Date.now()
  const stop = pruneEvents(events, { retention: DAY_MS, certainTime }, log, 5)
  await expect.poll(() => before.length).toBeGreaterThanOrEqual(5)
  await stop()
  expect(warnings).toEqual(['webhook_disabled', 'events_not_pruned'])
  for (const time of before) expect(Date.now() - time).toBeGreaterThanOrEqual(DAY_MS)
  const count = before.length
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(before).toHaveLength(count)
})

test('deletes nothing while the time is not certain', async () => {
  const prune = vi.fn(async () => false)
  const leaveBehind = vi.fn(async () => [])
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const certainTime = vi.fn(async () => undefined)
  const options = { retention: DAY_MS, certainTime }
  const stop = pruneEvents({ prune, leaveBehind }, options, log, 5)
  await expect.poll(() => certainTime.mock.calls.length).toBeGreaterThanOrEqual(3)
  await stop()
  expect([...prune.mock.calls, ...leaveBehind.mock.calls]).toEqual([])
})
