import { expect, test } from 'vitest'
import { createLog } from '#base/log.ts'
import { createQueue } from '#engine/queue.ts'
import type { Intent } from '#promise/intent.ts'

const intentOf = (n: number): Intent => ({
  kind: 'issue',
  documentHash: `0x${String(n).padStart(64, '0')}`,
  validUntil: 0,
})

const queueOver = (promised: boolean, read = async () => {}) =>
  createQueue({
    outbox: {
      async queued() {
        await read()
        return [1, 2].map((n) => ({ intent: intentOf(n), asideUntil: null, promised }))
      },
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
  expect(queue.size).toBe(2)
  expect(queue.unpromised([intentOf(1)])).toHaveLength(promised ? 0 : 1)
})

test('behavior: a start takes everything as promised', async () => {
  const queue = queueOver(false)
  await queue.restore()
  expect(queue.unpromised([intentOf(1)])).toEqual([])
  expect(queue.uncertain([intentOf(1)])).toHaveLength(1)
})

test('behavior: a read does not bring back what left the queue or its transaction meanwhile', async () => {
  const queue = queueOver(true, async () => {
    queue.remove([intentOf(1)])
    queue.dropped([intentOf(2)])
  })
  queue.add([intentOf(1)])
  await queue.refresh()
  expect(queue.all()).toEqual([])
})

test('error: a read that fails remembers nothing', async () => {
  let isAway = true
  const queue = queueOver(true, async () => {
    if (isAway) queue.dropped([intentOf(1)])
    if (isAway) throw new Error('unread')
  })
  await expect(queue.refresh()).rejects.toThrow('unread')
  isAway = false
  await queue.refresh()
  expect(queue.size).toBe(2)
})
