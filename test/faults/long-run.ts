// `npm run faults -- --documents 10000 --kills 100`: the random kills of the fault tests, for as long as you like. Prints the
// figures, and ends with 1 when anything was lost, doubled, falsely called valid, or not revoked as promised.
//
//   --chain geth    a real geth in place of Anvil
//   --rewrites      the chain is rewritten too: reorgs, and a node that is killed and has lost what it had not saved
//   --store kubo    a real Kubo as the payload store, killed at random as well
//   --connections N, --seed N

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { gethBinary } from '../support/geth.ts'
import { createKubo, type Kubo, kuboBinary } from '../support/kubo.ts'
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
    store: { type: 'string', default: 'embedded' },
    rewrites: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(freshSeed()) },
  },
})
const random = seededRandom(Number(values.seed))

type Setting = { world: World; troubles: Trouble[] }

async function anvilWorld(env: Record<string, string>): Promise<Setting> {
  // No rewrite may lose a final block; without rewrites, blocks are final soon and rows leave the outbox.
  const world = await startAnvilWorld(env, [], values.rewrites ? undefined : 2)
  await world.chain.save()
  const troubles = [
    () => reorg(world, 1 + random.below(5)),
    () => world.chain.save(),
    () => loseUnsaved(world),
  ]
  return { world, troubles: values.rewrites ? troubles : [] }
}

async function gethWorld(env: Record<string, string>): Promise<Setting | undefined> {
  const binary = await gethBinary()
  if (binary === undefined) return undefined
  const world = await startGethWorld(binary, env)
  const troubles = [() => world.rewind(1 + random.below(5)), world.crash]
  return { world, troubles: values.rewrites ? troubles : [] }
}

async function startKubo(): Promise<Kubo | undefined> {
  const binary = await kuboBinary()
  if (binary === undefined) return undefined
  const kubo = await createKubo(binary)
  await kubo.start()
  return kubo
}

/** Under load, and down for a moment. */
async function killKubo(kubo: Kubo): Promise<void> {
  await kubo.signal('SIGKILL')
  await sleep(random.below(500))
  await kubo.start()
}

function figuresOf(figures: Figures, seconds: number): [string, unknown][] {
  const restarts = figures.restarts.map(Math.round).sort((a, b) => a - b)
  const at = (share: number) => restarts[Math.ceil(share * restarts.length) - 1] ?? 0
  return [
    ['chain', `${values.chain}${values.rewrites ? ', rewritten' : ''}`],
    ['store', values.store],
    ['seed', values.seed],
    ['seconds', Math.round(seconds)],
    ['acknowledged', figures.acknowledged],
    ['on the chain', figures.onChain],
    ['kills', figures.kills],
    ['revocations promised', figures.revocations],
    ['lost', figures.lost.length],
    ['doubled', figures.doubled.length],
    ['verdicts during the run', figures.verdicts],
    ['false valid', figures.falseValid],
    ['not valid in the end', figures.notValid.length],
    ['not revoked', figures.notRevoked.length],
    ['revoked unasked', figures.revokedUnasked.length],
    ['payload missing', figures.unreadable.length],
    ['refused, yet issued', figures.refusedYetIssued.length],
    ['answered with 500', figures.internalErrors.length],
    ['starts that failed', figures.failedStarts],
    ['restart to ready, median', `${at(0.5)} ms`],
    ['restart to ready, 99 %', `${at(0.99)} ms`],
    ['restart to ready, longest', `${at(1)} ms`],
  ]
}

const kubo = values.store === 'kubo' ? await startKubo() : undefined
const env = kubo ? { IPFS_API_URL: kubo.apiUrl } : {}
const started =
  values.store === 'kubo' && !kubo
    ? undefined
    : await (values.chain === 'geth' ? gethWorld(env) : anvilWorld(env))
if (started !== undefined) {
  const { world, troubles } = started
  console.log(`seed ${values.seed}`)
  const began = performance.now()
  try {
    const figures = await runChaos(world, {
      documents: Number(values.documents),
      kills: Number(values.kills),
      connections: Number(values.connections),
      random,
      troubles: kubo ? [...troubles, () => killKubo(kubo)] : troubles,
      progress({ kills, acknowledged }) {
        if (kills % 10 === 0) console.log(`${kills} kills, ${acknowledged} acknowledged`)
      },
    })
    const seconds = (performance.now() - began) / 1000
    for (const [name, value] of figuresOf(figures, seconds))
      console.log(`${name.padEnd(28)}${value}`)
    const { lost, doubled, falseValid, notValid, unreadable } = figures
    const { notRevoked, revokedUnasked } = figures
    const wrong = [...[lost, doubled, notValid, unreadable], ...[notRevoked, revokedUnasked]].flat()
    if (wrong.length > 0 || falseValid > 0) process.exitCode = 1
  } finally {
    await world.close()
    await kubo?.remove()
  }
}
