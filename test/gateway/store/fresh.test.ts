import { expect, test } from 'vitest'
import type { Standing } from '#promise/anchoring.ts'
import { keyOfIntent } from '#promise/intent.ts'
import { createFresh } from '#store/outbox/requests.ts'

const standing: Standing = {
  intent: { kind: 'issue', documentHash: `0x${'1'.repeat(64)}`, validUntil: 0 },
  account: `0x${'a'.repeat(40)}`,
  outcome: { status: 'pending', transactionHash: null },
}
const key = keyOfIntent(standing.intent)

test('default: gives the standing of a new intent once', async () => {
  const fresh = createFresh()
  expect(await fresh.during(async () => ({ standing }))).toEqual({ standing })
  expect(fresh.take(key)).toBe(standing)
  expect(fresh.take(key)).toBeUndefined()
})

test('behavior: knows nothing of an intent that was there before', async () => {
  const fresh = createFresh()
  await fresh.during(async () => ({}))
  expect(fresh.take(key)).toBeUndefined()
})

test('behavior: forgets what an engine may have read, also while the intent is added', async () => {
  const fresh = createFresh()
  await fresh.during(async () => ({ standing }))
  fresh.forget()
  expect(fresh.take(key)).toBeUndefined()
  await fresh.during(async () => {
    fresh.forget()
    return { standing }
  })
  expect(fresh.take(key)).toBeUndefined()
})
