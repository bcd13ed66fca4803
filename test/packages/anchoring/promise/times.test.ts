import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { createTimes } from '#promise/times.ts'

const intentOf = (n: number): Intent => ({
  kind: 'issue',
  documentHash: `0x${n.toString(16).padStart(64, '0')}`,
  validUntil: 0,
})
const blockHash: Hex = `0x${'ab'.repeat(32)}`
const anchoring = (blockNumber: number) => ({ blockNumber, blockHash, transactionHash: blockHash })
const anchored = (blockNumber: number) =>
  ({ status: 'anchored', ...anchoring(blockNumber) }) as const

function measured() {
  const included: number[] = []
  const final: number[] = []
  const times = createTimes({
    concluded() {},
    included: (_, seconds) => included.push(seconds),
    final: (_, seconds) => final.push(seconds),
  })
  return { times, included, final }
}

test('measures each change once, also after attempts that did not anchor it', () => {
  const { times, included, final } = measured()
  times.requested(intentOf(1))
  times.requested(intentOf(1))
  times.concluded(intentOf(1), { status: 'absent' })
  expect(included).toHaveLength(0)
  times.concluded(intentOf(1), anchored(7))
  times.concluded(intentOf(1), anchored(7))
  expect(included).toHaveLength(1)
  times.final([{ intent: intentOf(1), anchoring: anchoring(7) }])
  expect(final).toHaveLength(1)
  for (const seconds of [...included, ...final]) expect(seconds).toBeGreaterThanOrEqual(0)
})

test('does not measure what an earlier process started', () => {
  const { times, included, final } = measured()
  times.final([{ intent: intentOf(1), anchoring: anchoring(7) }])
  times.concluded(intentOf(2), anchored(8))
  expect([included, final]).toEqual([[], []])
})

test('drops the oldest of very many', () => {
  const { times, included } = measured()
  for (let n = 0; n <= 20_000; n++) times.requested(intentOf(n))
  times.concluded(intentOf(0), anchored(1))
  times.concluded(intentOf(1), anchored(1))
  expect(included).toHaveLength(1)
})
