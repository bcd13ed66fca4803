import { beforeEach, expect, test } from 'vitest'
import { type Clock, createCertainTime, createClock } from '#base/clock.ts'

const [SECOND, HOUR, DAY] = [1_000, 3_600_000, 86_400_000]
const START = Date.UTC(2026, 0, 31)

/** Since the process began, and how far the clock is ahead of the truth. */
let elapsed: number
let ahead: number
let clock: Clock
const truth = () => START + elapsed
function run(milliseconds: number): void {
  for (let left = milliseconds; left > 0; left -= 60 * SECOND) {
    elapsed += Math.min(left, 60 * SECOND)
    clock.now()
  }
}

beforeEach(() => {
  ;[elapsed, ahead] = [0, 0]
  clock = createClock(
    () => truth() + ahead,
    () => elapsed,
  )
})

test("equals the machine's clock, and is certain after an hour", () => {
  expect(clock.now()).toBe(START)
  expect(clock.isSettled()).toBe(false)
  run(HOUR)
  expect(clock.now()).toBe(truth())
  expect(clock.isSettled()).toBe(true)
})

test('follows a corrected clock gradually', () => {
  for (let i = 0; i < 90; i++) {
    ahead += 30 * SECOND
    run(60 * SECOND)
  }
  expect(clock.now()).toBe(truth() + ahead)
  expect(clock.isSettled()).toBe(true)
})

test('continues through a jump ahead, and is uncertain meanwhile', () => {
  run(2 * HOUR)
  ahead = 31 * DAY
  run(70 * SECOND)
  expect(clock.now()).toBe(truth())
  expect(clock.isSettled()).toBe(false)
  ahead = 0
  expect(clock.now()).toBe(truth())
  expect(clock.isSettled()).toBe(true)
})

test('accepts a jump that lasts for an hour', () => {
  run(2 * HOUR)
  ahead = DAY
  run(HOUR / 2)
  ahead = 2 * DAY
  run(HOUR)
  expect(clock.now()).toBe(truth())
  run(60 * SECOND)
  expect(clock.now()).toBe(truth() + 2 * DAY)
  expect(clock.isSettled()).toBe(true)
})

test('follows a jump back at once, also when the clock was ahead at the start', () => {
  ahead = 31 * DAY
  clock = createClock(
    () => truth() + ahead,
    () => elapsed,
  )
  run(70 * SECOND)
  ahead = 0
  expect(clock.now()).toBe(truth())
  run(HOUR - 60 * SECOND)
  expect(clock.isSettled()).toBe(false)
  run(60 * SECOND)
  expect(clock.isSettled()).toBe(true)
  ahead = 31 * DAY
  expect(clock.now()).toBe(truth())
})

test('the certain time is the earlier of clock and newest block', async () => {
  let timestamp = START / 1000 + 7_200
  const certainTime = createCertainTime(async () => ({ timestamp }), clock)
  expect(await certainTime()).toBeUndefined()
  run(HOUR)
  expect(await certainTime()).toBe(truth())
  timestamp = START / 1000
  expect(await certainTime()).toBe(START)
})

test('no time is certain while the chain cannot be read', async () => {
  run(HOUR)
  const certainTime = createCertainTime(() => Promise.reject(new Error('no node')), clock)
  await expect(certainTime()).rejects.toThrow('no node')
})
