import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { groupReads } from '#base/grouping.ts'

type Call = {
  keys: string[]
  signal: AbortSignal
  answer: (values?: string[]) => void
  fail: (error: Error) => void
}

/** The calls sent, in order; a test answers each at will. */
let calls: Call[]
let read: ReturnType<typeof open>
beforeEach(() => {
  calls = []
  read = open()
})

const open = (limits: { maxKeys?: number; maxCalls?: number } = {}) => {
  const send = (keys: string[], signal: AbortSignal) =>
    new Promise<string[]>((resolve, reject) => {
      const answer = (values = keys.map(textOf)) => resolve(values)
      calls.push({ keys, signal, answer, fail: reject })
    })
  return groupReads<string, string>({
    idOf: (key) => key,
    callOf: (key) => key.slice(0, 1),
    readMany: send,
    readOne: async (key, signal) => (await send([key], signal))[0] ?? '',
    maxKeys: 100,
    maxCalls: 100,
    ...limits,
  })
}

const textOf = (key: string) => `value of ${key}`
const readAll = (keys: string[]) => Promise.all(keys.map((k) => read(k)))
/**
 * Waits until every call that can be sent is sent: a finished call lets the next one go in the next
 * turn.
 */
const nextTurn = async () => {
  for (let i = 0; i < 3; i++) await turn()
}
const sent = () => calls.map(({ keys }) => keys)
const settled = (read: Promise<unknown>) =>
  read.then(
    (value) => ({ value }),
    (reason) => ({ reason }),
  )

describe('grouping', () => {
  test('sends the reads of one turn in one call, each key once', async () => {
    const keys = ['x/1', 'x/2', 'x/1', 'x/3', 'x/2']
    const reads = readAll(keys)
    expect(sent()).toEqual([])
    await nextTurn()
    expect(sent()).toEqual([['x/1', 'x/2', 'x/3']])
    calls[0]?.answer()
    expect(await reads).toEqual(keys.map(textOf))
  })

  test('groups keys by call', async () => {
    const keys = ['x/1', 'y/1', 'x/2', 'y/2', 'x/1']
    const reads = readAll(keys)
    await nextTurn()
    expect(sent()).toEqual([
      ['x/1', 'x/2'],
      ['y/1', 'y/2'],
    ])
    for (const { answer } of calls) answer()
    expect(await reads).toEqual(keys.map(textOf))
  })

  test('never adds a read to a call that was sent', async () => {
    const first = read('x/1')
    await nextTurn()
    const second = read('x/1')
    await nextTurn()
    expect(sent()).toEqual([['x/1'], ['x/1']])
    calls[0]?.answer(['older'])
    calls[1]?.answer(['newer'])
    expect(await Promise.all([first, second])).toEqual(['older', 'newer'])
  })

  test('collects reads while the maximum number of calls is under way', async () => {
    read = open({ maxCalls: 1 })
    const first = read('x/1')
    await nextTurn()
    const others = readAll(['x/2', 'x/3', 'y/1'])
    await nextTurn()
    expect(sent()).toEqual([['x/1']])
    calls[0]?.answer()
    await first
    await nextTurn()
    expect(sent()).toEqual([['x/1'], ['x/2', 'x/3']])
    calls[1]?.fail(new Error('failed'))
    await nextTurn()
    // Alone, instead of the failed call.
    expect(sent().slice(2)).toEqual([['x/2'], ['x/3']])
    calls[2]?.answer()
    calls[3]?.answer()
    await nextTurn()
    expect(sent().slice(4)).toEqual([['y/1']])
    calls[4]?.answer()
    expect(await others).toEqual(['x/2', 'x/3', 'y/1'].map(textOf))
  })

  test('limits the keys of a call', async () => {
    read = open({ maxKeys: 2 })
    const keys = ['x/1', 'x/2', 'x/3', 'x/4', 'x/5']
    const reads = readAll(keys)
    await nextTurn()
    expect(sent()).toEqual([['x/1', 'x/2'], ['x/3', 'x/4'], ['x/5']])
    for (const { answer } of calls) answer()
    expect(await reads).toEqual(keys.map(textOf))
  })
})

describe('failures', () => {
  test('starts no empty call after one with the maximum number of keys', async () => {
    read = open({ maxKeys: 2 })
    const keys = ['x/1', 'x/2']
    const reads = readAll(keys)
    await nextTurn()
    expect(sent()).toEqual([keys])
    calls[0]?.answer()
    expect(await reads).toEqual(keys.map(textOf))
    await nextTurn()
    expect(sent()).toEqual([keys])
  })

  test('reads each key alone after a failed call, and each fails alone', async () => {
    const reads = ['x/1', 'x/2', 'x/3'].map((key) => settled(read(key)))
    await nextTurn()
    calls[0]?.fail(new Error('of the call'))
    await nextTurn()
    expect(sent().slice(1)).toEqual([['x/1'], ['x/2'], ['x/3']])
    calls[1]?.answer()
    calls[2]?.fail(new Error('of x/2'))
    calls[3]?.answer()
    expect(await Promise.all(reads)).toEqual([
      { value: textOf('x/1') },
      { reason: new Error('of x/2') },
      { value: textOf('x/3') },
    ])
  })

  test('does not repeat the failed read of a single key', async () => {
    const failed = settled(read('x/1'))
    await nextTurn()
    calls[0]?.fail(new Error('refused'))
    expect(await failed).toEqual({ reason: new Error('refused') })
    await nextTurn()
    expect(calls).toHaveLength(1)
  })

  test.each([
    ['too few values', ['one']],
    ['too many values', ['one', 'two', 'three']],
  ])('gives %s to no caller', async (_, values) => {
    const reads = readAll(['x/1', 'x/2'])
    await nextTurn()
    calls[0]?.answer(values)
    await nextTurn()
    calls[1]?.answer()
    calls[2]?.answer()
    expect(await reads).toEqual([textOf('x/1'), textOf('x/2')])
  })
})

describe('signals', () => {
  const gone = new Error('gone')

  test('an aborting caller does not abort the call of the others', async () => {
    const leaving = new AbortController()
    const left = settled(read('x/1', leaving.signal))
    const stayed = readAll(['x/1', 'x/2'])
    await nextTurn()
    leaving.abort(gone)
    expect(await left).toEqual({ reason: gone })
    expect(calls[0]?.signal.aborted).toBe(false)
    calls[0]?.answer()
    expect(await stayed).toEqual([textOf('x/1'), textOf('x/2')])
  })

  test('aborts a call when all its callers have aborted', async () => {
    const leaving = ['x/1', 'x/1', 'x/2'].map((key) => {
      const controller = new AbortController()
      const left = settled(read(key, controller.signal))
      return { controller, left }
    })
    await nextTurn()
    for (const { controller, left } of leaving) {
      expect(calls[0]?.signal.aborted).toBe(false)
      controller.abort(gone)
      expect(await left).toEqual({ reason: gone })
    }
    expect(calls[0]?.signal.aborted).toBe(true)
    calls[0]?.fail(new Error('aborted'))
    await nextTurn()
    expect(calls).toHaveLength(1)
  })

  test('does not read a key when all its callers have aborted', async () => {
    read = open({ maxCalls: 1 })
    const first = read('x/1')
    await nextTurn()
    const leaving = new AbortController()
    const left = ['x/2', 'y/1'].map((key) => settled(read(key, leaving.signal)))
    const stayed = read('x/3')
    leaving.abort(gone)
    expect(await Promise.all(left)).toEqual([{ reason: gone }, { reason: gone }])
    calls[0]?.answer()
    await first
    await nextTurn()
    expect(sent()).toEqual([['x/1'], ['x/3']])
    calls[1]?.answer()
    await stayed
    await nextTurn()
    expect(calls).toHaveLength(2)
  })

  test('can abort a key that is read alone after a failure', async () => {
    const leaving = new AbortController()
    const left = settled(read('x/1', leaving.signal))
    const stayed = read('x/2')
    await nextTurn()
    calls[0]?.fail(new Error('failed'))
    await nextTurn()
    leaving.abort(gone)
    expect(await left).toEqual({ reason: gone })
    expect(calls.map(({ signal }) => signal.aborted)).toEqual([false, true, false])
    calls[2]?.answer()
    expect(await stayed).toBe(textOf('x/2'))
    calls[1]?.fail(new Error('aborted'))
  })

  test('reads nothing for an aborted signal', async () => {
    const refused = read('x/1', AbortSignal.abort(gone))
    expect(await settled(refused)).toEqual({ reason: gone })
    await nextTurn()
    expect(calls).toEqual([])
  })
})
