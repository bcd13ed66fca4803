import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { ADA, API_KEY } from '../support/given.ts'
import { randomStep } from '../support/random.ts'
import { transact } from '../support/transact.ts'
import { reorg } from './support/rewrite.ts'
import { MAX_STEPS, stepAfter } from './support/steps.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// A document is suspended and released in turn: the last request wins, whatever happens.

let world: AnvilWorld
beforeEach(async () => {
  world = await startAnvilWorld({ WAIT_SECONDS: '5' }, { finality: FINALITY })
})
afterEach(() => world.close())

/** Blocks; Anvil's finalized block is twice as far behind the head. */
const FINALITY = 50
/** How long a request is repeated until it succeeds; milliseconds. */
const PATIENCE = 120_000

type Action = 'suspend' | 'release' | 'revoke'
type Issued = { publicId: string; documentHash: Hex; registry: RegistryId }

test('suspends again after a reorg dropped the suspension', async () => {
  const { publicId } = await issue()
  await mineSome()
  expect(await change('suspend', publicId)).toBe(200)
  await reorg(world, 1)
  await becomes(publicId, 'suspended')
})

test('a document stays released after a reorg dropped suspension and release', async () => {
  const { publicId } = await issue()
  await mineSome()
  expect(await change('suspend', publicId)).toBe(200)
  expect(await change('release', publicId)).toBe(200)
  await reorg(world, 2)
  await twoLooks()
  await becomes(publicId, 'valid')
})

test('releases again after a reorg dropped only the release', async () => {
  const { publicId } = await issue()
  expect(await change('suspend', publicId)).toBe(200)
  await mineSome()
  expect(await change('release', publicId)).toBe(200)
  await reorg(world, 1)
  await becomes(publicId, 'valid')
})

test('repeats all three after a reorg dropped issue, suspension and revocation', async () => {
  await mineSome()
  const { publicId } = await issue()
  expect(await change('suspend', publicId)).toBe(200)
  expect(await change('revoke', publicId)).toBe(200)
  await reorg(world, 3)
  await becomes(publicId, 'revoked')
})

test('does not suspend again what another account released before finality', async () => {
  const { publicId, documentHash, registry } = await issue()
  expect(await change('suspend', publicId)).toBe(200)
  await transact(provider(), registry, world.issuerKeys[0], 'release', [1, documentHash])
  // A fork without the release restores the suspension; with it, there is nothing to do.
  await world.chain.request('anvil_mine', `0x${(2 * FINALITY + 2).toString(16)}`)
  await twoLooks()
  await becomes(publicId, 'valid')
  await world.gateway.kill()
  await world.gateway.start()
  await twoLooks()
  await becomes(publicId, 'valid')
})

test.each(['before', 'after'] as const)(
  'the last answer holds when the gateway is killed %s each commit',
  async (side) => {
    const { publicId } = await issue()
    // Two runs cover all.
    for (let count = randomStep(2); count <= MAX_STEPS; count = stepAfter(count, 2)) {
      const before = starts
      await world.gateway.tell({ order: 'kill_at_commit', count, side })
      for (const action of ['suspend', 'release', 'suspend'] as const)
        await insist(action, publicId)
      const survived = starts === before && (await disarm())
      if (!world.gateway.running()) await restart()
      await becomes(publicId, 'suspended')
      await insist('release', publicId)
      await becomes(publicId, 'valid')
      if (survived) {
        expect(count).toBeGreaterThan(3)
        return
      }
    }
    throw new Error('the work does not end')
  },
)

async function disarm(): Promise<boolean> {
  const order = { order: 'kill_at_commit', count: 0, side: 'before' } as const
  return world.gateway.tell(order).then(
    () => true,
    () => false,
  )
}

let starts = 0

async function restart(): Promise<void> {
  starts++
  await world.gateway.ended()
  await world.gateway.start()
}

/** Repeats the request until it succeeds, and restarts the gateway after each kill. */
async function insist(action: Action, publicId: string): Promise<void> {
  const deadline = performance.now() + PATIENCE
  while (true) {
    if (!world.gateway.running()) await restart()
    const status = await change(action, publicId).catch(() => 'unanswered')
    if (status === 200) return
    if (performance.now() > deadline) throw new Error(`${action} is not done: ${status}`)
    // The end of a killed process is known a moment after its port is closed.
    await sleep(20)
  }
}

async function send(path: string, body: object) {
  const response = await fetch(`${world.gateway.url}/v1/documents${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const { data } = (await response.json()) as { data: Issued }
  return { status: response.status, data }
}

const issue = async () => (await send('', ADA)).data

const change = async (action: Action, publicId: string) =>
  (await send(`/${publicId}/${action}`, {})).status

const becomes = (publicId: string, status: string) =>
  expect
    .poll(async () => {
      const verdict = await world.client.verify(publicId).catch(() => undefined)
      return verdict?.status
    })
    .toBe(status)

/** So that a reorg of a few blocks does not reach earlier transactions. */
const mineSome = () => world.chain.request('anvil_mine', '0x5')

/** The gateway looks at its blocks every two seconds. */
const twoLooks = () => sleep(5_000)

const provider = () => ({
  request: ({ method, params = [] }: { method: string; params?: readonly unknown[] }) =>
    world.chain.request(method, ...params),
})
