import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RpcCall } from '../support/fault-proxy.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { loseUnsaved, reorg } from './support/rewrite.ts'
import { promisesOf, type Wish } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// The chain loses acknowledged documents: the gateway must anchor them again unasked, and must not
// call them valid until then.

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld()
})
afterAll(() => world.close())

test.each([1, 2, 3, 4, 5])('issues again after a reorg of depth %i', async (depth) => {
  const wishes = await oneBlockEach(depth)
  holdBroadcasts()
  await reorg(world, depth)
  await expectNoneValid(wishes)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('issues again when it was killed before it noticed the reorg', async () => {
  await oneBlockEach(3)
  await world.gateway.kill()
  await reorg(world, 3)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('issues again what a killed node had not saved', async () => {
  await world.chain.save()
  const wishes = await oneBlockEach(5)
  holdBroadcasts()
  await loseUnsaved(world)
  await expectNoneValid(wishes)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

test('issues again what was lost when node and gateway were killed together', async () => {
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
