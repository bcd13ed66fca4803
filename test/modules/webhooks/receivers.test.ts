import { beforeEach, expect, test } from 'vitest'
import type { DueWebhook } from '#modules/webhooks/deliveries.ts'
import { createReceivers, nextOf, type Receivers } from '#modules/webhooks/receivers.ts'
import type { WebhookId } from '#modules/webhooks/webhook.ts'

let receivers: Receivers
let turns: Map<WebhookId, { tenant: string | null; began: number }>
beforeEach(() => {
  receivers = createReceivers()
  turns = new Map()
})

const of = (tenant: string | null, count: number): DueWebhook[] =>
  Array.from({ length: count }, (_, i) => ({ id: `wh_${tenant}_${i}`, tenant }))
const note = (id: WebhookId, tookMs: number) =>
  receivers.note(id, [{ outcome: 'delivered', tookMs }])

/** Begins the turns that have a place. @returns Their ids, in order. */
function begin(due: readonly DueWebhook[], began = performance.now()): WebhookId[] {
  const ids: WebhookId[] = []
  for (let one = nextOf(due, turns, receivers); one; one = nextOf(due, turns, receivers)) {
    turns.set(one.id, { tenant: one.tenant, began })
    ids.push(one.id)
  }
  return ids
}

test('one tenant gets half of the slots, and the next half of the rest', () => {
  const tenants = ['a', 'b', 'c', 'd', null]
  const counts = tenants.map((tenant) => begin(of(tenant, 20)).length)
  expect(counts).toEqual([8, 4, 2, 1, 1])
})

test('tenants that wait together get equal shares', () => {
  const ids = begin([...of('a', 20), ...of('b', 3), ...of('c', 1)])
  expect(ids.filter((id) => id.startsWith('wh_a'))).toHaveLength(6)
  expect(ids.filter((id) => id.startsWith('wh_b'))).toHaveLength(3)
  expect(ids.filter((id) => id.startsWith('wh_c'))).toHaveLength(1)
})

test('slow receivers come last, and leave half of the slots to fast ones', () => {
  const [slow, other] = [of('slow', 20), of('other', 20)]
  for (const { id } of slow) note(id, 1_001)
  for (const { id } of other) note(id, 1_001)
  const quick: DueWebhook = { id: 'wh_quick', tenant: 'slow' }
  const ids = begin([...slow, quick])
  expect(ids[0]).toBe(quick.id)
  expect(ids).toHaveLength(1 + 4)
  expect(begin(other)).toHaveLength(2)
  expect(begin(of('quick', 20))).toHaveLength(5)
})

test('a long turn counts as slow before its end', () => {
  begin(of('new', 20), performance.now() - 5_000)
  const slow = of('slow', 20)
  for (const { id } of slow) note(id, 1_001)
  expect(begin(slow)).toHaveLength(0)
  expect(begin(of('quick', 20))).toHaveLength(4)
})

test('of equals, the one that waited longest comes first', () => {
  const due = of('a', 3)
  note('wh_a_0', 1)
  expect(begin(due)).toEqual(['wh_a_1', 'wh_a_2', 'wh_a_0'])
})

test('a paused receiver gets no turn', () => {
  receivers.note('wh_a_0', [{ outcome: 'failed', tookMs: 1, retryAfterMs: 60_000 }])
  receivers.rest('wh_a_1')
  expect(begin(of('a', 3))).toEqual(['wh_a_2'])
})

test('a receiver is slow until its first fast turn, and is reported once', () => {
  const [{ id }] = of('a', 1) as [DueWebhook]
  expect(receivers.limitOf(id)).toBe(50)
  expect(note(id, 1_001)).toBe(true)
  expect(receivers.limitOf(id)).toBe(4)
  receivers.note(id, [])
  expect(receivers.isSlow(id)).toBe(true)
  note(id, 5)
  expect(receivers.isSlow(id)).toBe(false)
  expect(note(id, 1_001)).toBe(false)
})
