import { describe, expect, test } from 'vitest'
import { durationOf } from '#batches/duration.ts'

describe('the estimated time of a run', () => {
  test.each([
    // One block for all, and one that it may miss.
    ['batch', 300, 12_000, 24],
    // 25 seconds to seal, and the block after.
    ['batch', 100_000, 12_000, 48],
    ['single', 300, 12_000, 24],
    // 25 times 400 rows, each in a block of its own.
    ['single', 10_000, 12_000, 312],
    // Two seconds to issue 400 rows are the limit, not the block.
    ['single', 10_000, undefined, 51],
    ['single', 1, undefined, 2],
    ['batch', 1, 2_000, 4],
  ] as const)('%s, %i rows, blocks every %s ms: %i s', (mode, size, interval, seconds) => {
    expect(durationOf(mode, size, interval)).toBe(seconds)
  })
})
