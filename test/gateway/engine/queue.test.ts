import { expect, test } from 'vitest'
import { createDepartures } from '#engine/queue.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'

const intentOf = (n: number): Intent => ({
  kind: 'issue',
  documentHash: `0x${String(n).padStart(64, '0')}`,
  validUntil: 0,
})
const keysOf = (...numbers: number[]) => new Set(numbers.map(intentOf).map(keyOfIntent))

test('default: notes the intents that left during a read, and no others', async () => {
  const departures = createDepartures()
  departures.note([intentOf(1)])
  const { result, left } = await departures.during(async () => {
    departures.note([intentOf(2), intentOf(3)])
    return 'read'
  })
  departures.note([intentOf(4)])
  expect(result).toBe('read')
  expect(left).toEqual(keysOf(2, 3))
})

test('behavior: reads that overlap note each for itself', async () => {
  const departures = createDepartures()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const one = departures.during(() => first.promise)
  departures.note([intentOf(1)])
  const two = departures.during(() => second.promise)
  departures.note([intentOf(2)])
  first.resolve()
  expect((await one).left).toEqual(keysOf(1, 2))
  departures.note([intentOf(3)])
  second.resolve()
  expect((await two).left).toEqual(keysOf(2, 3))
})

test('error: a read that fails is forgotten', async () => {
  const departures = createDepartures()
  const failed = departures.during(async () => {
    throw new Error('unread')
  })
  await expect(failed).rejects.toThrow('unread')
  expect((await departures.during(async () => {})).left.size).toBe(0)
})
