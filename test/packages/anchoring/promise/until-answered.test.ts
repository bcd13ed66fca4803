import { describe, expect, test, vi } from 'vitest'
import { createDeadline } from '#base/deadline.ts'
import { IssueError } from '#promise/errors.ts'
import { untilAnswered } from '#promise/until-answered.ts'

describe('a write without an answer', () => {
  const unknown = new IssueError('outcome_unknown', 'the connection broke')
  const away = new IssueError('store_unavailable', 'the database is away')

  test('runs once if the answer arrives', async () => {
    const write = vi.fn(async () => true)
    expect(await untilAnswered(createDeadline(1_000), write)).toBe(true)
    expect(write).toHaveBeenCalledTimes(1)
  })

  test('is not repeated if it was refused', async () => {
    const write = vi.fn(() => Promise.reject(away))
    await expect(untilAnswered(createDeadline(1_000), write)).rejects.toBe(away)
    expect(write).toHaveBeenCalledTimes(1)
  })

  test('is repeated until the store returns its result', async () => {
    const write = vi
      .fn(async () => 'new')
      .mockRejectedValueOnce(unknown)
      .mockRejectedValueOnce(away)
      .mockRejectedValueOnce(unknown)
    expect(await untilAnswered(createDeadline(10_000), write)).toBe('new')
    expect(write).toHaveBeenCalledTimes(4)
  })

  test.each([
    ['the store stays down', () => Promise.reject(away)],
    ['no repeat is answered', () => Promise.reject(unknown)],
    ['a repeat hangs', () => new Promise<never>(() => {})],
  ])('stays unknown at the deadline when %s', async (_, repeat) => {
    const write = vi.fn(repeat).mockRejectedValueOnce(unknown)
    const started = performance.now()
    await expect(untilAnswered(createDeadline(350), write)).rejects.toBe(unknown)
    expect(performance.now() - started).toBeGreaterThanOrEqual(349)
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(write.mock.calls.length).toBeGreaterThan(1)
    expect(write.mock.calls.length).toBeLessThan(10)
  })

  test('is not repeated when the deadline has passed', async () => {
    const write = vi.fn(() => Promise.reject(unknown))
    await expect(untilAnswered(createDeadline(0), write)).rejects.toBe(unknown)
    expect(write).toHaveBeenCalledTimes(1)
  })
})
