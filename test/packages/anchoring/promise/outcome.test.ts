import { beforeEach, describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { type Outcome, UNSEEN } from '#promise/anchoring.ts'
import { outcomesOfSends, usedIn } from '#promise/outcome.ts'
import type { RegistryReader } from '#promise/ports.ts'
import type { TrustedRecord } from '#promise/record.ts'
import type { Send } from '#promise/send.ts'
import { ACCOUNT } from '#test/support/outbox.ts'
import { RELEASED, SUSPENDED } from '#verifier/reasons.ts'

const word = (n: number): Hex => `0x${String(n).padStart(64, '0')}`
const none = async () => Promise.reject(new Error('not called'))
const documentHash = word(1)
const OWN = word(2)
const OTHER = word(3)
/** The block of the send's transaction; it was planned one block before. */
const BLOCK = 9

const revoke: Action = { kind: 'revoke', documentHash, reason: 4 }
const suspend: Action = { kind: 'suspend', documentHash }
const release: Action = { kind: 'release', documentHash }

type Shown = {
  /** Whether no node has the receipt. */
  isForgotten?: boolean
  succeeded?: boolean
  revised?: number
  record?: { block: number; reason: number; distrustedFrom?: number }
}

/** @returns The outcome of a send of one action, from its receipt and the document's record. */
async function outcomeOf(action: Action, shownBy: Shown) {
  const { isForgotten = false, succeeded = true, revised, record } = shownBy
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
  const [outcomes] = await outcomesOfSends(
    {
      receiptOf: async () =>
        isForgotten
          ? undefined
          : {
              blockNumber: BLOCK,
              blockHash: word(BLOCK),
              succeeded,
              issued: new Set<Hex>(),
              revised: new Map(revised === undefined ? [] : [[documentHash, revised]]),
            },
      records: async () => [shown],
      transactionsOf: async (_, blockNumber) =>
        new Map([
          [documentHash, { blockNumber, blockHash: word(blockNumber), transactionHash: OTHER }],
        ]),
    },
    [{ ...sendOf([action], OWN), head: BLOCK - 1 }],
  )
  return outcomes?.[0]
}

/** @param hashes Those of its transactions. */
function sendOf(actions: readonly Action[], ...hashes: Hex[]): Send {
  const members = actions.map((action, i) => ({ action, place: i + 1 }))
  const attempts = hashes.map((hash) => ({
    nonce: 7,
    hash,
    raw: hash,
    carried: members.length,
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  }))
  return { id: 1, account: ACCOUNT, nonce: 7, members, attempts }
}

const own = { status: 'anchored', blockNumber: BLOCK, transactionHash: OWN }
const other = { status: 'anchored', transactionHash: OTHER }

test.each<[string, Action, Shown, object]>([
  ['revoked', revoke, { revised: 4 }, { ...own, reason: 4 }],
  ['suspended', suspend, { revised: SUSPENDED }, own],
  ['released', release, { revised: RELEASED }, own],
])('the receipt shows that it was %s', async (_, action, shown, outcome) => {
  expect(await outcomeOf(action, shown)).toMatchObject(outcome)
})

test.each<[string, Action, Shown, object]>([
  [
    'a revocation that came first is that of the chain',
    revoke,
    { record: { block: 8, reason: 1 } },
    { ...other, blockNumber: 8, reason: 1 },
  ],
  [
    'a suspension that came first stays',
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
    'a suspension whose receipt is forgotten, and that was released later, is moot',
    suspend,
    { isForgotten: true, record: { block: 10, reason: RELEASED } },
    { status: 'moot' },
  ],
  [
    'a suspension that is forgotten, after an earlier release, is sent again',
    suspend,
    { isForgotten: true, record: { block: 6, reason: RELEASED } },
    { status: 'absent' },
  ],
  [
    'a release that came first, before another suspension, is moot',
    release,
    { record: { block: 10, reason: SUSPENDED } },
    { status: 'moot' },
  ],
  [
    'a revocation is sent again although a distrusted one came first',
    revoke,
    { record: { block: 10, reason: RELEASED } },
    { status: 'absent' },
  ],
  [
    'a suspension whose transaction failed is sent again',
    suspend,
    { succeeded: false, record: { block: 10, reason: RELEASED } },
    { status: 'absent' },
  ],
  [
    'a release is sent again although a thief released first',
    release,
    { record: { block: 8, reason: RELEASED, distrustedFrom: 8 } },
    { status: 'absent' },
  ],
  [
    'a release that came before the distrust counts',
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
    'a revocation is sent again although a thief released first',
    revoke,
    { record: { block: 10, reason: RELEASED, distrustedFrom: 1 } },
    { status: 'absent' },
  ],
])('%s', async (_, action, shown, outcome) => {
  expect(await outcomeOf(action, shown)).toMatchObject(outcome)
})

describe('several sends', () => {
  const issueOf = (n: number): Action => ({ kind: 'issue', documentHash: word(n), validUntil: 0 })
  const ISSUED: TrustedRecord = {
    accountIndex: 0,
    anchoredBlock: BLOCK,
    anchoredAt: BLOCK,
    validUntil: 0,
    distrusted: false,
    revokerIndex: 0,
    revokedBlock: 0,
    revokedAt: 0,
    reason: 0,
    setAside: false,
    revoker: null,
  }
  const placeOf = (transactionHash: Hex) => ({
    blockNumber: BLOCK,
    blockHash: word(BLOCK),
    transactionHash,
  })
  /** A chain on which the first transaction has issued the documents 1 and 3. */
  const registry: RegistryReader = {
    receiptOf: async (hash) =>
      hash === OWN
        ? {
            ...placeOf(OWN),
            succeeded: true,
            issued: new Set([word(1), word(3)]),
            revised: new Map(),
          }
        : undefined,
    records: async (keys) =>
      keys.map((key) =>
        [word(1), word(3)].includes(key.documentHash) ? ISSUED : { ...ISSUED, anchoredBlock: 0 },
      ),
    transactionsOf: async () => new Map([1, 3].map((n) => [word(n), placeOf(OWN)])),
  }
  const anchored = { status: 'anchored', ...placeOf(OWN) }
  const absent = { status: 'absent' }

  test.each([
    ['their receipts', 2],
    ['records, when there are many', 5],
  ])('have a list of results each, in the order of their members, from %s', async (_, count) => {
    const sends = [
      sendOf([issueOf(1), issueOf(2)], OWN),
      sendOf([issueOf(4), issueOf(3)], OTHER),
      ...Array.from({ length: count - 2 }, () => sendOf([], OTHER)),
    ]
    expect(await outcomesOfSends(registry, sends)).toEqual([
      [anchored, absent],
      [absent, anchored],
      ...Array.from({ length: count - 2 }, () => []),
    ])
  })
})

describe('the block in which a nonce is used', () => {
  const HEAD = 20
  const place = { blockNumber: BLOCK, blockHash: word(BLOCK) }
  const anchored = (transactionHash: Hex): Outcome => ({
    status: 'anchored',
    ...place,
    transactionHash,
  })
  /** The nonce that the chain needs once its head was read; that of the send is 7. */
  let next = 8
  beforeEach(() => {
    next = 8
  })

  /** @param mined The hash of the transaction whose receipt a node has. */
  function placeOf(outcomes: readonly Outcome[], mined?: Hex, headHash: Hex | null = word(HEAD)) {
    const send = sendOf([suspend], OWN, word(4))
    const registry: RegistryReader = {
      receiptOf: async (hash) =>
        hash === mined
          ? { ...place, succeeded: true, issued: new Set(), revised: new Map() }
          : undefined,
      records: none,
      transactionsOf: none,
    }
    const blocks = {
      head: async () => ({ number: HEAD, timestamp: 0 }),
      block: none,
      blockHash: async () => headHash,
      finalizedBlock: none,
    }
    return usedIn({ account: { nextNonce: async () => next }, registry, blocks }, send, outcomes)
  }
  const atHead = { blockNumber: HEAD, blockHash: word(HEAD), transactionHash: null }

  test("is the one of its own transaction, as a member's outcome shows it", async () => {
    const outcomes: Outcome[] = [{ status: 'absent' }, anchored(OWN)]
    expect(await placeOf(outcomes)).toEqual({ ...place, transactionHash: OWN })
  })

  test('is the one of any of its transactions, as the receipt shows it', async () => {
    const outcomes: Outcome[] = [{ status: 'moot' }, anchored(OTHER)]
    expect(await placeOf(outcomes, OWN)).toEqual({ ...place, transactionHash: OWN })
  })

  test('is the newest one when a foreign transaction used the nonce', async () => {
    expect(await placeOf([anchored(OTHER)])).toEqual(atHead)
    expect(await placeOf([], undefined, null)).toEqual({ ...atHead, blockHash: UNSEEN })
  })

  test('is unknown when a reorg has taken the nonce back before the head was read', async () => {
    next = 7
    await expect(placeOf([])).rejects.toMatchObject({ code: 'chain_unavailable' })
  })

  test('is the newest one when no node has the events of its own transaction', async () => {
    const forgotten: Outcome = {
      status: 'anchored',
      ...place,
      blockHash: UNSEEN,
      transactionHash: null,
    }
    expect(await placeOf([forgotten])).toEqual(atHead)
  })
})
