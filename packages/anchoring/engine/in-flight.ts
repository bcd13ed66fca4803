import type { IssueError } from '#promise/errors.ts'
import { type IntentKey, keyOfIntent } from '#promise/intent.ts'
import type { Plan } from '#promise/plan.ts'

/**
 * The state of broadcasting the newest attempt of a plan. Times are those of `performance.now()`.
 */
export type Sending = {
  sent: number
  made: number
  /** The head when the attempt first counted as stuck. */
  block: number | undefined
  /** Whether a node accepted it. */
  taken: boolean
  /** How often it was signed again since a node accepted one; `retried` is the last time. */
  retries: number
  retried: number
  /** The current broadcast. */
  underWay: Promise<void> | undefined
  /** Why the last broadcast failed. */
  failure: IssueError | undefined
}

/** The plans whose nonces are not used yet, and their intents. */
export type InFlight = {
  /** @returns The plans by nonce. */
  plans(): readonly Plan[]
  /** @returns The same plans, and those that have left but whose cost is not on disk yet. */
  unsettled(): readonly Plan[]
  sendingOf(plan: Plan): Sending
  /**
   * @returns The milliseconds from signing the last transaction until the chain showed its outcome.
   */
  roundTrip(): number
  carries(key: IntentKey): boolean
  add(plans: readonly Plan[]): void
  /** Replaces a plan with its version that has another attempt, perhaps with fewer intents. */
  replace(plan: Plan): void
  /**
   * Removes plans whose nonces are used. They keep their intents until `drop`, when the outcome is
   * on disk.
   */
  leave(plans: readonly Plan[]): void
  /** Drops plans whose outcome is on disk. */
  drop(plans: readonly Plan[]): void
}

/**
 * A copy of the account's plans in the database, for as long as this gateway leads: only it writes
 * them, and what it could not write ends that.
 */
export function createInFlight(): InFlight {
  let plans: readonly Plan[] = []
  let left: readonly Plan[] = []
  let roundTrip = Number.POSITIVE_INFINITY
  const carried = new Set<IntentKey>()
  const sendings = new Map<number, Sending>()

  function sendingOf({ id }: Plan): Sending {
    const known = sendings.get(id)
    if (known) return known
    const sending = {
      sent: Number.NEGATIVE_INFINITY,
      made: performance.now(),
      block: undefined,
      taken: false,
      retries: 0,
      retried: Number.NEGATIVE_INFINITY,
      underWay: undefined,
      failure: undefined,
    }
    sendings.set(id, sending)
    return sending
  }

  const without = (from: readonly Plan[], some: readonly Plan[]) => {
    const ids = new Set(some.map(({ id }) => id))
    return from.filter(({ id }) => !ids.has(id))
  }

  return {
    plans: () => plans,
    unsettled: () => [...left, ...plans],
    sendingOf,
    roundTrip: () => roundTrip,
    carries: (key) => carried.has(key),

    add(some) {
      plans = [...plans, ...some]
      for (const { intents } of some) for (const intent of intents) carried.add(keyOfIntent(intent))
    },
    replace(plan) {
      const old = plans.find(({ id }) => id === plan.id)
      plans = plans.map((other) => (other === old ? plan : other))
      for (const intent of old?.intents ?? []) carried.delete(keyOfIntent(intent))
      for (const intent of plan.intents) carried.add(keyOfIntent(intent))
    },

    leave(some) {
      for (const plan of some) roundTrip = performance.now() - sendingOf(plan).made
      plans = without(plans, some)
      left = [...left, ...some]
    },
    drop(some) {
      left = without(left, some)
      plans = without(plans, some)
      for (const { id, intents } of some) {
        sendings.delete(id)
        for (const intent of intents) carried.delete(keyOfIntent(intent))
      }
    },
  }
}
