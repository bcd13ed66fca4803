import { Transaction, Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Fault, GARBAGE, type RpcCall, randomFaults } from '../support/fault-proxy.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import { gethPoolRules } from './support/geth-pool-rules.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// A node that does one thing wrong again and again: for all calls, or for broadcasts only.

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld({ RPC_TIMEOUT_SECONDS: '1' })
})
afterEach(() => world.proxy.heal())
afterAll(() => world.close())

const seed = freshSeed()

const faults: [string, Fault][] = [
  ['drops calls before they reach it', { kind: 'drop_before' }],
  ['executes calls and never answers', { kind: 'drop_after' }],
  ['answers late', { kind: 'delay', milliseconds: 300 }],
  ['answers after the time-out', { kind: 'delay', milliseconds: 1_200 }],
  ['limits the rate', { kind: 'status', status: 429 }],
  ['has a provider that fails', { kind: 'status', status: 503 }],
  ['is some blocks behind', { kind: 'stale_head', blocks: 2 }],
  ['has not indexed its receipts', { kind: 'null_receipt' }],
  ...GARBAGE.map((text): [string, Fault] => [
    `answers ${JSON.stringify(text)}`,
    { kind: 'garbage', text },
  ]),
]

test.each(faults)('survives a node that %s', async (_, fault) => {
  const random = seededRandom(seed)
  world.proxy.fault = () => (random.next() < 0.3 ? fault : undefined)
  await issueSome()
  world.proxy.fault = every('eth_sendRawTransaction', fault, 2)
  await issueSome()
  await world.settle()
  expect(await world.judge(), `seed ${seed}`).toMatchObject(NOTHING_WRONG)
})

test('survives all of these faults at once', async () => {
  world.proxy.fault = randomFaults(seededRandom(seed), 0.3)
  for (let round = 0; round < 5; round++) await issueSome()
  await world.settle()
  expect(await world.judge(), `seed ${seed}`).toMatchObject(NOTHING_WRONG)
})

test("works with geth's pool rules when a block takes longer than a rebroadcast", async () => {
  const { chain, client, proxy } = world
  const rules = gethPoolRules(proxy.direct)
  let refusals = 0
  proxy.fault = async (call) => {
    const fault = await rules(call)
    if (fault !== undefined) refusals++
    return fault
  }
  await chain.request('evm_setAutomine', false)
  const wishes = await Promise.all([
    client.issue({ respondAsync: true }),
    client.issue({ respondAsync: true }),
  ])
  expect(wishes.flatMap(promisesOf)).toHaveLength(2)
  await expect.poll(() => refusals).toBeGreaterThan(0)
  await chain.request('evm_mine')
  await chain.request('evm_setAutomine', true)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('recovers when another program uses the nonce first', async () => {
  const {
    chain,
    client,
    proxy,
    issuerKeys: [issuerKey],
  } = world
  const wallet = new Wallet(issuerKey)
  let theirs = 0
  proxy.fault = async ({ method, params }) => {
    if (method !== 'eth_sendRawTransaction' || theirs++ > 0) return undefined
    const { nonce } = Transaction.from(String(params[0]))
    const raw = await wallet.signTransaction({
      type: 2,
      chainId: 31337,
      nonce,
      to: wallet.address,
      gasLimit: 21_000n,
      maxFeePerGas: 100_000_000_000n,
      maxPriorityFeePerGas: 1_000_000_000n,
    })
    await chain.request('eth_sendRawTransaction', raw)
    return undefined
  }
  const { told } = await client.issue()
  expect(told).toMatchObject([{ kind: 'issued', status: 201 }])
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

/** Fails the first calls of a method, and passes the later ones. */
function every(method: string, fault: Fault, times: number) {
  let left = times
  return (call: RpcCall) => (call.method === method && left-- > 0 ? fault : undefined)
}

async function issueSome(): Promise<void> {
  const { client } = world
  const key = () => crypto.randomUUID()
  const wishes = await Promise.all([
    client.issue(),
    client.issue({ respondAsync: true }),
    client.issue({ idempotencyKey: key() }),
    client.issue({ idempotencyKey: key(), respondAsync: true }),
  ])
  // Repeats without waiting for a healthy node, as clients do.
  for (const wish of wishes) if (wish.idempotencyKey) await client.repeat(wish)
}
