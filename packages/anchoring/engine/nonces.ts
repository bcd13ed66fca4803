import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Plan } from '#promise/plan.ts'
import type { Account, RegistryReader } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight } from './in-flight.ts'
import { stuckAfterMs } from './replace.ts'

/** How long a nonce may be missing before it counts as lost. Until then, the node may be behind. */
const GAP_TIMEOUT_MS = 3_000
/** How long the nonce that was last read may be used. */
const NONCE_TTL_MS = 250

/** The maximum number of settled nonces that are remembered. */
const MAX_REORG = 1_000

/** Assigns the nonces of the account, in order and without gaps. */
export type Nonces = {
  /** Reads the nonce after the newest block. */
  look(): Promise<number>
  /**
   * @returns The nonce of the next transaction. After a reorg the node may have put settled
   * transactions back into its pool. The nonce then follows these and does not replace them.
   */
  next(): Promise<number>
  /** Reports that the nonces of these plans are used. A reorg may bring them back. */
  settled(plans: readonly Plan[]): void
  /** @returns How often nonces were lost, which invalidates nonces that were assigned before. */
  losses(): number
  /**
   * Abandons the plans in flight when the chain went back behind the first nonce in flight (a
   * reorg, or a node that lost its state). None of them can be mined, unless the node still has the
   * missing transactions in its pool.
   *
   * @param next The nonce that was last read.
   */
  closeGap(next: number): Promise<void>
}

/** @param abandon Abandons plans, whose intents get new nonces. */
export function createNonces(deps: {
  account: Account
  registry: RegistryReader
  inFlight: InFlight
  blockTime: BlockTime
  abandon: (plans: readonly Plan[]) => Promise<void>
  log: Log
}): Nonces {
  const { account, registry, inFlight, blockTime, abandon, log } = deps
  let seen = { nonce: 0, at: Number.NEGATIVE_INFINITY }
  let gapSince: number | undefined
  let losses = 0
  /** The settled transactions that could have used a nonce, by nonce. */
  const settled = new Map<number, Hex[]>()
  /** Below this nonce, the transactions in the pool can never be mined. */
  let stuckBelow = 0

  async function look(): Promise<number> {
    seen = { nonce: await account.nextNonce(), at: performance.now() }
    return seen.nonce
  }

  /** @returns Whether a transaction that was settled with this nonce is back in the pool. */
  async function isBack(nonce: number): Promise<boolean> {
    for (const hash of settled.get(nonce) ?? []) if (await registry.isPooled(hash)) return true
    return false
  }

  async function afterPool(): Promise<number> {
    const next = await look()
    if (next < stuckBelow || !(await isBack(next))) return next
    return Math.max(next, await account.pooledNonce())
  }

  return {
    look,

    async next() {
      const last = inFlight.plans().at(-1)
      if (last) return last.nonce + 1
      const fresh = performance.now() - seen.at < NONCE_TTL_MS
      return fresh ? seen.nonce : afterPool()
    },

    settled(plans) {
      for (const { nonce, attempts } of plans) {
        settled.set(
          nonce,
          attempts.map(({ hash }) => hash),
        )
        settled.delete(nonce - MAX_REORG)
      }
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
      const waited = performance.now() - gapSince
      if (waited < stuckAfterMs(blockTime) && (await isBack(next))) return
      gapSince = undefined
      stuckBelow = first.nonce
      losses++
      log.warn('nonces_lost', { from: next, to: first.nonce })
      await abandon([...inFlight.plans()])
    },
  }
}
