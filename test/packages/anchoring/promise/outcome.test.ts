import { expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import { outcomesOfPlans } from '#promise/outcome.ts'
import type { TrustedRecord } from '#promise/record.ts'
import { ACCOUNT } from '#test/support/outbox.ts'
import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const none = async () => Promise.reject(new Error('not called'))
const documentHash = word(1)
const OWN = word(2)
const OTHER = word(3)
/** The block of the plan's transaction; it was planned one block before. */
const BLOCK = 9

const revoke: Intent = { kind: 'revoke', documentHash, reason: 4 }
const suspend: Intent = { kind: 'suspend', documentHash }
const release: Intent = { kind: 'release', documentHash }

type Shown = {
  succeeded?: boolean
  revised?: number
  record?: { block: number; reason: number; distrustedFrom?: number }
}

/** @returns The outcome of a plan of one intent, from its receipt and the document's record. */
async function outcomeOf(intent: Intent, { succeeded = true, revised, record }: Shown) {
  const { block, reason, distrustedFrom = 0 } = record ?? { block: 0, reason: 0 }
  const shown: TrustedRecord = {
    accountIndex: 0,
    anchoredBlock: 5,
    anchoredAt: 5,
    validUntil: 0,
    distrusted: false,
    revokerIndex: 1,
    revokedBlock: block,
    revokedAt: block,
    reason,
    setAside: false,
    revoker: record ? { distrustedFrom } : null,
  }
  const transaction = { nonce: 7, hash: OWN, raw: OWN, gasLimit: 1n }
  const fees = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const plan = { id: 1, account: ACCOUNT, nonce: 7, intents: [intent], head: BLOCK - 1 }
  const [outcome] = await outcomesOfPlans(
    {
      receiptOf: async () => ({
        blockNumber: BLOCK,
        blockHash: word(BLOCK),
        succeeded,
        issued: new Set<Hex>(),
        revised: new Map(revised === undefined ? [] : [[documentHash, revised]]),
      }),
      records: async () => [shown],
      transactionsOf: async (_, blockNumber) =>
        new Map([
          [documentHash, { blockNumber, blockHash: word(blockNumber), transactionHash: OTHER }],
        ]),
      isPooled: none,
    },
    [{ ...plan, attempts: [{ ...transaction, ...fees }] }],
  )
  return outcome
}

const own = { status: 'anchored', blockNumber: BLOCK, transactionHash: OWN }
const other = { status: 'anchored', transactionHash: OTHER }

test.each<[string, Intent, Shown, object]>([
  ['revoked', revoke, { revised: 4 }, { ...own, reason: 4 }],
  ['suspended', suspend, { revised: SUSPENDED }, own],
  ['released', release, { revised: RELEASED }, own],
])('default: the receipt shows that it was %s', async (_, intent, shown, outcome) => {
  expect(await outcomeOf(intent, shown)).toMatchObject(outcome)
})

test.each<[string, Intent, Shown, object]>([
  [
    'a revocation that came first is that of the chain',
    revoke,
    { record: { block: 8, reason: 1 } },
    { ...other, blockNumber: 8, reason: 1 },
  ],
  [
    'a suspension that came first stands',
    suspend,
    { record: { block: 8, reason: SUSPENDED } },
    { ...other, blockNumber: 8 },
  ],
  [
    'a suspension that came first and was released is moot',
    suspend,
    { record: { block: 10, reason: RELEASED } },
    { status: 'moot' },
  ],
  [
    'a release that came first, before another suspension, is moot',
    release,
    { record: { block: 10, reason: SUSPENDED } },
    { status: 'moot' },
  ],
  [
    'a revocation whose forerunner was set aside is still to be made',
    revoke,
    { record: { block: 10, reason: RELEASED } },
    { status: 'absent' },
  ],
  [
    'a suspension whose transaction failed is still to be made',
    suspend,
    { succeeded: false, record: { block: 10, reason: RELEASED } },
    { status: 'absent' },
  ],
  [
    "a release over a thief's is still to be made",
    release,
    { record: { block: 8, reason: RELEASED, distrustedFrom: 8 } },
    { status: 'absent' },
  ],
  [
    'a release that came before the account was distrusted stands',
    release,
    { record: { block: 8, reason: RELEASED, distrustedFrom: 9 } },
    { ...other, blockNumber: 8 },
  ],
  [
    'a suspension of what a thief released is moot: it counts as suspended',
    suspend,
    { record: { block: 8, reason: RELEASED, distrustedFrom: 1 } },
    { status: 'moot' },
  ],
  [
    "a revocation over a thief's release is still to be made",
    revoke,
    { record: { block: 10, reason: RELEASED, distrustedFrom: 1 } },
    { status: 'absent' },
  ],
])('behavior: %s', async (_, intent, shown, outcome) => {
  expect(await outcomeOf(intent, shown)).toMatchObject(outcome)
})
