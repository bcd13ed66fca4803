import { expect, onTestFinished, test } from 'vitest'
import { NOTHING_WRONG } from './support/oracle.ts'
import { mineEvery, runSteadyLoad } from './support/steady-load.ts'
import { startAnvilWorld } from './support/world.ts'

// A small run of slow-blocks.ts, which has blocks of 12 seconds.

test('answers requests with the next block when blocks come every 3 seconds', async () => {
  const world = await startAnvilWorld({ WAIT_SECONDS: '6' })
  onTestFinished(world.close)
  await mineEvery(world.chain, 3)
  // Lets the gateway learn the block time.
  await runSteadyLoad(world, { perSecond: 5, seconds: 15 })
  const load = await runSteadyLoad(world, { perSecond: 5, seconds: 18 })
  expect(load.requests).toBe(90)
  // On a busy machine a few miss their block; slow-blocks.ts allows 1 % on an idle one.
  expect(load.anchored).toBeGreaterThanOrEqual(81)
  // Anvil's blocks are late on a busy machine, and then there is no rhythm to gather towards.
  expect(load.transactions).toBeLessThanOrEqual(load.requests / 2)
  await world.settle()
  expect(await world.judge()).toMatchObject(NOTHING_WRONG)
})
