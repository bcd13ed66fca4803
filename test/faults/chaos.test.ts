import { expect, onTestFinished, test } from 'vitest'
import { freshSeed, seededRandom } from '../support/random.ts'
import { runChaos } from './support/chaos.ts'
import { NOTHING_WRONG } from './support/oracle.ts'
import { startAnvilWorld } from './support/world.ts'

test('behavior: killed at random under load, before a node with faults', async () => {
  const seed = freshSeed()
  // Blocks are final soon, so that rows leave the outbox during the run.
  const world = await startAnvilWorld({}, [], 2)
  onTestFinished(() => world.close())
  const figures = await runChaos(world, {
    documents: 300,
    kills: 5,
    connections: 10,
    random: seededRandom(seed),
    troubles: [],
  })
  expect(figures, `seed ${seed}`).toMatchObject({
    ...NOTHING_WRONG,
    falseValid: 0,
  })
}, 180_000)
