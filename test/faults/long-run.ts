// `npm run faults -- --documents 10000 --kills 100`: the random kills of the fault tests, for as long as you like. Prints the
// figures, and ends with 1 when anything was lost, doubled or falsely called valid.

import { parseArgs } from 'node:util'
import { gethBinary } from '../support/geth.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import { type Figures, runChaos, type Trouble } from './support/chaos.ts'
import { startGethWorld } from './support/geth-world.ts'
import { loseUnsaved, reorg } from './support/rewrite.ts'
import { startAnvilWorld, type World } from './support/world.ts'

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '100' },
    connections: { type: 'string', default: '20' },
    chain: { type: 'string', default: 'anvil' },
    rewrites: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(freshSeed()) },
  },
})
const random = seededRandom(Number(values.seed))

async function anvilWorld(): Promise<[World, Trouble[]]> {
  const world = await startAnvilWorld()
  await world.chain.save()
  const troubles = [
    () => reorg(world, 1 + random.below(5)),
    async () => {
      await world.chain.save()
    },
    () => loseUnsaved(world),
  ]
  return [world, values.rewrites ? troubles : []]
}

async function gethWorld(): Promise<[World, Trouble[]] | undefined> {
  const binary = await gethBinary()
  if (binary === undefined) return undefined
  return [await startGethWorld(binary), []]
}

function figuresOf(figures: Figures, seconds: number): [string, unknown][] {
  const restarts = figures.restarts.map(Math.round).sort((a, b) => a - b)
  const at = (share: number) =>
    restarts[Math.ceil(share * restarts.length) - 1] ?? 0
  return [
    ['chain', values.chain],
    ['seed', values.seed],
    ['seconds', Math.round(seconds)],
    ['acknowledged', figures.acknowledged],
    ['on the chain', figures.onChain],
    ['kills', figures.kills],
    ['lost', figures.lost.length],
    ['doubled', figures.doubled.length],
    ['verdicts during the run', figures.verdicts],
    ['false valid', figures.falseValid],
    ['not valid in the end', figures.notValid.length],
    ['payload missing', figures.unreadable.length],
    ['refused, yet issued', figures.refusedYetIssued.length],
    ['answered with 500', figures.internalErrors.length],
    ['starts that failed', figures.failedStarts],
    ['restart to ready, median', `${at(0.5)} ms`],
    ['restart to ready, 99 %', `${at(0.99)} ms`],
    ['restart to ready, longest', `${at(1)} ms`],
  ]
}

const started = await (values.chain === 'geth' ? gethWorld() : anvilWorld())
if (started !== undefined) {
  const [world, troubles] = started
  console.log(`seed ${values.seed}`)
  const began = performance.now()
  try {
    const figures = await runChaos(world, {
      documents: Number(values.documents),
      kills: Number(values.kills),
      connections: Number(values.connections),
      random,
      troubles,
      progress({ kills, acknowledged }) {
        if (kills % 10 === 0)
          console.log(`${kills} kills, ${acknowledged} acknowledged`)
      },
    })
    const seconds = (performance.now() - began) / 1000
    for (const [name, value] of figuresOf(figures, seconds))
      console.log(`${name.padEnd(28)}${value}`)
    const { lost, doubled, falseValid, notValid, unreadable } = figures
    const wrong = [lost, doubled, notValid, unreadable].flat()
    if (wrong.length > 0 || falseValid > 0) process.exitCode = 1
  } finally {
    await world.close()
  }
}
