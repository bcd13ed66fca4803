// `npm run faults -- --documents 10000 --kills 100`: the random kills of the fault tests, for as
// long as you like. Prints the figures, and exits with 1 when anything was lost, doubled, falsely
// called valid, not changed as promised, served after it was erased, or paid above a cap.
//
//   --chain geth    a real geth in place of Anvil
//   --rewrites      adds reorgs, and nodes that are killed and lose unsaved state
//   --store kubo    a real Kubo as the payload store, killed at random as well
//   --block-time S  seconds between Anvil's blocks, 12 or 0.25; default: one for each transaction
//   --gateways N    gateways of one issuer behind a round-robin; a client without an answer tries
//                   the next
//   --spikes        Anvil's base fee rises to 500 times its usual height now and then, over the cap
//   --connections N, --seed N

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { WEI_OF_GWEI } from '#base/wei.ts'
import { readConfig } from '#settings/config.ts'
import { gethBinary } from '../support/geth.ts'
import { createKubo, type Kubo, kuboBinary } from '../support/kubo.ts'
import { freshSeed, seededRandom } from '../support/random.ts'
import { type Figures, NOTHING_WRONG_AT_ALL, runChaos, type Trouble } from './support/chaos.ts'
import { weiAboveCaps } from './support/fees-paid.ts'
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
    'block-time': { type: 'string' },
    gateways: { type: 'string', default: '1' },
    spikes: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(freshSeed()) },
  },
})
const random = seededRandom(Number(values.seed))

/**
 * How long promises may take after the last fault. A transaction counts as stuck after 30 s, and
 * everything is slow on a busy machine.
 */
const PATIENCE_MS = 180_000
/** Print the log of a restart that took this many times the median. */
const SLOW_RESTART = 4

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}

type Setting = { world: World; troubles: Trouble[] }

async function anvilWorld(env: Record<string, string>): Promise<Setting> {
  // With rewrites, finality is so far behind that they lose no final block; without, blocks become
  // final soon, so that rows leave the outbox.
  const blockTime = values['block-time']
  const world = await startAnvilWorld(env, {
    ...(!values.rewrites && { finality: 2 }),
    ...(blockTime !== undefined && { blockTime: Number(blockTime) }),
    gateways: Number(values.gateways),
    patience: PATIENCE_MS,
  })
  await world.chain.save()
  const rewrites = [
    () => reorg(world, 1 + random.below(5)),
    () => world.chain.save(),
    () => loseUnsaved(world),
  ]
  const troubles = [
    ...(values.rewrites ? rewrites : []),
    ...(values.spikes ? [() => spike(world)] : []),
  ]
  return { world, troubles }
}

/** Raises the base fee for a moment so high that one document costs more than the cap. */
async function spike({ chain }: World): Promise<void> {
  const set = (fee: bigint) =>
    chain.request('anvil_setNextBlockBaseFeePerGas', `0x${fee.toString(16)}`)
  await set(500n * WEI_OF_GWEI)
  await chain.request('evm_mine')
  await set(500n * WEI_OF_GWEI)
  await sleep(200 + random.below(2_000))
  await set(WEI_OF_GWEI)
  await chain.request('evm_mine')
  await set(WEI_OF_GWEI)
}

async function gethWorld(env: Record<string, string>): Promise<Setting | undefined> {
  const binary = await gethBinary()
  if (binary === undefined) return undefined
  const world = await startGethWorld(binary, env, {
    gateways: Number(values.gateways),
    patience: PATIENCE_MS,
  })
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

/** Kills Kubo under load and leaves it down for a moment. */
async function killKubo(kubo: Kubo): Promise<void> {
  await kubo.signal('SIGKILL')
  await sleep(random.below(500))
  await kubo.start()
}

const CHAIN = [
  values.chain,
  ...(values['block-time'] === undefined ? [] : [`a block every ${values['block-time']} s`]),
  ...(values.rewrites ? ['rewritten'] : []),
  ...(values.spikes ? ['with base-fee spikes'] : []),
].join(', ')

function figuresOf(figures: Figures, seconds: number, above: bigint): [string, unknown][] {
  const at = (share: number) => quantile(figures.restarts.map(Math.round), share)
  return [
    ['chain', CHAIN],
    ['store', values.store],
    ['gateways', values.gateways],
    ['seed', values.seed],
    ['seconds', Math.round(seconds)],
    ['acknowledged', figures.acknowledged],
    ['on the chain', figures.onChain],
    ['kills', figures.kills],
    ['revocations promised', figures.revocations],
    ['last promise kept after', `${Math.round(figures.settled)} ms`],
    ['lost', figures.lost.length],
    ['doubled', figures.doubled.length],
    ['verdicts during the run', figures.verdicts],
    ['false valid', figures.falseValid],
    ['not valid in the end', figures.notValid.length],
    ['not revoked', figures.notRevoked.length],
    ['revoked unasked', figures.revokedUnasked.length],
    ['events that contradict the chain', figures.wrongEvents.length],
    ['payload missing', figures.unreadable.length],
    ['refused, yet issued', figures.refusedYetIssued.length],
    ['answered with 500', figures.internalErrors.length],
    ['suspended and released', figures.suspensions],
    ['wrongly suspended', figures.wronglySuspended.length],
    ['superseded', figures.superseded],
    ['half superseded', figures.halfSuperseded.length],
    ['erased', figures.erased],
    ['erased, yet served', figures.servedErased.length + figures.servedEarly],
    ['batches', `${figures.batches} of ${figures.inBatches} documents`],
    ['batches lost or doubled', figures.lostBatches.length + figures.doubledBatches.length],
    ['searches during the run', figures.searches],
    ['not found by a search', figures.notFound],
    ['wrongly listed', figures.wronglyListed.length + figures.falselyListed],
    ['wei above a cap', above],
    ['starts that failed', figures.failedStarts],
    ['restart to ready, median', `${at(0.5)} ms`],
    ['restart to ready, 99 %', `${at(0.99)} ms`],
    ['restart to ready, longest', `${at(1)} ms`],
  ]
}

/** @returns The figures that are not as they must be. */
const wrongOf = (figures: Figures) =>
  Object.fromEntries(
    Object.keys(NOTHING_WRONG_AT_ALL)
      .map((name) => [name, figures[name as keyof typeof NOTHING_WRONG_AT_ALL]] as const)
      .filter(([, value]) => (Array.isArray(value) ? value.length > 0 : value > 0)),
  )

const kubo = values.store === 'kubo' ? await startKubo() : undefined
const env = {
  ...(kubo && { IPFS_API_URL: kubo.apiUrl }),
  // Reaching the hourly cap would end the run.
  ...(values.spikes && { MAX_TRANSACTION_FEE_ETHER: '0.01', MAX_HOURLY_FEE_ETHER: '20' }),
}
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
    const { feeCaps } = readConfig(world.env)
    const above = await weiAboveCaps(world.chain, world.accounts, feeCaps, seconds)
    for (const [name, value] of figuresOf(figures, seconds, above))
      console.log(`${name.padEnd(34)}${value}`)
    const [longest, median] = [Math.max(...figures.restarts), quantile(figures.restarts, 0.5)]
    if (longest > SLOW_RESTART * median)
      console.log(`\nthe log of the longest restart:\n${figures.slowestLog}`)
    const late = new Set([...figures.lost, ...figures.notValid, ...figures.notRevoked])
    for (const wish of world.client.wishes)
      if (late.has(wish.number)) console.log(JSON.stringify(wish))
    const wrong = wrongOf(figures)
    if (Object.keys(wrong).length > 0) console.log('wrong', wrong)
    if (Object.keys(wrong).length > 0 || above > 0n) process.exitCode = 1
  } catch (error) {
    for (const gateway of world.gateways) console.log(`its log:\n${gateway.output().slice(-4_000)}`)
    throw error
  } finally {
    await world.close()
    await kubo?.remove()
  }
}
