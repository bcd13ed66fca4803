import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { Fault, RpcCall } from '../support/fault-proxy.ts'
import { isCallOf } from '../support/registry-call.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { reorg } from './support/rewrite.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// How the gateway handles documents that are on the chain and not final yet.

// Most tests start the gateway several times, which takes many seconds on a busy machine.
vi.setConfig({ testTimeout: 180_000 })

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld({}, { finality: FINALITY })
})
beforeEach(() => world.settle())
afterAll(() => world.close())

/** Blocks; Anvil's finalized block is twice as far behind the head. */
const FINALITY = 50

test('checks the chain with two calls however many documents wait', async () => {
  await Promise.all(Array.from({ length: 300 }, () => world.client.issue()))
  await looks(1)
  const calls = await looks(2)
  expect(calls.filter((method) => method !== 'eth_getBlockByNumber')).toEqual([])
  // Each look makes one call for the newest final block, and one for the newest block with
  // documents.
  expect(calls).toHaveLength(2 * 2)
})

test('does not resend documents that a reorg puts into another block', async () => {
  await world.chain.request('anvil_mine', '0x4')
  const raws = await broadcastsDuring(() => world.client.issue())
  world.chain.rewrites++
  await world.chain.request('anvil_reorg', 3, [[raws[0], 2]])
  world.chain.rewrites++
  expect(await broadcastsDuring(() => looks(2))).toEqual([])
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
  const [{ number, hash } = {}] = (await sends()).slice(-1)
  expect(hash).toBe(await hashOf(number))
})

test('sends become final, also after a restart', async () => {
  await world.client.issue()
  expect(await sends()).not.toEqual([])
  await becomeFinal()
})

test('keeps a final document that is repeated at a node that is behind and then fails', async () => {
  const { client, proxy } = world
  const before = await head()
  const wish = await client.issue({ idempotencyKey: 'behind' })
  expect(wish.told).toMatchObject([{ kind: 'issued', status: 201 }])
  await becomeFinal()
  await world.settle()
  const blocks = (await head()) - before
  proxy.fault = (call) => {
    if (call.method === 'eth_estimateGas') return { kind: 'drop_before' }
    return isCallOf('recordsOf', call) ? { kind: 'stale_head', blocks } : undefined
  }
  expect(await client.repeat(wish)).toMatchObject({ status: 202, document: 'pending' })
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
  expect(await client.repeat(wish)).toMatchObject({
    status: 201,
    document: 'valid',
  })
})

test('a repeat restores a lost payload', async () => {
  const wish = await world.client.issue({ idempotencyKey: 'lost' })
  await becomeFinal()
  const [publicId = ''] = promisesOf(wish)
  const sqlite = new DatabaseSync(database())
  sqlite.prepare('DELETE FROM payload WHERE hash = ?').run(decodePublicId(publicId).hash)
  sqlite.close()
  await world.settle()
  expect((await world.judge()).lost).toEqual([wish.number])
  expect(await world.client.repeat(wish)).toMatchObject({ status: 201 })
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})

/**
 * Answers to `finalized` that are not a block. None of them means that the node does not know the
 * tag.
 */
const TAG_FAULTS: [string, Fault][] = [
  ['a rate limit', refusal(-32005, 'limit exceeded')],
  ['another error', refusal(-32000, 'header not found')],
  ['no final block', refusal(-32000, 'finalized block not found')],
]

test.each(TAG_FAULTS)(
  'survives a reorg of 75 blocks while the node answers %s to finalized',
  async (_, fault) => {
    const { chain, client, proxy } = world
    const wish = await client.issue()
    expect(wish.told).toMatchObject([{ kind: 'issued', status: 201 }])
    let asked = 0
    proxy.fault = ({ params }) => {
      if (params[0] !== 'finalized') return undefined
      asked++
      return fault
    }
    await chain.request('anvil_mine', '0x46')
    const from = asked
    await expect.poll(() => asked).toBeGreaterThan(from)
    // Enough time for the gateway to act on the answer.
    await sleep(500)
    await reorg(world, 75)
    await world.settle()
    expect(await world.judge()).toMatchObject(NOTHING_WRONG)
  },
)

function refusal(code: number, message: string): Fault {
  return { kind: 'refusal', error: { code, message } }
}

async function head(): Promise<number> {
  return Number(await world.chain.request('eth_blockNumber'))
}

/** Makes everything final, waits until the gateway knows, and kills it. */
async function becomeFinal(): Promise<void> {
  await world.chain.request('anvil_mine', `0x${(2 * FINALITY + 1).toString(16)}`)
  await world.settle()
  // Not the looks: the last one may be over by now, and an idle gateway does not look again.
  await expect.poll(countWaiting, { interval: 200 }).toBe(0)
  await world.gateway.kill()
}

/** @returns The sends of the running gateway that are not final. */
function countWaiting(): number {
  const sqlite = new DatabaseSync(database(), { readOnly: true })
  const row = sqlite.prepare('SELECT count(*) AS waiting FROM send WHERE NOT final').get()
  sqlite.close()
  return Number(row?.waiting)
}

const database = () => join(world.dataDir, 'gateway.db')

/** Kills the gateway. @returns The blocks of its sends that are not final, in order. */
async function sends(): Promise<{ number: number; hash: string }[]> {
  await world.gateway.kill()
  const sqlite = new DatabaseSync(database())
  const rows = sqlite
    .prepare('SELECT block_number, block_hash FROM send WHERE NOT final ORDER BY id')
    .all()
  sqlite.close()
  return rows.map(({ block_number, block_hash }) => ({
    number: Number(block_number),
    hash: block_hash === null ? '' : toHex(block_hash as Uint8Array),
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

/**
 * Waits until the gateway has looked `count` times and begins the next look. Actions must wait in
 * the outbox: an idle gateway does not look.
 *
 * @returns The methods that it called meanwhile.
 */
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
