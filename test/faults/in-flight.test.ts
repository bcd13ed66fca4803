import { afterEach, beforeEach, expect, test } from 'vitest'
import { NOTHING_WRONG } from './support/oracle.ts'
import { loseUnsaved, reorg } from './support/rewrite.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// Faults while a transaction is in flight: it must still reach an end.

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld({ WAIT_SECONDS: '3' })
})
afterEach(() => world.close())

test('recovers from a reorg of the transaction and those before it', async () => {
  const { client, proxy } = world
  for (let i = 0; i < 3; i++) await client.issue()
  onceBroadcast(() => reorg(world, 3))
  await client.issue()
  proxy.heal()
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('recovers when a killed node lost the transaction and those before it', async () => {
  const { chain, client, proxy } = world
  await chain.save()
  for (let i = 0; i < 3; i++) await client.issue()
  onceBroadcast(() => loseUnsaved(world))
  await client.issue()
  proxy.heal()
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('replaces a transaction when the base fee rises above its maximum', async () => {
  const { chain, client } = world
  await chain.request('evm_setAutomine', false)
  await client.issue({ respondAsync: true })
  await expect.poll(pooled).toBe(1)
  await chain.request('anvil_setNextBlockBaseFeePerGas', '0x174876e800')
  await chain.request('evm_mine')
  await chain.request('evm_setAutomine', true)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('recovers when the clock goes back an hour and the node loses its pool', async () => {
  const { chain, client, gateway } = world
  await chain.request('evm_setAutomine', false)
  await client.issue({ respondAsync: true })
  await expect.poll(pooled).toBe(1)
  await gateway.tell({ order: 'clock', milliseconds: -3_600_000 })
  await chain.request('anvil_dropAllTransactions')
  await chain.request('evm_setAutomine', true)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

async function pooled(): Promise<number> {
  const { pending } = await world.chain.request<{ pending: string }>('txpool_status')
  return Number(pending)
}

function onceBroadcast(work: () => Promise<void>): void {
  let done = false
  world.proxy.answered = async ({ method }) => {
    if (method !== 'eth_sendRawTransaction' || done) return
    done = true
    await work()
  }
}
