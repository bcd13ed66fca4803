import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type GatewayProcess, gatewayProcess } from '../support/gateway-process.ts'
import { freePort } from '../support/http.ts'
import { type Client, createClient } from './support/client.ts'
import { judge, NOTHING_WRONG } from './support/oracle.ts'
import { mineEvery } from './support/steady-load.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// Two gateways with one account by mistake: on one machine, and on two machines that cannot see
// each other.

let world: AnvilWorld
let seconds: GatewayProcess[] = []
beforeAll(async () => {
  world = await startAnvilWorld({ OWN_NETWORK: '1', WAIT_SECONDS: '5' })
})
afterEach(async () => {
  for (const gateway of seconds) await gateway.kill()
  seconds = []
  await mineAtOnce()
  if (!world.gateway.running()) await world.gateway.start()
})
afterAll(() => world.close())

async function mineAtOnce(): Promise<void> {
  await world.chain.request('evm_setIntervalMining', 0)
  await world.chain.request('evm_setAutomine', true)
}

const nonce = (block: string) => {
  const { address } = new Wallet(world.issuerKeys[0])
  return world.chain.request<string>('eth_getTransactionCount', address, block)
}

/** @returns A gateway with the account, issuer and secret of the first, and another data folder. */
async function second(settings: Record<string, string> = world.env): Promise<GatewayProcess> {
  const gateway = gatewayProcess({
    ...settings,
    PORT: String(await freePort()),
    DATA_DIR: join(world.dataDir, '..', crypto.randomUUID()),
  })
  seconds.push(gateway)
  return gateway
}

async function load({ issue }: Client, until: () => boolean): Promise<void> {
  const work = async () => {
    while (!until()) if ((await issue()).told[0]?.kind !== 'issued') await sleep(50)
  }
  await Promise.all([work(), work(), work(), work()])
}

test.runIf(process.platform === 'linux')(
  'a second gateway on the same machine does not start until the first is killed',
  async () => {
    const { OWN_NETWORK: _, ...settings } = world.env
    const [one, two] = [await second(settings), await second(settings)]
    await world.gateway.stop()
    await one.start()
    await expect(two.start()).rejects.toThrow(
      /another process on this machine sends transactions with the account 0x\w{40} on eip155:31337: stop it/,
    )
    await one.kill()
    await two.start()
  },
)

test('a second gateway elsewhere does not start while the first issues', async () => {
  // The pool is empty most of the time: keep sending until the second gateway has seen a
  // transaction.
  await world.chain.request('evm_setAutomine', false)
  let working = true
  const loaded = load(world.client, () => !working)
  const gateway = await second()
  await expect.poll(() => nonce('pending')).not.toBe(await nonce('latest'))
  try {
    const refused = expect(gateway.start()).rejects.toThrow(
      /another program sends transactions with this account: stop it/,
    )
    await expect.poll(gateway.output).toMatch(/foreign_transactions_found/)
    await mineEvery(world.chain, 1)
    await refused
  } finally {
    working = false
    await loaded
  }
  await mineAtOnce()
  await gateway.start()
})

test('a gateway waits for the transactions that another one left in the pool', async () => {
  await world.chain.request('evm_setAutomine', false)
  const lost = await world.client.issue({ respondAsync: true })
  await expect.poll(() => nonce('pending')).not.toBe(await nonce('latest'))
  await world.gateway.kill()
  const gateway = await second()
  gateway.launch()
  await expect.poll(gateway.output).toMatch(/foreign_transactions_found/)
  await sleep(1_000)
  expect(await fetch(`${gateway.url}/readyz`).catch(() => undefined)).toBeUndefined()
  await world.chain.request('evm_mine')
  await mineAtOnce()
  await gateway.ready()
  expect(gateway.output()).toMatch(/foreign_transactions_mined/)
  await gateway.kill()
  await world.settle()
  expect(promisesOf(lost)).toHaveLength(1)
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('two running gateways on one account neither lose nor double, and report each other', async () => {
  const gateway = await second()
  await gateway.start()
  const both = [world.gateway, gateway]
  const client = createClient(world.gateway.url, gateway.url)
  onTestFinished(client.close)
  const before = new Set(await world.ledger.issued())
  let working = true
  const loaded = load(client, () => !working)
  const codes = async () => {
    const answers = await Promise.all(both.map(({ url }) => fetch(`${url}/readyz`)))
    const bodies = await Promise.all(answers.map((one) => one.json()))
    return bodies.map(({ error }) => error?.code)
  }
  await expect.poll(codes).toEqual(['account_shared', 'account_shared'])
  working = false
  await loaded
  for (const { url, output } of both) {
    expect(output()).toMatch(/"event":"foreign_transaction","nonce":\d+,"transactionHash":"0x/)
    await expect
      .poll(async () => (await fetch(`${url}/metrics`)).text())
      .toMatch(/^document_registry_foreign_transactions_total [1-9]\d*$/m)
  }

  const promised = client.wishes.filter((wish) => promisesOf(wish).length > 0)
  for (const publicId of promised.flatMap(promisesOf))
    await expect.poll(async () => (await client.verify(publicId)).status).toBe('valid')
  const { ledger, issuerSecret } = world
  const issued = async () => (await ledger.issued()).filter((hash) => !before.has(hash))
  const judgement = await judge({ client, ledger: { ...ledger, issued }, issuerSecret })
  expect(judgement).toMatchObject({ ...NOTHING_WRONG, acknowledged: promised.length })
})
