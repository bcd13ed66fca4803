import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { toHex } from '#document/hex.ts'
import type { Deliveries, Turn, TurnResult } from '#modules/webhooks/deliveries.ts'
import { createDeliveries } from '#modules/webhooks/deliveries-store.ts'
import { createBacklogReader, createWebhooks } from '#modules/webhooks/store.ts'
import type { Webhook, WebhookId, Webhooks } from '#modules/webhooks/webhook.ts'
import type { DatabaseStores } from '#store/stores.ts'
import { anchoredAt, placeIn, resolve } from '#test/packages/anchoring/store/ports/given.ts'
import { describePorts } from '#test/support/databases.ts'

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
  delivered: [],
  waiting: [],
  givenUp: [],
  failingSince: null,
  disabledReason: null,
}

describePorts('webhooks', (ports) => {
  let stores: DatabaseStores
  let webhooks: Webhooks
  let deliveries: Deliveries
  beforeEach(async () => {
    stores = ports.stores
    webhooks = createWebhooks(stores.database)
    deliveries = createDeliveries(stores.database)
    await webhooks.add(WEBHOOK)
  })

  /** Issues documents, which are an event each. */
  async function issued(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const documentHash = toHex(randomBytes(32))
      const action = { kind: 'issue', documentHash, validUntil: 0, tenant: 'a' } as const
      await ports.outbox.add(action)
      await resolve(ports.outbox, action, anchoredAt(placeIn(5)))
    }
  }
  const due = async (now = Date.now()) => (await deliveries.due(now)).map(({ id }) => id)
  async function turn(limit = 10): Promise<Turn> {
    const found = await deliveries.turn('wh_one', Date.now(), limit)
    if (!found) throw new Error('nothing to send')
    return found
  }

  test('a webhook gets each event after its creation once', async () => {
    expect(await due()).toEqual([])
    await issued(3)
    expect(await due()).toEqual(['wh_one'])
    expect(await createBacklogReader(stores.database)()).toEqual({
      events: 3,
      failing: 0,
      disabled: 0,
    })
    const first = await turn(2)
    expect(first.fresh).toHaveLength(2)
    await deliveries.record(first, { ...NOTHING, delivered: first.fresh })
    const second = await turn()
    expect(second.fresh).toHaveLength(1)
    await deliveries.record(second, { ...NOTHING, delivered: second.fresh })
    expect(await deliveries.turn('wh_one', Date.now(), 10)).toBeUndefined()
    expect(await due()).toEqual([])
  })

  test('a failed delivery is tried again at its time', async () => {
    await issued(1)
    const first = await turn()
    const at = Date.now() + 60_000
    const failed = first.fresh.map((one) => ({ ...one, attempts: 1, failedSince: 7, nextAt: at }))
    await deliveries.record(first, { ...NOTHING, waiting: failed, failingSince: 7 })
    expect(await due()).toEqual([])
    expect(await due(at)).toEqual(['wh_one'])
    const again = await deliveries.turn('wh_one', at, 10)
    expect(again).toMatchObject({ fresh: [], retries: [{ attempts: 1, failedSince: 7 }] })
    if (!again) throw new Error('nothing to send')
    await deliveries.record(again, { ...NOTHING, delivered: again.retries })
    expect(await due(at)).toEqual([])
  })

  test('sends what a clock ahead has postponed', async () => {
    await issued(1)
    const first = await turn()
    const nextAt = Date.now() + 31 * 86_400_000
    const waiting = first.fresh.map((one) => ({ ...one, attempts: 1, failedSince: 7, nextAt }))
    await deliveries.record(first, { ...NOTHING, waiting })
    expect(await due()).toEqual(['wh_one'])
    expect((await turn()).retries).toHaveLength(1)
  })

  test('a successful delivery makes the rest due earlier', async () => {
    await issued(4)
    const first = await turn(3)
    const nextAt = Date.now() + 3_600_000
    const waiting = first.fresh.map((one, i) => ({ ...one, attempts: 3, failedSince: i, nextAt }))
    await deliveries.record(first, { ...NOTHING, waiting, failingSince: 1 })
    expect(await due(nextAt - 1)).toEqual(['wh_one'])
    const second = await turn()
    const latest = Date.now() + 300_000
    const release = { failingSince: second.webhook.failingSince, latest }
    await deliveries.record(second, { ...NOTHING, delivered: second.fresh, release })
    const { retries } = await turn()
    expect(retries.map(({ failedSince }) => failedSince)).toEqual([1, 2])
    const third = await deliveries.turn('wh_one', latest, 10)
    expect(third?.retries).toHaveLength(3)
    if (!third) throw new Error('nothing to send')
    const again = { failingSince: null, latest }
    await deliveries.record(third, { ...NOTHING, delivered: third.retries, release: again })
    expect(await due(nextAt)).toEqual([])
  })

  test('a change of the webhook cancels the turn under way', async () => {
    await issued(1)
    const first = await turn()
    const url = 'https://other.test/'
    const types = ['document.issued'] as const
    await webhooks.change('wh_one', () => ({ url, types }))
    await deliveries.record(first, { ...NOTHING, delivered: first.fresh })
    expect(await turn()).toMatchObject({ webhook: { url, types }, fresh: [{}] })
  })

  test('of two concurrent turns, the second result is ignored', async () => {
    await issued(2)
    const [slow, quick] = [await turn(1), await turn(1)]
    await deliveries.record(quick, { ...NOTHING, delivered: quick.fresh })
    const next = await turn()
    await deliveries.record(next, { ...NOTHING, delivered: next.fresh })
    const waiting = slow.fresh.map((one) => ({ ...one, nextAt: 0 }))
    await deliveries.record(slow, { ...NOTHING, waiting })
    expect(await due()).toEqual([])
  })

  test('sends events again after an event, or since a time', async () => {
    await issued(2)
    const first = await turn()
    await deliveries.record(first, { ...NOTHING, delivered: first.fresh })
    const [event] = first.fresh
    if (!event) throw new Error('an event')
    const after = { number: event.number, time: event.event.time }
    expect(await webhooks.replay('wh_one', { after })).toBe('replayed')
    expect((await turn()).fresh).toHaveLength(1)
    expect(await webhooks.replay('wh_one', { since: 0 })).toBe('replayed')
    expect((await turn()).fresh).toHaveLength(2)
    const unknown = { after: { number: 99, time: 1 } }
    expect(await webhooks.replay('wh_one', unknown)).toBe('unknown_event')
  })

  test('deletes no event that an enabled webhook still has to get', async () => {
    await webhooks.add({ ...WEBHOOK, id: 'wh_other' })
    await issued(4)
    const later = Date.now() + 60_000
    const count = () => ports.count('event')
    const first = await turn(3)
    const [one, two, three] = first.fresh
    if (!one || !two || !three) throw new Error('three events')
    const waiting = [{ ...two, attempts: 1, failedSince: 7, nextAt: later }]
    await deliveries.record(first, { ...NOTHING, delivered: [one, three], waiting })
    await stores.events.prune(later)
    expect(await count()).toBe(4)
    await webhooks.change('wh_other', () => ({ disabledReason: 'request' }))
    await stores.events.prune(later)
    expect(await count()).toBe(3)
    const second = await deliveries.turn('wh_one', later, 1)
    if (!second) throw new Error('nothing to send')
    await deliveries.record(second, { ...NOTHING, delivered: second.retries })
    await stores.events.prune(later)
    expect(await count()).toBe(1)
    await webhooks.remove('wh_one')
  })

  test('disables a webhook that is too far behind, and deletes its events', async () => {
    await issued(2)
    const before = await turn()
    await webhooks.add({ ...WEBHOOK, id: 'wh_new' })
    const { time } = before.fresh[0]?.event ?? { time: Number.NaN }
    expect(await stores.events.leaveBehind(time)).toEqual([])
    expect(await stores.events.leaveBehind(Date.now() + 60_000)).toEqual(['wh_one'])
    expect(await webhooks.list()).toMatchObject([
      { id: 'wh_new', disabledReason: null },
      { id: 'wh_one', disabledReason: 'behind' },
    ])
    expect(await createBacklogReader(stores.database)()).toEqual({
      events: 0,
      failing: 0,
      disabled: 1,
    })
    await stores.events.prune(Date.now() + 60_000)
    expect(await ports.count('event')).toBe(1)
    // A turn under way is void: it is told what it lost.
    await deliveries.record(before, { ...NOTHING, delivered: before.fresh })
    expect((await webhooks.list())[1]?.disabledReason).toBe('behind')
  })

  test('a change of a batch goes only to webhooks of its tenant', async () => {
    const [request, root] = [new Uint8Array(randomBytes(32)), toHex(randomBytes(32))]
    const entry = { issuedOn: 1, validUntil: 0, subject: 1n, category: 1n, tenant: 'abc' }
    const document = { documentHash: toHex(randomBytes(32)), entry: { ...entry, batchBlock: root } }
    await stores.batchDrafts.index(request, { root, size: 1, manifest: root, tenant: 'abc' }, [
      document,
    ])
    for (const tenant of ['abc', 'operator'])
      await webhooks.add({ ...WEBHOOK, id: `wh_${tenant}`, tenant })
    const action = { kind: 'suspend', documentHash: root, root, tenant: 'operator' } as const
    await ports.outbox.add(action)
    await resolve(ports.outbox, action, anchoredAt(placeIn(5)))
    const sent = async (id: WebhookId) =>
      (await deliveries.turn(id, Date.now(), 10))?.fresh.map(({ event }) => event.type)
    expect(await sent('wh_one')).toEqual(['batch.suspended'])
    expect(await sent('wh_abc')).toEqual(['batch.suspended'])
    expect(await sent('wh_operator')).toEqual([])
  })

  test('a tenant has at most 20 webhooks', async () => {
    const added = await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        webhooks.add({ ...WEBHOOK, id: `wh_${i}`, tenant: 'a' }),
      ),
    )
    expect(added.filter(Boolean)).toHaveLength(20)
    expect(await webhooks.list('a')).toHaveLength(20)
    expect(await webhooks.list()).toHaveLength(21)
  })
})
