import { setTimeout as sleep } from 'node:timers/promises'
import { randomFaults } from '../../support/fault-proxy.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import type { Random } from '../../support/random.ts'
import { isRevocationPromised, promisesOf, type Wish } from './client.ts'
import { falseVerdict } from './false-verdict.ts'
import type { Judgement } from './oracle.ts'
import { isCallOf } from './registry-call.ts'
import type { World } from './world.ts'

export type Figures = Judgement & {
  kills: number
  /** Verdicts requested during the run. */
  verdicts: number
  /** Verdicts `valid` for documents that were not on the chain, or revoked. */
  falseValid: number
  /** Milliseconds, one for each restart with the chain up. */
  restarts: number[]
  /** The end of the gateway's log after the slowest restart. */
  slowestLog: string
  /** Starts that ended before they were ready; each was repeated. */
  failedStarts: number
}

/** A fault other than a kill; the chain is up again when it resolves. */
export type Trouble = () => Promise<void>

const MOST_STARTS = 5
/** The share of documents that are revoked. */
const REVOKED = 0.15
/** The share of documents after which a client repeats an old request. */
const REPEATED = 0.1
/** Maximum blocks by which a node lags: for verdicts, and for the gateway's own reads. */
const BEHIND = { verdicts: 3, records: 60 }

/**
 * Issues under load while gateways are killed at random, their node fails at random, and other
 * troubles come; then waits until all is settled, and judges.
 *
 * @param world Gateways, clients and node; the troubles bring what else they need.
 */
export async function runChaos(
  world: World,
  plan: {
    /** Runs until this number is acknowledged … */
    documents: number
    /** … and this many kills have happened. */
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
  let verdicts = 0
  let falseValid = 0
  let killed = 0
  let slowestLog = ''
  let failedStarts = 0
  const done = () => acknowledged >= documents && killed >= kills

  async function load(): Promise<void> {
    while (!done()) {
      const wish = await client.issue(someKind(random))
      if (wish.idempotencyKey) await repeatUntilPromised(wish)
      const promised = promisesOf(wish)
      if (promised.length > 0) acknowledged++
      else await sleep(20)
      if (promised.length > 0 && random.next() < REVOKED) await revoke(wish)
      if (random.next() < REPEATED) await repeatAnother()
    }
  }

  /** The outbox may have dropped its row by now, and a lagging node may not have its record. */
  async function repeatAnother(): Promise<void> {
    const wish = client.wishes[random.below(client.wishes.length)]
    if (wish?.idempotencyKey && promisesOf(wish).length > 0) await client.repeat(wish)
  }

  /** Repeats the request until it is promised, sometimes with `Prefer: respond-async`. */
  async function revoke(wish: Wish): Promise<void> {
    const respondAsync = random.next() < 0.3
    while (!isRevocationPromised(wish) && !done()) {
      await client.revoke(wish, { respondAsync })
      await sleep(20)
    }
  }

  /** Acts as a client that keeps repeating while the gateway goes down and up. */
  async function repeatUntilPromised(wish: Wish): Promise<void> {
    while (promisesOf(wish).length === 0 && !done()) {
      await sleep(50)
      await client.repeat(wish)
    }
  }

  async function look(): Promise<void> {
    while (!done()) {
      const wish = client.wishes[random.below(client.wishes.length)]
      const verdict = wish && (await falseVerdict(world, wish))
      if (verdict !== undefined) verdicts++
      if (verdict === true) falseValid++
      await sleep(10)
    }
  }

  async function trouble(): Promise<void> {
    while (!done()) {
      if (random.next() < 0.5)
        proxy.fault = randomFaults(random, 0.1, (call) =>
          isCallOf('recordsOf', call) ? BEHIND.records : BEHIND.verdicts,
        )
      await sleep(50 + random.below(400))
      proxy.heal()
      if (troubles.length > 0 && random.next() < 0.3)
        await troubles[random.below(troubles.length)]?.()
      if (killed >= kills) continue
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

  /** Starts the gateway again up to {@link MOST_STARTS} times, as a supervisor does. */
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
  await world.settle()
  const judgement = await world.judge()
  return {
    ...judgement,
    kills: killed,
    verdicts,
    falseValid,
    restarts,
    slowestLog,
    failedStarts,
  }
}

function someKind(random: Random) {
  return {
    respondAsync: random.next() < 0.2,
    ...(random.next() < 0.3 && {
      idempotencyKey: `key-${random.below(2 ** 32)}-${random.below(2 ** 32)}`,
    }),
  }
}
