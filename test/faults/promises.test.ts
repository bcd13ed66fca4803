import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RpcCall } from '../support/fault-proxy.ts'
import { isCallOf } from '../support/registry-call.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { reorg } from './support/rewrite.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// A promise is kept, whatever the answer to a later request for the same document.

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld({ WAIT_SECONDS: '2' })
})
afterEach(() => world.close())

const idempotencyKey = 'the-same-again'

test('keeps a promise (202) whose repeat is refused', async () => {
  const { chain, client } = world
  await chain.request('evm_setAutomine', false)
  await client.issue({ respondAsync: true }) // Its transaction is in flight.
  const wish = await client.issue({ respondAsync: true, idempotencyKey })
  expect(wish.told).toMatchObject([{ kind: 'issued', status: 202 }])
  wish.respondAsync = false
  const repeated = client.repeat(wish)
  await sleep(300) // The repeat now waits beside the promised action.
  refuseEstimates()
  await chain.request('evm_mine')
  await repeated
  await chain.request('evm_setAutomine', true)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('keeps an acknowledged document that a reorg dropped and whose repeat is refused', async () => {
  const { client } = world
  const wish = await client.issue({ idempotencyKey })
  expect(wish.told).toMatchObject([{ kind: 'issued', status: 201 }])
  refuseEstimates()
  await reorg(world, 1)
  await client.repeat(wish)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('keeps the promise of many equal requests while the node fails at times', async () => {
  const { client } = world
  for (let round = 0; round < 10; round++) {
    refuseEstimates(3)
    const wish = await client.issue({ idempotencyKey: `round-${round}` })
    await Promise.all(
      Array.from({ length: 30 }, async (_, i) => {
        await sleep(i * 20)
        await client.repeat(wish)
      }),
    )
  }
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('keeps an anchored document that a node behind does not show while the next send fails', async () => {
  const { client, proxy } = world
  let sent = false
  proxy.answered = ({ method }) => {
    sent ||= method === 'eth_sendRawTransaction'
  }
  proxy.fault = ({ method }) => {
    if (method === 'eth_estimateGas' && sent) return { kind: 'drop_before' }
    // The nonce comes from a node that has the block, the records from one that does not.
    return method === 'eth_call' && sent ? { kind: 'stale_head', blocks: 1 } : undefined
  }
  const wish = await client.issue({ idempotencyKey })
  await world.settle()
  await client.repeat(wish)
  expect(wish.told[1]).toMatchObject({ kind: 'issued', status: 201 })
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('answers 202 when a reorg drops the document of a request that waits for finality', async () => {
  const { client, proxy } = world
  let seen = 0
  proxy.answered = async (call) => {
    // The waiting request sees the record at its first reading, and not later.
    if (!isCallOf('verificationOf', call) || seen++ > 0) return
    proxy.fault = ({ method }) =>
      method === 'eth_sendRawTransaction' ? { kind: 'drop_before' } : undefined
    await reorg(world, 1)
  }
  const wish = await client.issue({ wait: 'finalized' })
  expect(seen).toBeGreaterThan(1)
  expect(wish.told).toMatchObject([{ status: 202, document: 'pending' }])
  expect(wish.told[0]).not.toHaveProperty('finality')
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test.each(['finalized', undefined] as const)(
  'answers 202 when the node that it reads for the answer is behind (wait: %s)',
  async (wait) => {
    const { client, proxy } = world
    proxy.fault = (call) =>
      isCallOf('verificationOf', call) ? { kind: 'stale_head', blocks: 1 } : undefined
    const wish = await client.issue({ idempotencyKey, ...(wait && { wait }) })
    await client.repeat(wish)
    const pending = { status: 202, document: 'pending' }
    // What this gateway has just anchored is not read again, unless it must be final.
    expect(wish.told).toMatchObject([wait ? pending : { status: 201, document: 'valid' }, pending])
    await world.settle()
    expect(await client.repeat(wish)).toMatchObject({ document: 'valid' })
    expect(await world.judge()).toMatchObject(NOTHING_WRONG)
  },
)

/** Prevents new transactions this many times. */
function refuseEstimates(times = Number.POSITIVE_INFINITY): void {
  let left = times
  world.proxy.fault = ({ method }: RpcCall) =>
    method === 'eth_estimateGas' && left-- > 0 ? { kind: 'drop_before' } : undefined
}
