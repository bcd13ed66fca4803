import { expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { createDepartures, createQueue } from '#engine/queue.ts'
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

const queueOver = (promised: boolean) =>
  createQueue({
    outbox: {
      queued: async () => [{ intent: intentOf(1), asideUntil: null, promised }],
      setAside: async () => {},
      resolve: async () => {},
    },
    carries: () => false,
    changed: () => {},
    log: createLog('silent'),
  })

test.each([true, false])('behavior: a refresh knows what was promised (%s)', async (promised) => {
  const queue = queueOver(promised)
  await queue.refresh()
  // The request that added the intent queues it.
  queue.add([intentOf(1)])
  expect(queue.size).toBe(1)
  expect(queue.unpromised([intentOf(1)])).toHaveLength(promised ? 0 : 1)
})

test('behavior: a start takes everything as promised', async () => {
  const queue = queueOver(false)
  await queue.restore()
  expect(queue.unpromised([intentOf(1)])).toEqual([])
  expect(queue.uncertain([intentOf(1)])).toHaveLength(1)
})
