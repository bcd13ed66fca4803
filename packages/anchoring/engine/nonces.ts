import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Account, Sends } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight } from './in-flight.ts'
import { stuckAfterMs } from './replace.ts'

/** The maximum number of nonces that are filled at once. */
const MAX_FILLED = 100
/** How long the nonce that was last read may be used. */
const NONCE_TTL_MS = 250

/** Assigns the nonces of the account, in order and without gaps. */
export type Nonces = {
  /** Reads the nonce after the newest block. */
  look(): Promise<number>
  /** @returns The nonce of the next transaction: after every send that is not final. */
  next(): Promise<number>
  /**
   * Finds a gap: the chain needs a nonce before the first one in flight, and no send that is not
   * final has it. Its send was lost all the same, such as by a node that lost its state.
   *
   * @param next The nonce that was last read.
   * @returns The nonces to fill.
   */
  gap(next: number): Promise<number[]>
}

/** State: the nonce that was last read, and since when there is a gap. */
export function createNonces(deps: {
  address: Hex
  account: Account
  outbox: Pick<Sends, 'openNonces'>
  inFlight: InFlight
  blockTime: BlockTime
  log: Log
}): Nonces {
  const { address, account, outbox, inFlight, blockTime, log } = deps
  let seen = { nonce: 0, at: Number.NEGATIVE_INFINITY }
  let gapSince: number | undefined

  async function look(): Promise<number> {
    seen = { nonce: await account.nextNonce(), at: performance.now() }
    return seen.nonce
  }

  return {
    look,

    async next() {
      const isFresh = performance.now() - seen.at < NONCE_TTL_MS
      const count = isFresh || inFlight.sends().length > 0 ? seen.nonce : await look()
      const open = await outbox.openNonces(address, count)
      const last = open.at(-1)
      return last === undefined ? count : last + 1
    },

    async gap(next) {
      const [first] = inFlight.sends()
      if (first === undefined || first.nonce <= next) {
        gapSince = undefined
        return []
      }
      gapSince ??= performance.now()
      if (performance.now() - gapSince < stuckAfterMs(blockTime)) return []
      const open = new Set(await outbox.openNonces(address, next))
      const missing: number[] = []
      for (let nonce = next; nonce < first.nonce && missing.length < MAX_FILLED; nonce++)
        if (!open.has(nonce)) missing.push(nonce)
      if (missing.length > 0) log.warn('nonces_lost', { from: next, to: first.nonce })
      return missing
    },
  }
}
