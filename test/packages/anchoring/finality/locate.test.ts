import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { locate } from '#finality/locate.ts'
import type { Anchored } from '#promise/anchoring.ts'
import type { TrustedRecord } from '#promise/record.ts'
import { RELEASED } from '#verifier/reasons.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const none = async () => Promise.reject(new Error('not called'))

const suspension: Anchored = {
  intent: { kind: 'suspend', documentHash: word(1) },
  anchoring: { blockNumber: 7, blockHash: word(7), transactionHash: word(2) },
}
/** Released in this block, by another account. */
const releasedIn = (revokedBlock: number): TrustedRecord => ({
  accountIndex: 0,
  anchoredBlock: 5,
  anchoredAt: 5,
  validUntil: 0,
  distrusted: false,
  revoker: null,
  revokerIndex: 1,
  revokedBlock,
  revokedAt: 9,
  reason: RELEASED,
  setAside: false,
})

test.each([
  { when: 'the block is forgotten', hash: null, released: 9, status: 'moot' },
  { when: 'a forgotten release came before', hash: null, released: 6, status: 'absent' },
  { when: 'a reorg replaced the block', hash: word(8), released: 9, status: 'absent' },
])(
  'behavior: a suspension that another account released is $status when $when',
  async ({ hash, released, status }) => {
    const [place] = await locate(
      {
        records: async () => [releasedIn(released)],
        receiptOf: async () => undefined,
        transactionsOf: none,
        isPooled: none,
      },
      { blockHash: async () => hash, head: none, block: none, finalizedBlock: none },
      [suspension],
    )
    expect(place).toEqual({ status })
  },
)
