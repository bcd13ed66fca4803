import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createQueue } from '#engine/queue.ts'
import { type Intent, keyOfIntent, type QueuedIntent } from '#promise/intent.ts'

const intentOf = (n: number): Intent => ({
  kind: 'issue',
  documentHash: `0x${String(n).padStart(64, '0')}`,
  validUntil: 0,
})
const [ONE, TWO] = [intentOf(1), intentOf(2)]

/** A row that no transaction has carried, and that the chain never refused. */
const rowOf = (intent: Intent, changes: Partial<QueuedIntent> = {}): QueuedIntent => ({
  intent,
  asideUntil: null,
  tries: 0,
  wasCarried: false,
  ...changes,
})

/** @param read Called while the outbox is read. */
function queueOver(rows: readonly QueuedIntent[], read = async () => {}) {
  const setAside = vi.fn(async (_: readonly Intent[], _tries: number, _until: number) => {})
  const changed = vi.fn()
  const warn = vi.fn()
  const queue = createQueue({
    outbox: {
      async queued() {
        await read()
        return [...rows]
      },
      setAside,
      resolve: async () => {},
    },
    carries: () => false,
    changed,
    log: { debug() {}, info() {}, warn, error() {} },
  })
  return { queue, setAside, changed, warn }
}

test.each([
  ['new', {}, 0],
  ['carried', { wasCarried: true }, 1],
  ['refused', { tries: 1 }, 1],
])('behavior: a refresh knows what may be on the chain (%s)', async (_, changes, uncertain) => {
  const { queue } = queueOver([rowOf(ONE, changes), rowOf(TWO)])
  await queue.refresh()
  // The request that added the intent queues it.
  queue.add([ONE])
  expect(queue.size).toBe(2)
  expect(queue.uncertain([ONE])).toHaveLength(uncertain)
  expect(queue.uncertain([TWO])).toEqual([])
})

test('behavior: after a start anything may be on the chain', async () => {
  const { queue } = queueOver([rowOf(ONE)])
  await queue.restore()
  expect(queue.uncertain([ONE])).toHaveLength(1)
})

test('behavior: a queued intent that is added again may be on the chain', () => {
  const { queue } = queueOver([])
  queue.add([ONE])
  expect(queue.uncertain([ONE])).toEqual([])
  queue.addAgain([ONE])
  expect(queue.size).toBe(1)
  expect(queue.uncertain([ONE])).toEqual([ONE])
  queue.seenAbsent([ONE])
  expect(queue.uncertain([ONE])).toEqual([])
})

test('behavior: a read does not bring back what left the queue or its transaction meanwhile', async () => {
  const { queue } = queueOver([rowOf(ONE), rowOf(TWO)], async () => {
    queue.remove([ONE])
    queue.dropped([TWO])
  })
  queue.add([ONE])
  await queue.refresh()
  expect(queue.all()).toEqual([])
})

test('error: a read that fails remembers nothing', async () => {
  let isAway = true
  const { queue } = queueOver([rowOf(ONE), rowOf(TWO)], async () => {
    if (isAway) queue.dropped([ONE])
    if (isAway) throw new Error('unread')
  })
  await expect(queue.refresh()).rejects.toThrow('unread')
  isAway = false
  await queue.refresh()
  expect(queue.size).toBe(2)
})

describe('what the chain refuses', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
  })
  const SECOND = 1_000

  test('default: waits longer each time, up to five minutes', async () => {
    const { queue, setAside } = queueOver([])
    queue.add([ONE])
    const waits = [3, 6, 12, 24, 48, 96, 192, 300, 300].map((seconds) => seconds * SECOND)
    for (const [i, wait] of waits.entries()) {
      await queue.setAside([ONE])
      expect(setAside).toHaveBeenLastCalledWith([ONE], i + 1, Date.now() + wait)
      await vi.advanceTimersByTimeAsync(wait - 1)
      expect(queue.all()).toEqual([])
      expect(queue.has(keyOfIntent(ONE))).toBe(true)
      await vi.advanceTimersByTimeAsync(1)
      expect(queue.all()).toEqual([ONE])
      expect(queue.uncertain([ONE])).toEqual([ONE])
    }
  })

  test('behavior: does not delay what waits beside it, and is not queued by a repeat', async () => {
    const { queue } = queueOver([rowOf(ONE)])
    queue.add([ONE, TWO])
    await queue.setAside([ONE])
    expect([queue.size, queue.refused]).toEqual([1, 1])
    expect(queue.next(9)).toEqual([TWO])
    queue.addAgain([ONE])
    await queue.refresh()
    expect(queue.all()).toEqual([TWO])
    queue.remove([TWO])
    expect(queue.isEmpty()).toBe(false)
  })

  test('behavior: goes on waiting after a restart, and longer after the next refusal', async () => {
    const asideUntil = Date.now() + 10 * SECOND
    const { queue, setAside } = queueOver([rowOf(ONE, { tries: 3, asideUntil })])
    await queue.restore()
    await vi.advanceTimersByTimeAsync(10 * SECOND - 1)
    expect(queue.all()).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(queue.all()).toEqual([ONE])
    await queue.setAside([ONE])
    expect(setAside).toHaveBeenCalledWith([ONE], 4, Date.now() + 24 * SECOND)
  })

  test('behavior: a clock that was far ahead does not prolong the wait', async () => {
    const asideUntil = Date.now() + 86_400 * SECOND
    const { queue } = queueOver([rowOf(ONE, { tries: 2, asideUntil })])
    await queue.restore()
    await vi.advanceTimersByTimeAsync(6 * SECOND - 1)
    expect(queue.all()).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(queue.all()).toEqual([ONE])
  })

  test('error: waits in memory when its time cannot be noted', async () => {
    const { queue, setAside, warn } = queueOver([])
    setAside.mockRejectedValueOnce(new Error('the disk'))
    queue.add([ONE])
    await queue.setAside([ONE])
    expect(warn).toHaveBeenCalledWith('not_noted_aside', { error: 'Error: the disk' })
    expect(queue.all()).toEqual([])
    await vi.advanceTimersByTimeAsync(3 * SECOND)
    expect(queue.all()).toEqual([ONE])
  })

  test('default: is queued at once when it is recalled, and only once', async () => {
    const { queue, setAside, changed } = queueOver([])
    queue.add([ONE, TWO])
    await queue.setAside([ONE, TWO])
    changed.mockClear()
    queue.recall((intent) => intent === ONE)
    expect(queue.all()).toEqual([ONE])
    expect(queue.uncertain([ONE])).toEqual([ONE])
    expect(changed).toHaveBeenCalledTimes(1)
    // Refused again, it waits longer: its first time no longer counts.
    await queue.setAside([ONE])
    expect(setAside).toHaveBeenLastCalledWith([ONE], 2, Date.now() + 6 * SECOND)
    await vi.advanceTimersByTimeAsync(3 * SECOND)
    expect(queue.all()).toEqual([TWO])
    await vi.advanceTimersByTimeAsync(3 * SECOND)
    expect(queue.all()).toEqual([TWO, ONE])
  })

  test('behavior: a recall of nothing wakes nobody', async () => {
    const { queue, changed } = queueOver([])
    queue.recall(() => true)
    expect(changed).not.toHaveBeenCalled()
  })
})
