import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { createTimes } from '#promise/times.ts'

const actionOf = (n: number): Action => ({
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
  times.requested(actionOf(1))
  times.requested(actionOf(1))
  times.concluded(actionOf(1), { status: 'absent' })
  expect(included).toHaveLength(0)
  times.concluded(actionOf(1), anchored(7))
  times.concluded(actionOf(1), anchored(7))
  expect(included).toHaveLength(1)
  times.final([{ action: actionOf(1), anchoring: anchoring(7) }])
  expect(final).toHaveLength(1)
  for (const seconds of [...included, ...final]) expect(seconds).toBeGreaterThanOrEqual(0)
})

test('does not measure what an earlier process started', () => {
  const { times, included, final } = measured()
  times.final([{ action: actionOf(1), anchoring: anchoring(7) }])
  times.concluded(actionOf(2), anchored(8))
  expect([included, final]).toEqual([[], []])
})

test('drops the oldest of very many', () => {
  const { times, included } = measured()
  for (let n = 0; n <= 20_000; n++) times.requested(actionOf(n))
  times.concluded(actionOf(0), anchored(1))
  times.concluded(actionOf(1), anchored(1))
  expect(included).toHaveLength(1)
})
