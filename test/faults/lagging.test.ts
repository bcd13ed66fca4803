import { afterEach, expect, test } from 'vitest'
import { type AnvilNode, startAnvilNode } from '../support/anvil.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { temporaryFolder } from './support/machine.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { type Chain, startWorld, type World } from './support/world.ts'

// Two nodes of one chain; the preferred one stops following it.

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function start(): Promise<{ world: World; still: FaultProxy }> {
  const folder = temporaryFolder()
  ends.push(() => folder.remove())
  const anvil: AnvilNode = await startAnvilNode(folder.dir)
  ends.push(() => anvil.kill())
  const still = await startFaultProxy(anvil.url)
  const good = await startFaultProxy(anvil.url)
  ends.push(still.close, good.close)
  const chain: Chain = {
    ...anvil,
    rewrites: 0,
    fund: (account) => anvil.request('anvil_setBalance', account, '0x56bc75e2d63100000'),
  }
  const world = await startWorld(chain, folder.dir, {
    RPC_URL: `${still.url},${good.url}`,
  })
  ends.push(world.close)
  return { world, still }
}

test('issues documents while the preferred node is stuck', async () => {
  const { world, still } = await start()
  const { chain, client } = world
  const height = async () => Number(await chain.request<string>('eth_blockNumber'))
  await client.issue()
  const since = await height()
  still.fault = async () => ({
    kind: 'stale_head',
    blocks: (await height()) - since,
  })
  // One request may have to wait until the gateway notices.
  for (let i = 0; i < 8; i++) await client.issue()
  await expect
    .poll(async () => (await client.issue()).told)
    .toMatchObject([{ kind: 'issued', status: 201 }])
  for (let i = 0; i < 5; i++)
    expect((await client.issue()).told).toMatchObject([{ kind: 'issued', status: 201 }])
  still.heal()
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})
