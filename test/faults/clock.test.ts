import { afterAll, beforeAll, expect, test } from 'vitest'
import { NOTHING_WRONG } from './support/oracle.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld({ MAX_HEAD_AGE_SECONDS: '999999999' })
})
afterAll(() => world.close())

const HOUR = 3_600_000

test.each([
  ['forward an hour', HOUR],
  ['back an hour', -HOUR],
  ['forward a year', 365 * 24 * HOUR],
  ['back to where it was', 0],
])("behavior: the gateway's clock jumps %s", async (_, milliseconds) => {
  const { client, gateway } = world
  const issued = [client.issue(), client.issue({ respondAsync: true })]
  await gateway.tell({ order: 'clock', milliseconds })
  await Promise.all([...issued, client.issue()])
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test("behavior: the chain's clock jumps forward a day", async () => {
  const { chain, client } = world
  await chain.request('evm_increaseTime', 86_400)
  await Promise.all([client.issue(), client.issue({ respondAsync: true })])
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})
