import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { toHex } from '../../../../document/hex.ts'
import type { DatabaseStores } from '../../../../gateway/adapters/stores.ts'
import type { Turn, TurnResult } from '../../../../gateway/webhooks/deliveries.ts'
import type { Webhook } from '../../../../gateway/webhooks/webhook.ts'
import { describePorts } from '../../../support/databases.ts'

const WEBHOOK: Webhook = {
  id: 'wh_one',
  tenant: null,
  createdBy: 'key',
  createdAt: 1,
  url: 'https://receiver.test/',
  types: null,
  disabledReason: null,
  failingSince: null,
  secrets: [],
}
const NOTHING: TurnResult = {
  ...{ delivered: [], waiting: [], givenUp: [], failingSince: null, disabledReason: null },
  isBack: false,
}

describePorts('webhooks', (ports) => {
  let stores: DatabaseStores
  beforeEach(async () => {
    stores = ports.stores
    await stores.webhooks.add(WEBHOOK)
  })

  /** Issues documents, which are an event each. */
  async function issued(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const documentHash = toHex(randomBytes(32))
      const intent = { kind: 'issue', documentHash, validUntil: 0, tenant: 'a' } as const
      const blockHash = toHex(randomBytes(32))
      await stores.outbox.add(intent)
      const anchoring = { blockNumber: 5, blockHash, transactionHash: blockHash }
      await stores.outbox.resolve({ anchored: [{ intent, anchoring }], gone: [] })
    }
  }
  async function turn(limit = 10): Promise<Turn> {
    const found = await stores.deliveries.turn('wh_one', Date.now(), limit)
    if (!found) throw new Error('nothing to send')
    return found
  }

  test('default: a webhook gets each later event once', async () => {
    expect(await stores.deliveries.due(Date.now())).toEqual([])
    await issued(3)
    expect(await stores.deliveries.due(Date.now())).toEqual(['wh_one'])
    expect(await stores.deliveries.backlog()).toEqual({ events: 3, failing: 0, disabled: 0 })
    const first = await turn(2)
    expect(first.fresh).toHaveLength(2)
    await stores.deliveries.record(first, { ...NOTHING, delivered: first.fresh })
    const second = await turn()
    expect(second.fresh).toHaveLength(1)
    await stores.deliveries.record(second, { ...NOTHING, delivered: second.fresh })
    expect(await stores.deliveries.turn('wh_one', Date.now(), 10)).toBeUndefined()
    expect(await stores.deliveries.due(Date.now())).toEqual([])
  })

  test('behavior: a failed delivery waits, and is tried again at its time', async () => {
    await issued(1)
    const first = await turn()
    const at = Date.now() + 60_000
    const failed = first.fresh.map((one) => ({ ...one, attempts: 1, failedSince: 7, nextAt: at }))
    await stores.deliveries.record(first, { ...NOTHING, waiting: failed, failingSince: 7 })
    expect(await stores.deliveries.due(Date.now())).toEqual([])
    expect(await stores.deliveries.due(at)).toEqual(['wh_one'])
    const again = await stores.deliveries.turn('wh_one', at, 10)
    expect(again).toMatchObject({ fresh: [], retries: [{ attempts: 1, failedSince: 7 }] })
    if (!again) throw new Error('nothing to send')
    await stores.deliveries.record(again, { ...NOTHING, delivered: again.retries })
    expect(await stores.deliveries.due(at)).toEqual([])
  })

  test('behavior: a change of the webhook voids the turn under way', async () => {
    await issued(1)
    const first = await turn()
    const url = 'https://other.test/'
    const types = ['document.issued'] as const
    await stores.webhooks.change('wh_one', () => ({ url, types }))
    await stores.deliveries.record(first, { ...NOTHING, delivered: first.fresh })
    expect(await turn()).toMatchObject({ webhook: { url, types }, fresh: [{}] })
  })

  test('behavior: of two turns at the same time, the second result is void', async () => {
    await issued(2)
    const [slow, quick] = [await turn(1), await turn(1)]
    await stores.deliveries.record(quick, { ...NOTHING, delivered: quick.fresh })
    const next = await turn()
    await stores.deliveries.record(next, { ...NOTHING, delivered: next.fresh })
    const waiting = slow.fresh.map((one) => ({ ...one, nextAt: 0 }))
    await stores.deliveries.record(slow, { ...NOTHING, waiting })
    expect(await stores.deliveries.due(Date.now())).toEqual([])
  })

  test('behavior: events are sent again after an event, or from a time on', async () => {
    await issued(2)
    const first = await turn()
    await stores.deliveries.record(first, { ...NOTHING, delivered: first.fresh })
    const [event] = first.fresh
    if (!event) throw new Error('an event')
    const after = { number: event.number, time: event.event.time }
    expect(await stores.webhooks.replay('wh_one', { after })).toBe('replayed')
    expect((await turn()).fresh).toHaveLength(1)
    expect(await stores.webhooks.replay('wh_one', { since: 0 })).toBe('replayed')
    expect((await turn()).fresh).toHaveLength(2)
    const unknown = { after: { number: 99, time: 1 } }
    expect(await stores.webhooks.replay('wh_one', unknown)).toBe('unknown_event')
  })

  test('error: a tenant has at most 20 webhooks', async () => {
    const added = await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        stores.webhooks.add({ ...WEBHOOK, id: `wh_${i}`, tenant: 'a' }),
      ),
    )
    expect(added.filter(Boolean)).toHaveLength(20)
    expect(await stores.webhooks.list('a')).toHaveLength(20)
    expect(await stores.webhooks.list()).toHaveLength(21)
  })
})
