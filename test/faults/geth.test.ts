import { expect, onTestFinished, test } from 'vitest'
import { gethBinary } from '../support/geth.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import { NOTHING_WRONG_AT_ALL, runChaos } from './support/chaos.ts'
import { startGethWorld } from './support/geth-world.ts'

// Builds geth before the clock runs: the first build takes minutes.
const binary = await gethBinary()

test('loses nothing when killed at random under load with a real geth', async ({ skip }) => {
  const path = binary ?? skip()
  const world = await startGethWorld(path)
  onTestFinished(world.close)
  const seed = freshSeed()
  const figures = await runChaos(world, {
    documents: 100,
    kills: 2,
    connections: 20,
    random: seededRandom(seed),
    troubles: [],
  })
  expect(figures, `seed ${seed}`).toMatchObject(NOTHING_WRONG_AT_ALL)
})
