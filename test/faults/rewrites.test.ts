import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RpcCall } from '../support/fault-proxy.ts'
import { promisesOf, type Wish } from './support/client.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { loseUnsaved, reorg } from './support/rewrite.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// What was on the chain and acknowledged is there no more: it must be anchored again without anyone
// asking, and not be called valid until then.

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld()
})
afterAll(() => world.close())

test.each([1, 2, 3, 4, 5])('behavior: a reorg of %i blocks', async (depth) => {
  const wishes = await oneBlockEach(depth)
  holdBroadcasts()
  await reorg(world, depth)
  await expectNoneValid(wishes)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('behavior: a reorg, and the gateway is killed before it has seen it', async () => {
  await oneBlockEach(3)
  await world.gateway.kill()
  await reorg(world, 3)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('behavior: the node is killed and has lost what it had not saved', async () => {
  await world.chain.save()
  const wishes = await oneBlockEach(5)
  holdBroadcasts()
  await loseUnsaved(world)
  await expectNoneValid(wishes)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('behavior: node and gateway are killed together', async () => {
  await world.chain.save()
  await oneBlockEach(5)
  await world.gateway.kill()
  await loseUnsaved(world)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

async function oneBlockEach(blocks: number): Promise<Wish[]> {
  const wishes: Wish[] = []
  for (let i = 0; i < blocks; i++) {
    const wish = await world.client.issue()
    expect(wish.told).toMatchObject([{ kind: 'issued', status: 201 }])
    wishes.push(wish)
  }
  return wishes
}

function holdBroadcasts(): void {
  world.proxy.fault = ({ method }: RpcCall) =>
    method === 'eth_sendRawTransaction' ? { kind: 'drop_before' } : undefined
}

async function expectNoneValid(wishes: Wish[]): Promise<void> {
  const recorded = await world.ledger.recorded(await world.ledger.issued())
  expect(recorded.size).toBe(world.client.wishes.length - wishes.length)
  for (const publicId of wishes.flatMap(promisesOf))
    expect((await world.client.verify(publicId)).valid).toBe(false)
}
