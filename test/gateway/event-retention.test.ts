import { expect, test } from 'vitest'
import { pruneEvents } from '../../gateway/event-retention.ts'

const DAY_MS = 86_400_000

test('default: deletes slice after slice what is older, and goes on after an error', async () => {
  const before: number[] = []
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (event: string) => warnings.push(event), error() {} }
  const events = {
    async prune(time: number) {
      before.push(time)
      if (before.length === 3) throw new Error('the disk is full')
      return before.length < 3
    },
  }
  const stop = pruneEvents(events, DAY_MS, log, 5)
  await expect.poll(() => before.length).toBeGreaterThanOrEqual(5)
  await stop()
  expect(warnings).toEqual(['events_not_pruned'])
  for (const time of before) expect(Date.now() - time).toBeGreaterThanOrEqual(DAY_MS)
  const count = before.length
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(before).toHaveLength(count)
})
