import { beforeEach, expect, test } from 'vitest'
import type { Run, RunStore } from '#modules/desk/runs/ports.ts'
import { createRunStore } from '#modules/desk/runs/store.ts'
import { describePorts } from '#test/support/databases.ts'

const RUN: Run = {
  id: 'one',
  tenant: 'default',
  owner: 'person ada',
  mode: 'single',
  size: 3,
  content: new Uint8Array([1]),
  state: 'loading',
  reason: null,
  createdAt: 1_000,
  endedAt: null,
}
const MOST = { all: 3, tenant: 2, each: 2 }
const bytes = (...values: number[]) => new Uint8Array(values)
const ROWS = [1, 2, 3].map((line) => ({ line, sealed: bytes(line, 0, 255) }))

describePorts('runs', (ports) => {
  let store: RunStore
  beforeEach(async () => {
    store = createRunStore(ports.stores.database)
    expect(await store.begin(RUN, MOST)).toEqual(RUN)
  })

  test('reads rows in order, with their results', async () => {
    await store.addRows('one', ROWS)
    await store.addRows('one', [{ line: 1, sealed: bytes(9) }])
    await store.change('one', 'loading', { state: 'running', reason: null, endedAt: null })
    expect(await store.running()).toEqual([{ ...RUN, state: 'running' }])
    await store.settle('one', [
      { line: 3, result: bytes(7) },
      { line: 1, result: bytes(8) },
    ])
    expect(await store.find('one')).toEqual({ ...RUN, state: 'running', done: 2 })
    expect(await store.rows('one', 1, 5)).toEqual([
      { ...ROWS[1], result: null },
      { ...ROWS[2], result: bytes(7) },
    ])
    expect(await store.next('one', 0)).toEqual({ ...ROWS[1], result: null })
    expect(await store.next('one', 2)).toBeUndefined()
    await store.change('one', 'running', { state: 'stopped', reason: null, endedAt: 5_000 })
    expect(await store.next('one', 0)).toBeUndefined()
    expect(await store.rows('one', 0, 1)).toEqual([{ ...ROWS[0], result: bytes(8) }])
  })

  test('starts a run once; limits runs per tenant and in total', async () => {
    expect(await store.begin({ ...RUN, size: 9 }, MOST)).toEqual(RUN)
    const begin = (id: string, change: Partial<Run> = {}, most = MOST) =>
      store.begin({ ...RUN, id, owner: `key ${id}`, ...change }, most)
    const other = { tenant: 'other' }
    expect(await begin('two')).toBeDefined()
    expect(await begin('three')).toBeUndefined()
    expect(await begin('three', {}, { ...MOST, tenant: MOST.all })).toBeDefined()
    expect(await begin('four', other)).toBeUndefined()
    await store.change('two', 'loading', { state: 'stopped', reason: null, endedAt: 5_000 })
    expect(await begin('four', other)).toBeDefined()
    expect(await store.resume({ ...RUN, id: 'two' }, MOST)).toBe(false)
    await store.change('three', 'loading', { state: 'done', reason: null, endedAt: 5_000 })
    expect(await store.resume({ ...RUN, id: 'two' }, MOST)).toBe(true)
    expect(await store.find('two')).toMatchObject({ state: 'running', endedAt: null })
    expect((await store.list()).map(({ id }) => id)).toEqual(['four', 'one', 'three', 'two'])
  })

  test('the oldest finished run of an owner is removed for a new one', async () => {
    const [first, second] = ['stopped', 'done'] as const
    await store.begin({ ...RUN, id: 'two', createdAt: 2_000 }, MOST)
    await store.change('one', 'loading', { state: first, reason: null, endedAt: 5_000 })
    expect(await store.begin({ ...RUN, id: 'three' }, MOST)).toBeUndefined()
    await store.change('two', 'loading', { state: second, reason: null, endedAt: 5_000 })
    const begun = await store.begin({ ...RUN, id: 'three', createdAt: 3_000 }, MOST)
    expect(begun).toBeDefined()
    expect((await store.list(RUN.owner)).map(({ id }) => id)).toEqual(['three', 'one'])
  })

  test('removes the runs of an owner together', async () => {
    await store.begin({ ...RUN, id: 'two', owner: 'key x' }, MOST)
    expect((await store.owners()).toSorted()).toEqual(['key x', RUN.owner])
    await store.removeOf('key x')
    expect(await store.owners()).toEqual([RUN.owner])
    expect([await store.remove('one'), await store.remove('one')]).toEqual([true, false])
  })

  test('changes only the expected state', async () => {
    const stopped = { state: 'stopped', reason: 'requested', endedAt: 5_000 } as const
    expect(await store.change('one', 'running', stopped)).toBe(false)
    expect(await store.change('one', 'loading', stopped)).toBe(true)
    expect(await store.find('one')).toMatchObject(stopped)
  })

  test('removes runs that ended before a time, with their rows', async () => {
    await store.addRows('one', ROWS)
    await store.change('one', 'loading', { state: 'done', reason: null, endedAt: 5_000 })
    expect(await store.removeBefore(5_000)).toBe(0)
    expect(await store.removeBefore(5_001)).toBe(1)
    expect(await store.find('one')).toBeUndefined()
    expect(await store.rows('one', 0, 5)).toEqual([])
    await store.begin(RUN, MOST)
    expect(await store.rows('one', 0, 5)).toEqual([])
    await store.remove('one')
    expect(await store.find('one')).toBeUndefined()
  })
})
