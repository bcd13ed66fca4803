import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { API_KEY } from '../support/given.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld({
    MAX_HEAD_AGE_SECONDS: '999999999',
    WEBHOOK_ALLOW_PRIVATE: 'true',
  })
})
afterAll(() => world.close())

const HOUR = 3_600_000

test.each([
  ['forward an hour', HOUR],
  ['back an hour', -HOUR],
  ['forward a year', 365 * 24 * HOUR],
  ['back to where it was', 0],
])("survives a jump of the gateway's clock %s", async (_, milliseconds) => {
  const { client, gateway } = world
  const issued = [client.issue(), client.issue({ respondAsync: true })]
  await gateway.tell({ order: 'clock', milliseconds })
  await Promise.all([...issued, client.issue()])
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test("survives a jump of the chain's clock forward a day", async () => {
  const { chain, client } = world
  await chain.request('evm_increaseTime', 86_400)
  await Promise.all([client.issue(), client.issue({ respondAsync: true })])
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

/** A gateway looks for old events once a minute. */
const LOOK_MS = 70_000

test('a clock 31 days ahead deletes no event and no delivery', async () => {
  const { client, gateway } = world
  const receiver = await startWebhookReceiver()
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const call = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${gateway.url}/v1/${path}`, { ...init, headers })
    return (await response.json()).data
  }
  const idsOf = async (): Promise<string[]> => {
    const { events } = await call('events?limit=1000')
    return events.map((event: { id: string }) => event.id)
  }
  const earlier = await idsOf()
  const { id, secret } = await call('webhooks', {
    method: 'POST',
    body: JSON.stringify({ url: receiver.url }),
  })
  receiver.secret = secret
  let isDown = true
  receiver.answer = () => (isDown ? 500 : 200)
  await Promise.all([client.issue(), client.issue()])
  await world.settle()
  const before = await idsOf()

  await gateway.tell({ order: 'clock', milliseconds: 31 * 24 * HOUR })
  await sleep(LOOK_MS)
  expect(await idsOf()).toEqual(expect.arrayContaining(before))
  await gateway.tell({ order: 'clock', milliseconds: 0 })
  expect(await call(`webhooks/${id}`)).toMatchObject({ enabled: true })
  isDown = false
  // One that is accepted releases the others.
  await client.issue()
  const missing = async () => {
    const received = new Set(receiver.once().map((one) => one.id))
    return (await idsOf()).slice(earlier.length).filter((one) => !received.has(one))
  }
  await expect.poll(missing).toEqual([])
  await receiver.close()
})
