import type { Log } from '../log.ts'
import type { InFlight } from './in-flight.ts'
import type { Account, Plan } from './ports.ts'

/** How long a nonce may be missing before it counts as lost, and not as a node that is behind. */
const GAP_TIMEOUT_MS = 3_000
/** How long the next nonce is taken from the last look at the chain. */
const NONCE_TTL_MS = 250

/** Assigns the nonces of the one account, in order and without gaps. */
export type Nonces = {
  /** Reads the nonce that follows the newest block. */
  look(): Promise<number>
  /** The nonce of the next transaction. */
  next(): Promise<number>
  /** How often nonces were lost: what was assigned before is not good any more. */
  losses(): number
  /**
   * The chain went back behind the first nonce in flight (a reorg, a node that lost its state), so that none of these can be
   * mined.
   *
   * @param next What the last look returned.
   */
  closeGap(next: number): Promise<void>
}

/** @param abandon Their intents get new nonces. */
export function createNonces(deps: {
  account: Account
  inFlight: InFlight
  abandon: (plans: readonly Plan[]) => Promise<void>
  log: Log
}): Nonces {
  const { account, inFlight, abandon, log } = deps
  let seen = { nonce: 0, at: Number.NEGATIVE_INFINITY }
  let gapSince: number | undefined
  let losses = 0

  async function look(): Promise<number> {
    seen = { nonce: await account.nextNonce(), at: performance.now() }
    return seen.nonce
  }

  return {
    look,

    async next() {
      const last = inFlight.plans().at(-1)
      if (last) return last.nonce + 1
      const fresh = performance.now() - seen.at < NONCE_TTL_MS
      return fresh ? seen.nonce : look()
    },

    losses: () => losses,

    async closeGap(next) {
      const [first] = inFlight.plans()
      if (first === undefined || first.nonce <= next) {
        gapSince = undefined
        return
      }
      gapSince ??= performance.now()
      if (performance.now() - gapSince < GAP_TIMEOUT_MS) return
      gapSince = undefined
      losses++
      log.warn('nonces_lost', { from: next, to: first.nonce })
      await abandon([...inFlight.plans()])
    },
  }
}
