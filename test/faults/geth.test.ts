import { expect, onTestFinished, test } from 'vitest'
import { freshSeed, seededRandom } from '../support/random.ts'
import { runChaos } from './support/chaos.ts'
import { startGethWorld } from './support/geth-world.ts'
import { geth, required } from './support/machine.ts'
import { NOTHING_WRONG } from './support/oracle.ts'

test('behavior: killed at random under load, before a real geth with a block each second', async ({
  skip,
}) => {
  const binary = required(geth()) ?? skip()
  const world = await startGethWorld(binary)
  onTestFinished(world.close)
  const seed = freshSeed()
  const figures = await runChaos(world, {
    documents: 100,
    kills: 2,
    connections: 20,
    random: seededRandom(seed),
    troubles: [],
  })
  expect(figures, `seed ${seed}`).toMatchObject({
    ...NOTHING_WRONG,
    falseValid: 0,
  })
}, 600_000) // Building geth takes minutes, the first time.
