import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createShares, createTurns } from '#base/shares.ts'

describe('shares', () => {
  test('behavior: one owner takes no more than its share, and all no more than there is', () => {
    const shares = createShares({ all: 10, each: 6 })
    expect(shares.take('one', 6)).toBe(true)
    expect(shares.take('one')).toBe(false)
    expect(shares.take('two', 5)).toBe(false)
    expect(shares.take('two', 4)).toBe(true)
    expect(shares.take('three')).toBe(false)
    shares.give('one', 2)
    expect(shares.take('three', 2)).toBe(true)
    expect(shares.take('one')).toBe(false)
  })
})

describe('turns', () => {
  /** @returns Asks for turns, and says which pieces of work have begun. */
  function workIn(limits: { all: number; each: number }) {
    const turns = createTurns(limits)
    const begun: string[] = []
    const ends = new Map<string, PromiseWithResolvers<string>>()
    return {
      begun,
      ends,
      ask(owner: string, name: string) {
        const work = Promise.withResolvers<string>()
        ends.set(name, work)
        return turns.begin(owner, () => {
          begun.push(name)
          return work.promise
        })
      },
    }
  }

  test('behavior: begins no more than there are turns, in order, also after a failure', async () => {
    const { begun, ends, ask } = workIn({ all: 2, each: 2 })
    const [first, second, third, fourth] = ['a', 'b', 'c', 'd'].map((name) => ask('one', name))
    await Promise.all([first, second])
    expect(begun).toEqual(['a', 'b'])
    ends.get('b')?.reject(new Error('failed'))
    await third
    expect(begun).toEqual(['a', 'b', 'c'])
    ends.get('a')?.resolve('result')
    await fourth
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
    await expect((await first)?.done).resolves.toBe('result')
    await expect((await second)?.done).rejects.toThrow('failed')
  })

  test('behavior: one owner never has all turns, so that another begins at once', async () => {
    const { begun, ask } = workIn({ all: 3, each: 2 })
    for (const name of ['a', 'b', 'c', 'd']) void ask('one', name)
    void ask('two', 'x')
    await nextTurn()
    expect(begun).toEqual(['a', 'b', 'x'])
  })

  test('behavior: owners that wait take turns, however much one of them has asked for', async () => {
    const { begun, ends, ask } = workIn({ all: 1, each: 1 })
    for (const name of ['a', 'b', 'c', 'd']) void ask('one', name)
    for (const name of ['x', 'y']) void ask('two', name)
    for (const name of ['a', 'b', 'x', 'c', 'y', 'd']) {
      await nextTurn()
      expect(begun.at(-1)).toBe(name)
      ends.get(name)?.resolve('')
    }
  })
})
