import { afterEach, beforeEach, expect, test } from 'vitest'
import { prunedHistory } from '../support/fault-proxy.ts'
import { promisesOf } from './support/client.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld()
})
afterEach(() => world?.close())

test('behavior: trusts the records after a downtime longer than nodes keep receipts and logs', async () => {
  const { chain, client, gateway, proxy } = world
  const known = await client.issue()
  await client.revoke(known)
  await chain.request('evm_setAutomine', false)
  const wishes = await Promise.all(
    Array.from({ length: 5 }, () => client.issue({ respondAsync: true })),
  )
  await expect.poll(pending, { timeout: 10_000 }).toBeGreaterThan(0)
  await gateway.kill()
  await chain.request('evm_mine')
  await chain.request('evm_setAutomine', true)
  await chain.request('anvil_mine', '0x80')
  const head = Number(await chain.request<string>('eth_blockNumber'))
  proxy.fault = prunedHistory(proxy, head)

  await gateway.start()
  const statuses = () =>
    Promise.all(
      wishes.flatMap(promisesOf).map(async (publicId) => {
        const { status } = await client.verify(publicId)
        return status
      }),
    )
  await expect.poll(statuses, { timeout: 20_000 }).toEqual(wishes.map(() => 'valid'))
  // No intent waits for a receipt that no node keeps.
  await expect.poll(inFlight, { timeout: 10_000 }).toBe(0)
  const next = await client.issue()
  const output = gateway.output()
  expect(next.told).toMatchObject([{ kind: 'issued', status: 201 }])
  expect(output).not.toContain('a record without its event')
  proxy.heal()
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
}, 60_000)

async function inFlight(): Promise<number> {
  const response = await fetch(`${world.gateway.url}/metrics`)
  const name = 'document_registry_transactions_in_flight'
  const [, figure] = new RegExp(`^${name} (\\d+)$`, 'm').exec(await response.text()) ?? []
  return Number(figure)
}

async function pending(): Promise<number> {
  const { pending } = await world.chain.request<{ pending: string }>('txpool_status')
  return Number(pending)
}
