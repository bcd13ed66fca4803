import { describe, expect, test } from 'vitest'
import { createPool, MAX_ROWS, type Pool } from '#modules/desk/runs/pool.ts'

/** Lets a tenant ask for places. @returns The functions that free those it has so far. */
function ask(pool: Pool, tenant: string, places: number, entered: string[]) {
  const leaves: (() => void)[] = []
  for (let i = 0; i < places; i++)
    pool.enter(tenant).then((leave) => {
      entered.push(tenant)
      leaves.push(leave)
    })
  return leaves
}
const turn = () => new Promise(setImmediate)

describe('the pool of rows', () => {
  test('tenants take turns, however many rows each has', async () => {
    const pool = createPool({ room: () => 'busy', queued: () => 0 }, () => false)
    const entered: string[] = []
    const leaves = ask(pool, 'many', 100, entered)
    await turn()
    expect(entered).toHaveLength(MAX_ROWS.busy)
    ask(pool, 'few', 2, entered)
    ask(pool, 'other', 1, entered)
    await turn()
    for (let i = 0; i < 5; i++) {
      leaves[i]?.()
      await turn()
    }
    expect(entered.slice(MAX_ROWS.busy)).toEqual(['many', 'few', 'other', 'many', 'few'])
  })

  test('starts no row while many changes are queued, and finishes all', async () => {
    let [queued, isStopped] = [400, false]
    const pool = createPool({ room: () => 'regular', queued: () => queued }, () => isStopped)
    const entered: string[] = []
    ask(pool, 'one', 1, entered)
    await turn()
    expect(entered).toEqual([])
    queued = 399
    await expect.poll(() => entered).toEqual(['one'])
    queued = 10_000
    ask(pool, 'one', 1_000, entered)
    isStopped = true
    await expect.poll(() => entered.length).toBe(1_001)
  })
})
