import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomStep } from '../support/random.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { MAX_STEPS, stepAfter } from './support/steps.ts'
import { promisesOf } from './support/wish.ts'
import { type AnvilWorld, startAnvilWorld } from './support/world.ts'

// Kill -9 at each step of the pipeline in turn. The test finds the steps: it kills at the n-th call
// to the node or the n-th commit, for growing n, until the work ends before its n-th step. So it
// covers every step, whatever the pipeline does. Where there are many, a run takes every second to
// fourth from a random start; a few runs cover all.

let world: AnvilWorld
beforeAll(async () => {
  world = await startAnvilWorld()
})
afterAll(() => world.close())

test('loses nothing when killed before each call to the node', async () => {
  const steps = await eachStep(async (n) => {
    killAtCall(n, 'before')
    await work()
  }, 3)
  expect(steps).toBeGreaterThan(4)
})

test('loses nothing when killed after each broadcast, before the answer', async () => {
  const steps = await eachStep(async (n) => {
    killAtCall(n, 'after', 'eth_sendRawTransaction')
    await work()
  })
  expect(steps).toBeGreaterThan(0)
})

test.each(['before', 'after'] as const)(
  'loses nothing when killed %s each commit to its disk',
  async (side) => {
    const steps = await eachStep(async (count) => {
      await world.gateway.tell({ order: 'kill_at_commit', count, side })
      await work()
    }, 2)
    expect(steps).toBeGreaterThan(1)
  },
)

test('loses nothing when killed again at each call of its recovery', async () => {
  const steps = await eachStep(async (n) => {
    killAtCall(1, 'before', 'eth_sendRawTransaction')
    await work()
    await world.gateway.ended()
    world.proxy.heal()
    killAtCall(n, 'before')
    await world.gateway.start().catch(() => {})
  }, 4)
  expect(steps).toBeGreaterThan(4)
})

/**
 * Runs step after step until one does not kill the gateway; after each, restarts it and repeats the
 * requests that have an idempotency key.
 *
 * @param stride Takes every `stride`th step.
 * @returns The number of steps.
 */
async function eachStep(step: (n: number) => Promise<void>, stride = 1): Promise<number> {
  const first = randomStep(stride)
  for (let n = first; n <= MAX_STEPS; n = stepAfter(n, stride)) {
    await step(n)
    world.proxy.heal()
    const survived = await disarm()
    await world.settle()
    await repeatUnanswered()
    if (!survived) continue
    const steps = `each of ${stride} steps from ${first} to ${n}`
    expect(await world.judge(), steps).toMatchObject(NOTHING_WRONG)
    return n - 1
  }
  throw new Error('the work does not end')
}

/** Disarms the kill. @returns Whether the gateway is running. */
async function disarm(): Promise<boolean> {
  try {
    await world.gateway.tell({
      order: 'kill_at_commit',
      count: 0,
      side: 'before',
    })
    return true
  } catch {
    await world.gateway.ended()
    return false
  }
}

/** Documents of each kind: with and without an idempotency key, synchronous and not. */
async function work(): Promise<void> {
  const { client } = world
  await Promise.all([
    client.issue(),
    client.issue({ idempotencyKey: crypto.randomUUID() }),
    client.issue({ respondAsync: true }),
  ])
}

/** A repeat with the same idempotency key must get the same publicId. */
async function repeatUnanswered(): Promise<void> {
  for (const wish of world.client.wishes) {
    if (!wish.idempotencyKey || wish.told.some(isSettled)) continue
    await world.client.repeat(wish)
    expect(promisesOf(wish)).toHaveLength(1)
  }
}

const isSettled = ({ kind }: { kind: string }) => kind === 'issued'

function killAtCall(n: number, side: 'before' | 'after', only?: string): void {
  const { proxy, gateway } = world
  let calls = 0
  const killAtTheNth = async (method: string) => {
    if (only !== undefined && method !== only) return
    if (++calls === n) await gateway.kill()
  }
  if (side === 'after') proxy.answered = ({ method }) => killAtTheNth(method)
  else
    proxy.fault = async ({ method }) => {
      await killAtTheNth(method)
      return undefined
    }
}
