import { describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { type Anchoring, UNSEEN } from '#promise/anchoring.ts'
import type { Intent } from '#promise/intent.ts'
import { type Change, endOf, followUpsOf } from '#store/outcomes.ts'

// What follows from what became of intents, without a database. The ports over both databases test
// that it is written.

const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const HASH = word(1)
const ROOT = word(2)
const document = { documentHash: HASH, tenant: 'ada' }
const batch = { documentHash: ROOT, root: ROOT, tenant: 'ada' }
const ofBatch = { documentHash: HASH, root: ROOT, tenant: 'ada' }
const issue = (of: Pick<Intent, 'documentHash' | 'root' | 'tenant'>): Intent => ({
  kind: 'issue',
  validUntil: 0,
  ...of,
})
const at = (blockNumber: number, more: Partial<Anchoring> = {}): Anchoring => ({
  blockNumber,
  blockHash: word(100 + blockNumber),
  transactionHash: word(200 + blockNumber),
  ...more,
})
const follow = (change: Change) => followUpsOf([change])
const typesOf = (change: Change) => follow(change).events.map(({ type }) => type)

describe('issuing', () => {
  test('default: a first block is history, index, event and the end of a predecessor', () => {
    expect(follow({ intent: issue(document), before: null, after: at(5) })).toEqual({
      left: [],
      entered: [{ hash: HASH, place: at(5), isBatch: false }],
      moved: [{ hash: HASH, block: 5, isBatch: false }],
      statuses: [],
      successors: [{ hash: HASH, tenant: 'ada' }],
      revoked: [],
      counted: [{ intent: issue(document), kind: 'issued' }],
      events: [
        { type: 'document.issued', hash: HASH, place: at(5), tenant: 'ada', hasOwner: false },
      ],
    })
  })

  test('default: a batch likewise, by its root', () => {
    const found = follow({ intent: issue(batch), before: null, after: at(5) })
    expect(found.entered).toEqual([{ hash: ROOT, place: at(5), isBatch: true }])
    expect(found.moved).toEqual([{ hash: ROOT, block: 5, isBatch: true }])
    expect(found.events).toMatchObject([{ type: 'batch.issued', hash: ROOT }])
  })

  test('behavior: another block takes the place of the first, and is an event', () => {
    const found = follow({ intent: issue(document), before: at(5), after: at(6) })
    expect(found.left).toEqual([{ hash: HASH, block: 5, isBatch: false }])
    expect(found.entered).toMatchObject([{ place: { blockNumber: 6 } }])
    expect(found.successors).toEqual([])
    expect(found.events).toMatchObject([{ type: 'document.issued' }])
  })

  test('behavior: a block of the same number keeps the place, and is an event', () => {
    const found = follow({
      intent: issue(document),
      before: at(5),
      after: at(5, { blockHash: word(9) }),
    })
    expect([found.left, found.moved]).toEqual([[], []])
    expect(found.events).toMatchObject([{ type: 'document.issued', place: { blockHash: word(9) } }])
  })

  test('behavior: learning the hash of a block is no event', () => {
    const before = at(5, { blockHash: UNSEEN })
    expect(typesOf({ intent: issue(document), before, after: at(5) })).toEqual([])
  })

  test('behavior: a dropped document leaves history and index, and is no event', () => {
    const found = follow({ intent: issue(document), before: at(5), after: null })
    expect(found.left).toEqual([{ hash: HASH, block: 5, isBatch: false }])
    expect(found.moved).toEqual([{ hash: HASH, block: null, isBatch: false }])
    expect([found.entered, found.events, found.successors]).toEqual([[], [], []])
  })
})

describe('changes of a document or batch', () => {
  test.each([
    ['revoke', at(5), 2, false, 'document.revoked'],
    ['suspend', at(5), 1, true, 'document.suspended'],
    ['release', at(5), 0, true, 'document.released'],
    ['revoke', null, 0, false, undefined],
    ['suspend', null, 0, true, undefined],
    ['release', null, 1, true, undefined],
  ] as const)('default: %s in %o', (kind, after, status, isHold, type) => {
    const before = after ? null : at(5)
    const intent = (
      kind === 'revoke' ? { kind, ...document, reason: 1 } : { kind, ...document }
    ) as Intent
    const found = follow({ intent, before, after })
    expect(found.statuses).toEqual([{ hash: HASH, isBatch: false, status, isHold }])
    expect(found.events.map((one) => one.type)).toEqual(type ? [type] : [])
    expect(found.events.every(({ hasOwner }) => hasOwner)).toBe(true)
    expect(found.revoked).toEqual(
      kind === 'revoke' ? [{ hash: HASH, isRevoked: after !== null }] : [],
    )
    expect([found.entered, found.left, found.moved]).toEqual([[], [], []])
  })

  test('behavior: reason 4 supersedes, whoever gave it: that of the chain counts', () => {
    const intent: Intent = { kind: 'revoke', ...document, reason: 1 }
    const after = at(5, { reason: 4 })
    const found = follow({ intent, before: null, after })
    expect(found.statuses).toMatchObject([{ status: 3 }])
    expect(found.events).toMatchObject([{ type: 'document.superseded' }])
    const other = follow({
      intent: { ...intent, reason: 4 },
      before: null,
      after: at(5, { reason: 1 }),
    })
    expect(other.statuses).toMatchObject([{ status: 2 }])
    expect(other.events).toMatchObject([{ type: 'document.revoked' }])
  })

  test('behavior: a change of a whole batch is of the batch, that of one of its documents is not', () => {
    const whole = follow({ intent: { kind: 'suspend', ...batch }, before: null, after: at(5) })
    expect(whole.statuses).toMatchObject([{ hash: ROOT, isBatch: true }])
    expect(whole.events).toMatchObject([{ type: 'batch.suspended' }])
    const one = follow({ intent: { kind: 'suspend', ...ofBatch }, before: null, after: at(5) })
    expect(one.statuses).toMatchObject([{ hash: HASH, isBatch: false }])
    expect(one.events).toMatchObject([{ type: 'document.suspended' }])
  })

  test('behavior: another block of the same number changes no status', () => {
    const intent: Intent = { kind: 'suspend', ...document }
    const after = at(5, { blockHash: word(9) })
    expect(follow({ intent, before: at(5), after }).statuses).toEqual([])
  })
})

test('default: the end of an intent to issue is an event of the document or batch', () => {
  expect(endOf(issue(document), 'final', at(5))).toMatchObject({ type: 'document.final' })
  expect(endOf(issue(batch), 'failed', null)).toMatchObject({ type: 'batch.failed', place: null })
})

test('behavior: events are in the order of the changes', () => {
  const changes: Change[] = [
    { intent: issue(document), before: null, after: at(5) },
    { intent: { kind: 'revoke', ...document, reason: 1 }, before: null, after: at(5) },
  ]
  expect(followUpsOf(changes).events.map(({ type }) => type)).toEqual([
    'document.issued',
    'document.revoked',
  ])
})
