import type { Hex } from '#document/hex.ts'
import { ABSENT, type Outcome, settledBy } from '#promise/anchoring.ts'
import { outcomesOfPlans } from '#promise/outcome.ts'
import type { Plan } from '#promise/plan.ts'
import type { Plans, RegistryReader } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { ForeignWatch } from './foreign.ts'
import type { InFlight } from './in-flight.ts'
import type { Conclude } from './waiters.ts'

/** How long a node may contradict itself before that counts as an outage. */
const UNCLEAR_TIMEOUT_MS = 2_000

/** Settles plans: reads the outcomes of their intents, reports them, and writes them to disk. */
export type Settling = {
  /**
   * Settles all plans whose nonce is used, whichever transaction used it.
   *
   * @param next The nonce after the newest block.
   * @returns Whether all of them are settled. Right after a block, nodes may contradict themselves
   * for a moment (records without events, or a node behind a load balancer that lags), so it is
   * tried again then.
   * @throws {IssueError} when that takes too long.
   */
  settle(next: number): Promise<boolean>
  /** Gives up plans that can no longer be mined, and queues their intents again. */
  abandon(plans: readonly Plan[]): Promise<void>
}

type SettlingDeps = {
  inFlight: InFlight
  registry: RegistryReader
  outbox: Plans
  blockTime: BlockTime
  foreign: Pick<ForeignWatch, 'suspect' | 'abandoned'>
  /** @returns The wei that a plan cost, or may still cost. */
  costOf: (plan: Plan) => Promise<bigint>
  conclude: Conclude
  /** Called with plans whose outcome is on disk. */
  noted: (plans: readonly Plan[]) => void
  /** Called when an outcome could not be written: the plans must be read and settled again. */
  failed: (error: unknown) => void
}

export function createSettling(deps: SettlingDeps): Settling {
  const { inFlight, registry, blockTime, foreign, conclude } = deps
  let unclearSince: number | undefined

  async function trySettling(used: readonly Plan[]): Promise<unknown> {
    try {
      await settleAll(used)
      return undefined
    } catch (error) {
      if (used.length === 1) return error
      // An error of one plan must not keep the others from being settled.
      const settled = await Promise.allSettled(used.map((plan) => settleAll([plan])))
      return settled.find((one) => one.status === 'rejected')?.reason
    }
  }

  async function settleAll(used: readonly Plan[]): Promise<void> {
    const outcomes = await outcomesOfPlans(registry, used)
    // An anchored intent needs no write to stay anchored, so it is answered before the disk.
    concludeAll(conclude, used, outcomes, (outcome) => outcome.status === 'anchored')
    for (const plan of used) blockTime.included(inFlight.sendingOf(plan).made)
    foreign.suspect(unseenOf(used, outcomes))
    inFlight.leave(used)
    writeAll(deps, used, outcomes).catch(deps.failed)
  }

  return {
    async settle(next) {
      const used = inFlight.plans().filter(({ nonce }) => nonce < next)
      const error = used.length === 0 ? undefined : await trySettling(used)
      if (error === undefined) {
        unclearSince = undefined
        return true
      }
      unclearSince ??= performance.now()
      if (performance.now() - unclearSince >= UNCLEAR_TIMEOUT_MS) throw error
      return false
    },

    async abandon(plans) {
      foreign.abandoned(plans)
      for (const plan of plans) {
        const nothing = { anchored: [], gone: [] }
        // Its transaction may be in a pool and be mined once the gap is closed.
        await deps.outbox.settle(plan, nothing, await deps.costOf(plan))
        inFlight.drop([plan])
        concludeAll(conclude, [plan], [], () => true)
      }
    },
  }
}

/** Writes the outcomes of plans, and concludes the intents whose answers had to wait for this. */
async function writeAll(
  { inFlight, outbox, costOf, conclude, noted }: SettlingDeps,
  used: readonly Plan[],
  outcomes: readonly Outcome[],
): Promise<void> {
  const rest = [...outcomes]
  await Promise.all(
    used.map(async (plan) => {
      const ofPlan = rest.splice(0, plan.intents.length)
      await outbox.settle(plan, settledBy(plan.intents, ofPlan), await costOf(plan))
    }),
  )
  inFlight.drop(used)
  concludeAll(conclude, used, outcomes, (outcome) => outcome.status !== 'anchored')
  noted(used)
}

/**
 * @param outcomes The outcomes of the intents of these plans, in the same order.
 * @param which Selects the outcomes to conclude with now.
 */
function concludeAll(
  conclude: Conclude,
  plans: readonly Plan[],
  outcomes: readonly Outcome[],
  which: (outcome: Outcome) => boolean,
): void {
  const transactions = hashesOf(plans)
  const intents = plans.flatMap((plan) => plan.intents)
  intents.forEach((intent, i) => {
    const outcome = outcomes[i] ?? ABSENT
    if (which(outcome)) conclude(intent, outcome, transactions)
  })
}

/**
 * @param outcomes The outcomes of the intents of these plans, in the same order.
 * @returns The plans whose outcomes name none of their own transactions.
 */
function unseenOf(plans: readonly Plan[], outcomes: readonly Outcome[]): Plan[] {
  const rest = [...outcomes]
  return plans.filter((plan) => {
    const hashes = hashesOf([plan])
    return !rest
      .splice(0, plan.intents.length)
      .some((one) => one.status === 'anchored' && hashes.has(one.transactionHash ?? '0x'))
  })
}

function hashesOf(plans: readonly Plan[]): Set<Hex> {
  return new Set(plans.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)))
}
