import { expect, test } from 'vitest'
import { RecentMap } from '#base/recent-map.ts'

const keys = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => String(from + i))

function filled(maxWeight: number, count: number): RecentMap<string> {
  const map = new RecentMap<string>(maxWeight)
  for (const key of keys(0, count)) map.add(key, `value ${key}`)
  return map
}

const kept = (map: RecentMap<string>, all: readonly string[]) =>
  all.filter((key) => map.get(key) === `value ${key}`)

test('finds what was added', () => {
  const map = filled(100, 50)
  expect(kept(map, keys(0, 50))).toEqual(keys(0, 50))
  expect(map.get('50')).toBeUndefined()
})

test('keeps at most the maximum, and at least half of it', () => {
  const map = filled(100, 1_000)
  const newest = keys(950, 1_000)
  expect(kept(map, newest)).toEqual(newest)
  expect(kept(map, keys(0, 900))).toEqual([])
})

test('keeps what is read while others come and go', () => {
  const map = filled(100, 1)
  for (const key of keys(1, 1_000)) {
    map.add(key, `value ${key}`)
    expect(map.get('0')).toBe('value 0')
  }
})

test('counts weights', () => {
  const map = new RecentMap<string>(100, (text) => text.length)
  for (const key of keys(0, 10)) map.add(key, 'x'.repeat(20))
  expect(keys(0, 10).filter((key) => map.get(key) !== undefined).length).toBeLessThanOrEqual(5)
})

test('drops what was not used for two periods', () => {
  const map = filled(100, 10)
  map.age()
  expect(map.get('1')).toBe('value 1')
  map.age()
  expect(kept(map, keys(0, 10))).toEqual(['1'])
  expect(map.isEmpty()).toBe(false)
  map.clear()
  expect(map.isEmpty()).toBe(true)
  expect(map.get('1')).toBeUndefined()
})
