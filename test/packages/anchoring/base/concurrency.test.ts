import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createShares, limitInShares, limitPerTurn, shareRead } from '#base/concurrency.ts'

describe('a limit per turn', () => {
  test('lets callers continue in order, a limited number per turn', async () => {
    const turn = limitPerTurn(2)
    const gone: number[] = []
    for (const caller of [1, 2, 3, 4, 5]) turn().then(() => gone.push(caller))
    const turns: number[][] = []
    while (gone.length < 5) {
      await nextTurn()
      turns.push([...gone])
    }
    expect(turns).toEqual([
      [1, 2],
      [1, 2, 3, 4],
      [1, 2, 3, 4, 5],
    ])
  })

  test('a later caller waits no longer than needed', async () => {
    const turn = limitPerTurn(2)
    await Promise.all([turn(), turn(), turn()])
    let gone = false
    const last = turn().then(() => {
      gone = true
    })
    expect(gone).toBe(false)
    await last
    expect(gone).toBe(true)
  })
})

describe('shares', () => {
  test('one owner gets at most its share, and all together at most the total', () => {
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

describe('work in shares', () => {
  /** @returns Asks for places, and says which pieces of work have begun. */
  function workIn(limits: { all: number; each: number }) {
    const begin = limitInShares(limits)
    const begun: string[] = []
    const ends = new Map<string, PromiseWithResolvers<string>>()
    return {
      begun,
      ends,
      ask(owner: string, name: string) {
        const work = Promise.withResolvers<string>()
        ends.set(name, work)
        return begin(owner, () => {
          begun.push(name)
          return work.promise
        })
      },
    }
  }

  test('limits concurrent work, in order, also after a failure', async () => {
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

  test('one owner never uses all slots, so that another can start at once', async () => {
    const { begun, ask } = workIn({ all: 3, each: 2 })
    for (const name of ['a', 'b', 'c', 'd']) void ask('one', name)
    void ask('two', 'x')
    await nextTurn()
    expect(begun).toEqual(['a', 'b', 'x'])
  })

  test('owners that wait take turns, however much each has requested', async () => {
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

describe('a shared read', () => {
  test('is made once for all callers at the same time', async () => {
    let asked = 0
    const read = shareRead(async () => ++asked, 60_000)
    expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1])
    expect(await read()).toBe(1)
  })

  test('is made again after its time', async () => {
    let asked = 0
    const read = shareRead(async () => ++asked, 0)
    expect(await read()).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await read()).toBe(2)
  })

  test('shares a failure as well', async () => {
    let asked = 0
    const read = shareRead(async () => {
      throw new Error(`down ${++asked}`)
    }, 60_000)
    await expect(read()).rejects.toThrow('down 1')
    await expect(read()).rejects.toThrow('down 1')
  })
})
