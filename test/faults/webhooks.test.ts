import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseEventId } from '#events/events.ts'
import { API_KEY } from '../support/given.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import {
  type Received,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// The gateway is killed while it issues and delivers, and its receiver fails now and then,
// sometimes after it has acted. The receiver acts once for each id; the result must equal the log.

const ROUNDS = 6
const DOCUMENTS_PER_ROUND = 6
/** Of deliveries, that the receiver refuses. */
const REFUSED = 0.05

let world: AnvilWorld
let receiver: WebhookReceiver
beforeAll(async () => {
  world = await startAnvilWorld({ WEBHOOK_ALLOW_PRIVATE: 'true' }, { finality: 1 })
  receiver = await startWebhookReceiver()
})
afterAll(async () => {
  await receiver.close()
  await world.close()
})

async function call(path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${world.gateway.url}/v1/${path}`, { ...init, headers })
  return (await response.json()).data
}

/** @returns The ids of all events, oldest first. */
async function eventsOf(): Promise<{ id: string; type: string }[]> {
  const { events, hasMore } = await call('events?limit=1000')
  expect(hasMore).toBe(false)
  return events
}

const placeOf = ({ id }: Received) => parseEventId(id)?.number ?? 0

test('delivers each event by id, once, in order for each document, across kills', async () => {
  const random = seededRandom(freshSeed())
  const created = await call('webhooks', {
    method: 'POST',
    body: JSON.stringify({ url: receiver.url }),
  })
  receiver.secret = created.secret
  // Each at most once: after a second refusal the gateway waits for five minutes.
  const refused = new Set<string>()
  receiver.answer = (received) => {
    if (refused.has(received.id) || random.next() >= REFUSED) return 200
    refused.add(received.id)
    // Half of the time it has acted, and its answer is lost.
    if (random.next() < 0.5) receiver.accepted.push(received)
    return 500
  }

  for (let round = 0; round < ROUNDS; round++) {
    const wishes = Array.from({ length: DOCUMENTS_PER_ROUND }, (_, i) =>
      world.client.issue({ idempotencyKey: `${round}-${i}`, respondAsync: random.next() < 0.5 }),
    )
    const revoked = wishes[0]?.then((wish) =>
      promisesOf(wish).length > 0 ? world.client.revoke(wish) : undefined,
    )
    await sleep(random.below(600))
    await world.gateway.kill()
    await Promise.all([...wishes, revoked])
    await world.gateway.start()
  }
  await world.settle()
  for (const wish of world.client.wishes) await world.client.repeat(wish)
  const documents = new Set(world.client.wishes.flatMap(promisesOf)).size
  expect(documents).toBe(ROUNDS * DOCUMENTS_PER_ROUND)

  const countOf = async (type: string) =>
    (await eventsOf()).filter((event) => event.type === type).length
  const mined = async () => {
    await world.chain.request('anvil_mine', '0x4')
    return countOf('document.final')
  }
  await expect.poll(mined, { interval: 500 }).toBe(documents)
  const ids = async () => (await eventsOf()).map(({ id }) => id).sort()
  const received = () =>
    receiver
      .once()
      .map(({ id }) => id)
      .sort()
  await expect.poll(received, { interval: 500 }).toEqual(await ids())
  expect(await countOf('document.issued')).toBeGreaterThanOrEqual(documents)
  expect(receiver.forged).toBe(0)

  const byDocument = Map.groupBy(receiver.once(), ({ event }) => event.data.documentHash)
  expect(byDocument.size).toBe(documents)
  for (const some of byDocument.values()) {
    const places = some.map(placeOf)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  }
})
