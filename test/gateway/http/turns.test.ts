import { describe, expect, test } from 'vitest'
import { createTurns } from '../../../gateway/http/turns.ts'

describe('turns', () => {
  test('behavior: begins no more than there are turns, in order, also after a failure', async () => {
    const turns = createTurns(2)
    const begun: number[] = []
    const work = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
    const results = work.map(({ promise }, i) =>
      turns.begin(() => {
        begun.push(i)
        return promise
      }),
    )
    await Promise.all(results.slice(0, 2))
    expect(begun).toEqual([0, 1])
    work[1]?.reject(new Error('failed'))
    await results[2]
    expect(begun).toEqual([0, 1, 2])
    work[0]?.resolve(7)
    await results[3]
    expect(begun).toEqual([0, 1, 2, 3])
    await expect((await results[0])?.done).resolves.toBe(7)
    await expect((await results[1])?.done).rejects.toThrow('failed')
  })
})
