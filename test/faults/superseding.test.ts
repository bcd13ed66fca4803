import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import { ADA, API_KEY } from '../support/given.ts'
import { randomStep } from '../support/random.ts'
import { reorg } from './support/rewrite.ts'
import { MAX_STEPS, stepAfter } from './support/steps.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// Superseding is two changes on the chain, one after the other. Whatever comes between them,
// whoever was told "pending" gets both, and the list of documents shows what the chain shows.

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld({ WAIT_SECONDS: '5' })
})
afterEach(() => world.close())

type Data = { publicId: string; documentHash: Hex; status: string; supersedes?: Hex }

test('revokes after a restart when killed before the successor was in a block', async () => {
  const old = await issue()
  await world.chain.request('evm_setAutomine', false)
  const { status, data } = await supersede(old, 'key')
  expect(status).toBe(202)
  await world.gateway.kill()
  await world.chain.request('evm_setAutomine', true)
  await world.chain.request('evm_mine')
  await world.gateway.start()
  await becomes(old.publicId, 'superseded')
  await becomes(data.publicId, 'valid')
  expect(await listed()).toEqual({ [old.documentHash]: 'superseded', [data.documentHash]: 'valid' })
})

test('keeps both changes after a reorg that dropped them', async () => {
  await world.chain.request('anvil_mine', '0x5')
  const old = await issue()
  await world.chain.request('anvil_mine', '0x5')
  const { status, data } = await supersede(old, 'key')
  expect(status).toBe(201)
  await reorg(world, 2)
  await becomes(data.publicId, 'valid')
  await becomes(old.publicId, 'superseded')
  await expect
    .poll(listed)
    .toEqual({ [old.documentHash]: 'superseded', [data.documentHash]: 'valid' })
})

test.each(['before', 'after'] as const)(
  'does both or neither when killed %s each commit to its disk',
  async (side) => {
    // Two runs cover all.
    let count = randomStep(2)
    let steps = 0
    for (let kills = 1; kills > 0; count = stepAfter(count, 2)) {
      if (count > MAX_STEPS) throw new Error('the work does not end')
      steps++
      const old = await issue()
      kills = 0
      await world.gateway.tell({ order: 'kill_at_commit', count, side })
      const running = async () => {
        if (world.gateway.running()) return
        kills++
        await world.gateway.start()
      }
      // The kill may come with a later commit, while a status is read.
      const answered = async (publicId: string): Promise<string> => {
        await running()
        return statusOf(publicId).catch(() => answered(publicId))
      }
      let answer: Awaited<ReturnType<typeof supersede>> | undefined
      while (answer === undefined || answer.status >= 500) {
        await running()
        answer = await supersede(old, `${side}-${count}`).catch(() => undefined)
      }
      expect([201, 202]).toContain(answer.status)
      const { documentHash, publicId } = answer.data
      let status: unknown
      while (status !== 'superseded') {
        await running()
        status = await statusOf(old.publicId).catch(() => undefined)
        // Never revoked without a successor.
        if (status === 'superseded') expect(await answered(publicId)).toBe('valid')
        else await sleep(50)
      }
      await running()
      await world.gateway.tell({ order: 'kill_at_commit', count: 0, side: 'before' }).catch(running)
      await expect
        .poll(listed)
        .toMatchObject({ [old.documentHash]: 'superseded', [documentHash]: 'valid' })
      // No attempt left a document of its own.
      expect(Object.keys(await listed())).toHaveLength(2 * steps)
    }
    expect(steps).toBeGreaterThan(1)
  },
)

async function send(path: string, init: RequestInit & { headers?: object } = {}) {
  const response = await fetch(`${world.gateway.url}/v1${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      ...init.headers,
    },
  })
  const { data } = (await response.json()) as { data: Data }
  return { status: response.status, data }
}

async function issue(): Promise<Data> {
  const { status, data } = await send('/documents', { method: 'POST', body: JSON.stringify(ADA) })
  expect(status).toBe(201)
  return data
}

const supersede = ({ publicId }: Data, key: string) =>
  send(`/documents/${publicId}/supersede`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: JSON.stringify({ ...ADA, subjectName: 'Augusta Ada King' }),
  })

/** The status of each document, by the index. */
async function listed(): Promise<Record<string, string>> {
  const all: [string, string][] = []
  for (const status of ['valid', 'superseded', 'pending']) {
    const { data } = await send(`/documents?limit=100&status=${status}`)
    const { documents } = data as unknown as { documents: Data[] }
    all.push(...documents.map((one) => [one.documentHash, one.status] as [string, string]))
  }
  return Object.fromEntries(all)
}

const statusOf = async (publicId: string) => (await world.client.verify(publicId)).status

const becomes = (publicId: string, status: string) =>
  expect.poll(() => statusOf(publicId).catch(() => undefined)).toBe(status)
