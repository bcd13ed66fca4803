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
])("behavior: survives a jump of the gateway's clock %s", async (_, milliseconds) => {
  const { client, gateway } = world
  const issued = [client.issue(), client.issue({ respondAsync: true })]
  await gateway.tell({ order: 'clock', milliseconds })
  await Promise.all([...issued, client.issue()])
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test("behavior: survives a jump of the chain's clock forward a day", async () => {
  const { chain, client } = world
  await chain.request('evm_increaseTime', 86_400)
  await Promise.all([client.issue(), client.issue({ respondAsync: true })])
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})
