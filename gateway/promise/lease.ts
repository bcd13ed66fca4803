import type { Hex } from '#document/hex.ts'
import { IssueError } from './errors.ts'

/**
 * The right to do something that only one gateway may do at a time: to write with an account, or to
 * do a chore. It ends by itself when its holder does not renew it.
 *
 * The token decides, not the time: every new holder gets a higher one, and what a holder writes has
 * effect only while the lease still has its token. So a stopped process that still believes to be
 * the holder does no harm.
 */
export type Lease = {
  readonly name: string
  /** A number that grows with every holder. */
  readonly token: number
  /** Aborts when the lease was lost or released. */
  readonly ended: AbortSignal
  /** @throws {LeaseLost} when another gateway has taken it. */
  assertHeld(): Promise<void>
  /** Frees it for other gateways at once. Does nothing when it was lost. */
  release(): Promise<void>
}

/** Identifies the holder of a lease. */
export type Held = Pick<Lease, 'name' | 'token'>

export type Leases = {
  /**
   * Takes a lease that no gateway holds, and renews it until it is released or lost.
   *
   * @param names The names of leases, in order of preference.
   * @returns `undefined` when all of them are held.
   */
  take(names: readonly string[]): Promise<Lease | undefined>
}

/** Thrown when another gateway holds the lease. Nothing was written. */
export class LeaseLost extends IssueError {
  override name = 'LeaseLost'

  constructor(lease: string) {
    super('store_unavailable', `another gateway has taken over ${lease}`)
  }
}

/** @returns The name of an account's lease. */
export const leaseOfAccount = (account: Hex) => `account ${account}`
