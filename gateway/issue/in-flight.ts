import type { IssueError } from './errors.ts'
import { type IntentKey, keyOfIntent } from './intent.ts'
import type { Plan } from './ports.ts'

/** How sending the newest attempt of a plan goes. Times are milliseconds that no change of the clock touches. */
export type Sending = {
  sent: number
  made: number
  /** The newest block when it was first looked at as stuck. */
  block: number | undefined
  /** A node has taken it. */
  taken: boolean
  /** Until the nodes have answered. */
  underWay: Promise<void> | undefined
  /** Why it could not be sent the last time. */
  failure: IssueError | undefined
}

/** The plans whose nonces are not used yet, and the intents that they carry. */
export type InFlight = {
  /** By nonce. */
  plans(): readonly Plan[]
  /** Also those that have left, until what they cost is noted on disk. */
  unsettled(): readonly Plan[]
  sendingOf(plan: Plan): Sending
  carries(key: IntentKey): boolean
  add(plans: readonly Plan[]): void
  /** A plan with another attempt takes the place of itself; it may carry fewer intents. */
  replace(plan: Plan): void
  /** Their nonces are used. They carry their intents until `drop`, when that is noted on disk. */
  leave(plans: readonly Plan[]): void
  /** That could not be noted: they are looked at again. */
  comeBack(plans: readonly Plan[]): void
  /** They are done with. */
  drop(plans: readonly Plan[]): void
}

export function createInFlight(): InFlight {
  let plans: readonly Plan[] = []
  let left: readonly Plan[] = []
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
      plans = without(plans, some)
      left = [...left, ...some]
    },
    comeBack(some) {
      left = without(left, some)
      plans = [...some, ...plans]
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
