import { type ActionKey, keyOfAction } from '#promise/action.ts'
import type { IssueError } from '#promise/errors.ts'
import { actionsOf, type Send } from '#promise/send.ts'

/**
 * The state of broadcasting the newest attempt of a send. Times are those of `performance.now()`.
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

/** The sends whose nonces are not used yet, and what they carry. */
export type InFlight = {
  /** @returns The sends by nonce. */
  sends(): readonly Send[]
  /** @returns The same sends, and those that have left but whose cost is not on disk yet. */
  unsettled(): readonly Send[]
  sendingOf(send: Send): Sending
  /**
   * @returns The milliseconds from signing the last transaction until the chain showed its outcome.
   */
  roundTrip(): number
  carries(key: ActionKey): boolean
  /** Adds those that it does not have. */
  add(sends: readonly Send[]): void
  /** Replaces a send with its version that has another attempt. */
  replace(send: Send): void
  /**
   * Removes sends whose nonces are used. What they carry counts as carried until `drop`, when the
   * outcome is on disk.
   */
  leave(sends: readonly Send[]): void
  /** Drops sends whose outcome is on disk. */
  drop(sends: readonly Send[]): void
}

/**
 * A copy of the account's sends in the database, for as long as this gateway leads: only it writes
 * them, and what it could not write ends that.
 */
export function createInFlight(): InFlight {
  let sends: readonly Send[] = []
  let left: readonly Send[] = []
  let roundTrip = Number.POSITIVE_INFINITY
  const carried = new Set<ActionKey>()
  const sendings = new Map<number, Sending>()

  function sendingOf({ id }: Send): Sending {
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

  const without = (from: readonly Send[], some: readonly Send[]) => {
    const ids = new Set(some.map(({ id }) => id))
    return from.filter(({ id }) => !ids.has(id))
  }

  return {
    sends: () => sends,
    unsettled: () => [...left, ...sends],
    sendingOf,
    roundTrip: () => roundTrip,
    carries: (key) => carried.has(key),

    add(some) {
      const known = new Set([...left, ...sends].map(({ id }) => id))
      const added = some.filter(({ id }) => !known.has(id))
      sends = [...sends, ...added].sort((one, other) => one.nonce - other.nonce)
      for (const action of actionsOf(some)) carried.add(keyOfAction(action))
    },
    replace(send) {
      const old = sends.find(({ id }) => id === send.id)
      sends = sends.map((other) => (other === old ? send : other))
    },

    leave(some) {
      for (const send of some) roundTrip = performance.now() - sendingOf(send).made
      sends = without(sends, some)
      left = [...left, ...some]
    },
    drop(some) {
      left = without(left, some)
      sends = without(sends, some)
      for (const { id } of some) sendings.delete(id)
      for (const action of actionsOf(some)) carried.delete(keyOfAction(action))
    },
  }
}
