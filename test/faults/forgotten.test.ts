import { afterEach, beforeEach, expect, test } from 'vitest'
import { prunedHistory } from '../support/fault-proxy.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { API_KEY } from '../support/given.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld({}, { gateways: 2 })
})
afterEach(() => world?.close())

test('trusts its records after a downtime longer than nodes keep receipts and logs', async () => {
  const { chain, client, gateway, proxy } = world
  const known = await client.issue()
  await client.revoke(known)
  await chain.request('evm_setAutomine', false)
  const wishes = await Promise.all(
    Array.from({ length: 5 }, () => client.issue({ respondAsync: true })),
  )
  await expect.poll(pending).toBeGreaterThan(0)
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
  await expect.poll(statuses).toEqual(wishes.map(() => 'valid'))
  // No action waits for a receipt that no node keeps.
  await expect.poll(inFlight).toBe(0)
  const next = await client.issue()
  const output = gateway.output()
  expect(next.told).toMatchObject([{ kind: 'issued', status: 201 }])
  expect(output).not.toContain('the record has no event')
  proxy.heal()
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test.each([
  { change: 'suspend', opposite: 'release', status: 'valid', again: 'suspended' },
  { change: 'release', opposite: 'suspend', status: 'suspended', again: 'valid' },
] as const)(
  'does not $change again after a downtime in which another account undid it',
  async ({ change, opposite, status, again }) => {
    const { chain, client, gateway, gateways, proxy } = world
    const [publicId = ''] = promisesOf(await client.issue())
    const send = async (at: GatewayProcess | undefined, action: string, prefer = '') => {
      const response = await fetch(`${at?.url}/v1/documents/${publicId}/${action}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'content-type': 'application/json',
          ...(prefer && { prefer }),
        },
        body: '{}',
      })
      return response.status
    }
    const verdict = async () => (await client.verify(publicId).catch(() => undefined))?.status
    if (change === 'release') expect(await send(gateways[1], 'suspend')).toBe(200)
    await chain.request('evm_setAutomine', false)
    expect(await send(gateway, change, 'respond-async')).toBe(202)
    await expect.poll(pending).toBeGreaterThan(0)
    await gateway.kill()
    await chain.request('evm_mine')
    await chain.request('evm_setAutomine', true)
    await expect.poll(() => send(gateways[1], opposite)).toBe(200)
    await chain.request('anvil_mine', '0x80')
    const head = Number(await chain.request<string>('eth_blockNumber'))
    proxy.fault = prunedHistory(proxy, head)

    await gateway.start()
    await expect.poll(inFlight).toBe(0)
    await expect.poll(verdict).toBe(status)
    // Nothing waits, so nothing will change it.
    await expect.poll(() => figure('intents_queued')).toBe(0)
    expect(await verdict()).toBe(status)
    expect(await send(gateway, change)).toBe(200)
    expect(await verdict()).toBe(again)
  },
)

const inFlight = () => figure('transactions_in_flight')

async function figure(name: string): Promise<number> {
  const response = await fetch(`${world.gateway.url}/metrics`)
  const pattern = new RegExp(`^document_registry_${name} (\\d+)$`, 'm')
  const [, text] = pattern.exec(await response.text()) ?? []
  return Number(text)
}

async function pending(): Promise<number> {
  const { pending } = await world.chain.request<{ pending: string }>('txpool_status')
  return Number(pending)
}
