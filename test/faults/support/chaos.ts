import { setTimeout as sleep } from 'node:timers/promises'
import { randomFaults } from '../../support/fault-proxy.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import type { Random } from '../../support/random.ts'
import { isCallOf } from '../../support/registry-call.ts'
import { type BatchJudgement, judgeBatches } from './batches.ts'
import { type ChangeJudgement, judgeChanges, NO_WRONG_CHANGE } from './changes.ts'
import { createLooks, type Found } from './looks.ts'
import { createOperations } from './operations.ts'
import { type Judgement, NOTHING_WRONG } from './oracle.ts'
import type { World } from './world.ts'

export type Figures = Found &
  (Judgement & ChangeJudgement & BatchJudgement) & {
    kills: number
    /** Milliseconds until the last promise was kept, after the last kill and fault. */
    settled: number
    /** The milliseconds of each restart while the chain was up. */
    restarts: number[]
    /** The end of the gateway's log after the slowest restart. */
    slowestLog: string
    /** The number of starts that ended before the gateway was ready. Each was repeated. */
    failedStarts: number
  }

/** The figures that every run must have. */
export const NOTHING_WRONG_AT_ALL = {
  ...NOTHING_WRONG,
  ...NO_WRONG_CHANGE,
  lostBatches: [],
  doubledBatches: [],
  falseValid: 0,
  notFound: 0,
  servedEarly: 0,
  falselyListed: 0,
} satisfies Partial<Figures>

/** A fault other than a kill; the chain is up again when it resolves. */
export type Trouble = () => Promise<void>

const MOST_STARTS = 5
/** How long requests are repeated after the last kill until they are answered, in milliseconds. */
const PATIENCE_MS = 120_000
/**
 * The maximum number of blocks by which a node lags, for verdicts and for the gateway's own reads.
 */
const BEHIND = { verdicts: 3, records: 60 }

/**
 * Issues, changes, erases and lists documents under load while gateways are killed at random, their
 * node fails at random, and other faults happen. Then it waits until all is settled, and judges.
 *
 * @param world Gateways, clients and node; other faults bring their own parts.
 */
export async function runChaos(
  world: World,
  plan: {
    /** The run continues until this number of documents is acknowledged … */
    documents: number
    /** … and this number of kills has happened. */
    kills: number
    connections: number
    random: Random
    troubles: readonly Trouble[]
    progress?: (figures: { acknowledged: number; kills: number }) => void
  },
): Promise<Figures> {
  const { client, gateways, proxy } = world
  const { documents, kills, random, troubles } = plan
  const restarts: number[] = []
  let acknowledged = 0
  let killed = 0
  let slowestLog = ''
  let failedStarts = 0
  const done = () => acknowledged >= documents && killed >= kills

  const looks = createLooks(world, random)
  let doneSince = Number.POSITIVE_INFINITY
  const operations = createOperations(client, random, () => {
    if (done()) doneSince = Math.min(doneSince, performance.now())
    return performance.now() - doneSince > PATIENCE_MS
  })

  async function load(): Promise<void> {
    while (!done()) {
      const documents = await operations.runOne()
      acknowledged += documents
    }
  }

  async function look(): Promise<void> {
    while (!done()) {
      await looks.lookAtSome()
      await sleep(10)
    }
  }

  /** Ends with the last kill, so that a slow machine gets the rest of the documents done. */
  async function trouble(): Promise<void> {
    while (killed < kills) {
      if (random.next() < 0.5)
        proxy.fault = randomFaults(random, 0.1, (call) =>
          isCallOf('recordsOf', call) ? BEHIND.records : BEHIND.verdicts,
        )
      await sleep(50 + random.below(400))
      proxy.heal()
      if (troubles.length > 0 && random.next() < 0.3)
        await troubles[random.below(troubles.length)]?.()
      const victim = gateways[gateways.length > 1 ? random.below(gateways.length) : 0]
      if (!victim) continue
      await victim.kill()
      killed++
      const took = await restart(victim)
      if (restarts.every((other) => other < took)) slowestLog = victim.output().slice(-4_000)
      restarts.push(took)
      plan.progress?.({ acknowledged, kills: killed })
      // Spreads the documents over the kills.
      const due = (documents / kills) * killed
      while (acknowledged < due && killed < kills) await sleep(20)
    }
  }

  /** Starts the gateway again up to {@link MOST_STARTS} times, like a supervisor. */
  async function restart(victim: GatewayProcess): Promise<number> {
    for (let attempt = 1; ; attempt++)
      try {
        return await victim.start()
      } catch (error) {
        if (victim.running() || attempt === MOST_STARTS) throw error
        failedStarts++
      }
  }

  const loads = Array.from({ length: plan.connections }, load)
  await Promise.all([...loads, look(), trouble()])
  const settled = await world.settle()
  const [judgement, ofChanges, ofBatches] = [
    await world.judge(),
    await judgeChanges(world),
    await judgeBatches(world, operations.batches),
  ]
  return {
    ...judgement,
    ...ofChanges,
    ...ofBatches,
    kills: killed,
    settled,
    ...looks.found(),
    restarts,
    slowestLog,
    failedStarts,
  }
}
