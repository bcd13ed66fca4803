import type { Hex } from '#document/hex.ts'
import type { Resolution } from './anchoring.ts'
import type { Intent } from './intent.ts'
import { ABSENT, type Outcome } from './outcome.ts'
import type { Plan } from './plan.ts'

/**
 * The resolution to write for intents with these outcomes. Absent intents go back in the queue.
 */
export function resolutionOf(
  intents: readonly Intent[],
  outcomes: readonly (Outcome | undefined)[],
): Resolution {
  const known = intents.map((intent, i) => ({
    intent,
    outcome: outcomes[i] ?? ABSENT,
  }))
  return {
    anchored: known.flatMap(({ intent, outcome }) =>
      outcome.status === 'anchored' ? [{ intent, anchoring: outcome }] : [],
    ),
    gone: known
      .filter(({ outcome: { status } }) => !/^(anchored|absent)$/.test(status))
      .map(({ intent }) => intent),
  }
}

/**
 * @param outcomes Of the intents of these plans, in their order.
 * @returns The plans whose outcomes name none of their own transactions.
 */
export function unseenOf(plans: readonly Plan[], outcomes: readonly Outcome[]): Plan[] {
  const rest = [...outcomes]
  return plans.filter((plan) => {
    const hashes = hashesOf([plan])
    return !rest
      .splice(0, plan.intents.length)
      .some((one) => one.status === 'anchored' && hashes.has(one.transactionHash ?? '0x'))
  })
}

export function hashesOf(plans: readonly Plan[]): Set<Hex> {
  return new Set(plans.flatMap(({ attempts }) => attempts.map(({ hash }) => hash)))
}
