import { expect, test } from 'vitest'
import { createLookTimer } from '#engine/lane.ts'

/** A timer on a clock that only moves when a test moves it. */
function startTimer() {
  let time = 1_000
  const timer = createLookTimer(() => time)
  const pass = (milliseconds: number) => {
    time += milliseconds
  }
  /**
   * A send is made and broadcast at once, and its block comes after this many milliseconds.
   *
   * @returns How late the block is seen, and the number of looks.
   */
  function seeBlockAfter(milliseconds: number) {
    const made = time
    timer.planned(true)
    timer.answered()
    let looks = 1
    for (; time - made < milliseconds; looks++) {
      timer.looked(made)
      pass(timer.left())
    }
    return { late: time - made - milliseconds, looks }
  }
  return { timer, pass, seeBlockAfter, now: () => time }
}

test('checks as soon as a node has answered a broadcast', () => {
  const { timer } = startTimer()
  timer.planned(true)
  expect(timer.left()).toBeGreaterThan(0)
  timer.answered()
  expect(timer.left()).toBe(0)
})

test('checks a send whose broadcast no node answers', () => {
  const { timer, pass } = startTimer()
  timer.planned(true)
  pass(timer.left())
  expect(timer.left()).toBe(0)
})

test.each([30, 100, 250, 400, 1_000])(
  'notices a block after %i ms late by at most an eighth',
  (block) => {
    const { late, looks } = startTimer().seeBlockAfter(block)
    expect(late).toBeLessThanOrEqual(block / 8)
    expect(looks).toBeLessThan(50)
  },
)

test('checks four times a second a send that waits for long', () => {
  const { timer, pass, now } = startTimer()
  const made = now()
  pass(12_000)
  timer.looked(made)
  expect(timer.left()).toBe(250)
})

test('a send behind an older one does not delay the next check', () => {
  const { timer, pass, now } = startTimer()
  const made = now()
  pass(80)
  timer.looked(made)
  const left = timer.left()
  timer.planned(false)
  expect(timer.left()).toBe(left)
})

test('checks again at once when the oldest send is new', () => {
  const { timer, now } = startTimer()
  timer.looked(now())
  expect(timer.left()).toBe(2)
})
