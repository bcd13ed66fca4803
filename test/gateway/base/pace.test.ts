import { expect, test } from 'vitest'
import { createPace } from '#base/pace.ts'

const nextTurn = () => new Promise(setImmediate)

test('default: lets callers go on in order, a limited number in a turn', async () => {
  const pace = createPace(2)
  const gone: number[] = []
  for (const caller of [1, 2, 3, 4, 5]) pace().then(() => gone.push(caller))
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

test('behavior: a later caller waits no longer than needed', async () => {
  const pace = createPace(2)
  await Promise.all([pace(), pace(), pace()])
  let gone = false
  const last = pace().then(() => {
    gone = true
  })
  expect(gone).toBe(false)
  await last
  expect(gone).toBe(true)
})
