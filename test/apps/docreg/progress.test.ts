import { expect, test } from 'vitest'
import { createProgress, duration, lineOf } from '#cli/progress.ts'

function screen(isTTY: boolean, columns = 100) {
  const written: string[] = []
  return { isTTY, columns, written, write: (text: string) => written.push(text) > 0 }
}

test('draws a bar with rate and remaining time', () => {
  const stream = screen(true)
  let now = 0
  const bar = createProgress(stream, 'Issuing', 100, () => now)
  now = 5_000
  bar.update(50)
  expect(stream.written.join('')).toMatch(
    /Issuing {2}█{12}░{12} {2}50 of 100 {2}10\/s {2}5 s left$/,
  )
  bar.end()
  expect(stream.written.at(-1)).toBe('\r\x1b[2K')
})

test('draws the whole bar on a terminal that reports no width', () => {
  const stream = screen(true, 0)
  let now = 0
  const bar = createProgress(stream, 'Issuing', 100, () => now)
  now = 5_000
  bar.update(50)
  expect(stream.written.join('')).toMatch(/5 s left$/)
})

test('computes the rate from the last seconds', () => {
  const stream = screen(true)
  let now = 0
  const bar = createProgress(stream, 'Issuing', 10_000, () => now)
  for (let second = 1; second <= 60; second++) {
    now = second * 1_000
    bar.update(second <= 30 ? second * 100 : 3_000 + second - 30)
  }
  expect(stream.written.at(-1)).toContain('1.0/s')
})

test('writes a line at intervals without a terminal', () => {
  const stream = screen(false)
  let now = 0
  const bar = createProgress(stream, 'Issuing', 100, () => now)
  for (now = 1_000; now <= 60_000; now += 1_000) bar.update(now / 1_000)
  bar.end()
  expect(stream.written).toHaveLength(2)
  expect(stream.written.join('')).not.toContain('\x1b')
})

test('shows counts when the total is unknown', () => {
  expect(lineOf('Reading', 7, undefined, 0)).toBe('Reading  7')
})

test.each([
  [0.2, '1 s'],
  [200, '3 min 20 s'],
  [7_500, '2 h 5 min'],
])('%d seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text)
})
