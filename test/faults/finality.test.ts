import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RpcCall } from '../support/fault-proxy.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// What the gateway does with what is on the chain and not final yet.

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld({}, [], FINALITY)
})
beforeEach(() => world.settle())
afterAll(() => world.close())

/** Blocks; Anvil finds final what is twice as far behind. */
const FINALITY = 50

test('behavior: looking after it costs the same, however much it is', async () => {
  await Promise.all(Array.from({ length: 300 }, () => world.client.issue()))
  await looks(1)
  const calls = await looks(2)
  expect(calls.filter((method) => method !== 'eth_getBlockByNumber')).toEqual(
    [],
  )
  // One of each look for the newest final block, one for the newest with documents.
  expect(calls).toHaveLength(2 * 2)
})

test('behavior: documents that are in another block after a reorg are not sent again', async () => {
  await world.chain.request('anvil_mine', '0x4')
  const raws = await broadcastsDuring(() => world.client.issue())
  world.chain.rewrites++
  await world.chain.request('anvil_reorg', 3, [[raws[0], 2]])
  world.chain.rewrites++
  expect(await broadcastsDuring(() => looks(2))).toEqual([])
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
  const [{ number, hash } = {}] = (await outbox()).slice(-1)
  expect(hash).toBe(await hashOf(number))
})

test('behavior: what is final leaves the outbox, also after a restart', async () => {
  await world.client.issue()
  expect(await outbox()).not.toEqual([])
  await world.chain.request(
    'anvil_mine',
    `0x${(2 * FINALITY + 1).toString(16)}`,
  )
  do {
    await world.settle()
    await looks(0)
    await sleep(200)
  } while ((await outbox()).length > 0)
})

test('behavior: an outbox from before hashes of blocks were kept', async () => {
  await world.client.issue()
  await world.gateway.kill()
  const sqlite = new DatabaseSync(database())
  sqlite.exec('DROP INDEX intent_by_block')
  sqlite.exec('ALTER TABLE intent DROP COLUMN block_hash')
  sqlite.close()
  await world.settle()
  expect(await broadcastsDuring(() => looks(1))).toEqual([])
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

const database = () => join(world.dataDir, 'gateway.db')

/** Kills the gateway, and reads which blocks its outbox has for what waits there, in order. */
async function outbox(): Promise<{ number: number; hash: string }[]> {
  await world.gateway.kill()
  const sqlite = new DatabaseSync(database())
  const rows = sqlite
    .prepare('SELECT block_number, block_hash FROM intent ORDER BY id')
    .all()
  sqlite.close()
  return rows.map(({ block_number, block_hash }) => ({
    number: Number(block_number),
    hash: String(block_hash),
  }))
}

async function hashOf(number = -1): Promise<string | undefined> {
  const block = await world.chain.request<{ hash: string } | null>(
    'eth_getBlockByNumber',
    `0x${number.toString(16)}`,
    false,
  )
  return block?.hash
}

/** Waits until the gateway has looked so many times, and begins to again. @returns The methods that it called meanwhile. */
function looks(count: number): Promise<string[]> {
  const methods: string[] = []
  let begun = 0
  return new Promise((resolve) => {
    world.proxy.fault = ({ method, params }: RpcCall) => {
      if (params[0] === 'finalized') begun++
      if (begun > count) {
        world.proxy.heal()
        resolve(methods)
      } else if (begun > 0) methods.push(method)
      return undefined
    }
  })
}

/** @returns The transactions that the gateway sent. */
async function broadcastsDuring(work: () => Promise<unknown>) {
  const raws: unknown[] = []
  world.proxy.answered = ({ method, params }: RpcCall) => {
    if (method === 'eth_sendRawTransaction') raws.push(params[0])
  }
  await work()
  world.proxy.answered = () => {}
  return raws
}
