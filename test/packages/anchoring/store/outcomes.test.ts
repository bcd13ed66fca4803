import { describe, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { Action } from '#promise/action.ts'
import { type Anchoring, UNSEEN } from '#promise/anchoring.ts'
import { countedAs, endOf, eventOf, isEvent, type Step, statusAfter } from '#store/outcomes.ts'

// What follows from what became of actions, without a database. The ports over both databases test
// that it is written.

const word = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const HASH = word(1)
const ROOT = word(2)
const document = { documentHash: HASH, tenant: 'ada' }
const batch = { documentHash: ROOT, root: ROOT, tenant: 'ada' }
const ofBatch = { documentHash: HASH, root: ROOT, tenant: 'ada' }
const issue = (of: Pick<Action, 'documentHash' | 'root' | 'tenant'>): Action => ({
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
const step = (
  action: Action,
  before: Anchoring | null,
  after: Anchoring | null,
  isFirst = true,
): Step => ({ action, before, after, isFirst })
/** @returns The event of a step, if it is one. */
const eventIn = (one: Step) => (isEvent(one) ? eventOf(one) : undefined)

describe('issuing', () => {
  test('the first block makes an event, and counts', () => {
    const first = step(issue(document), null, at(5))
    expect(eventIn(first)).toEqual({
      type: 'document.issued',
      hash: HASH,
      place: at(5),
      tenant: 'ada',
      hasOwner: false,
    })
    expect(countedAs(first)).toBe('issued')
  })

  test('the first block of a batch makes an event by its root, and counts', () => {
    const first = step(issue(batch), null, at(5))
    expect(eventIn(first)).toMatchObject({ type: 'batch.issued', hash: ROOT })
    expect(countedAs(first)).toBe('issued')
  })

  test('another block makes an event, and does not count', () => {
    const moved = step(issue(document), at(5), at(6))
    expect(eventIn(moved)).toMatchObject({ type: 'document.issued', place: { blockNumber: 6 } })
    expect(countedAs(moved)).toBeUndefined()
  })

  test('another block of the same number makes an event, and does not count', () => {
    const moved = step(issue(document), at(5), at(5, { blockHash: word(9) }))
    expect(eventIn(moved)).toMatchObject({ type: 'document.issued', place: { blockHash: word(9) } })
  })

  test('a hash that becomes known makes no event', () => {
    expect(eventIn(step(issue(document), at(5, { blockHash: UNSEEN }), at(5)))).toBeUndefined()
  })

  test('the same block again makes no event', () => {
    expect(eventIn(step(issue(document), at(5), at(5)))).toBeUndefined()
  })

  test('a dropped document makes no event', () => {
    const dropped = step(issue(document), at(5), null)
    expect([eventIn(dropped), countedAs(dropped)]).toEqual([undefined, undefined])
  })

  test('does not count again what was counted before', () => {
    expect(countedAs(step(issue(document), null, at(6), false))).toBeUndefined()
    expect(eventIn(step(issue(document), null, at(6), false))).toBeDefined()
  })
})

describe('changes of a document or batch', () => {
  const STATUS = { none: 0, suspended: 1, revoked: 2, superseded: 3 }

  test.each([
    ['revoke', at(5), 'revoked', false, 'document.revoked', 'revoked'],
    ['suspend', at(5), 'suspended', true, 'document.suspended', undefined],
    ['release', at(5), 'none', true, 'document.released', undefined],
    ['revoke', null, 'none', false, undefined, undefined],
    ['suspend', null, 'none', true, undefined, undefined],
    ['release', null, 'suspended', true, undefined, undefined],
  ] as const)('%s in %o', (kind, after, status, isHold, type, counted) => {
    const action = (
      kind === 'revoke' ? { kind, ...document, reason: 1 } : { kind, ...document }
    ) as Action
    const one = step(action, after ? null : at(5), after)
    expect(statusAfter(action, after)).toEqual({ status: STATUS[status], isHold })
    expect(eventIn(one)?.type).toBe(type)
    // The event is of the tenant that issued the document.
    if (type) expect(eventIn(one)).toMatchObject({ hasOwner: true, tenant: 'ada' })
    expect(countedAs(one)).toBe(counted)
  })

  test('reason 4 supersedes, from any account: the reason of the chain counts', () => {
    const action: Action = { kind: 'revoke', ...document, reason: 1 }
    const after = at(5, { reason: 4 })
    expect(statusAfter(action, after)).toMatchObject({ status: STATUS.superseded })
    expect(eventIn(step(action, null, after))).toMatchObject({ type: 'document.superseded' })
    expect(countedAs(step(action, null, after))).toBe('superseded')
    const other: Action = { ...action, reason: 4 }
    const revoked = at(5, { reason: 1 })
    expect(statusAfter(other, revoked)).toMatchObject({ status: STATUS.revoked })
    expect(eventIn(step(other, null, revoked))).toMatchObject({ type: 'document.revoked' })
  })

  test('a change of a whole batch belongs to the batch, one of a document does not', () => {
    const whole = step({ kind: 'suspend', ...batch }, null, at(5))
    expect(eventIn(whole)).toMatchObject({ type: 'batch.suspended', hash: ROOT })
    const one = step({ kind: 'suspend', ...ofBatch }, null, at(5))
    expect(eventIn(one)).toMatchObject({ type: 'document.suspended', hash: HASH })
  })
})

test('the end of a request to issue is an event of the document or batch', () => {
  expect(endOf(issue(document), 'final', at(5))).toEqual({
    type: 'document.final',
    hash: HASH,
    place: at(5),
    tenant: 'ada',
    hasOwner: false,
  })
  expect(endOf(issue(batch), 'failed', null)).toMatchObject({ type: 'batch.failed', place: null })
})
