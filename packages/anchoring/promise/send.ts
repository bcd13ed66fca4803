import type { Hex } from '#document/hex.ts'
import type { Action } from './action.ts'
import type { BlockId } from './anchoring.ts'

/** A signed transaction. Every broadcast sends the same bytes, `raw`. */
export type SignedTransaction = {
  nonce: number
  hash: Hex
  raw: Hex
  gasLimit: bigint
  /** Wei per unit of gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A transaction of a send, which carries its first members. */
export type Attempt = SignedTransaction & { carried: number }

/** What a send carries. `place` is the number that it had while it waited. */
export type Member = { action: Action; place: number }

/** What waits for a send. */
export type Waiting = Member & {
  /** How often the chain has refused it. */
  tries: number
  /** Whether a transaction has carried it, so that it may be on the chain. */
  wasSent: boolean
}

/** A nonce of an account, what it is for, and every transaction signed for it, the newest last. */
export type Send = {
  id: number
  /** The address of the account, in lower case. */
  account: Hex
  nonce: number
  /** In order. They stay until the nonce is used; see `Attempt` for what a transaction carries. */
  members: readonly Member[]
  attempts: readonly Attempt[]
  /** For suspensions and releases, the newest block when it was planned. */
  head?: number
}

/** @returns The members that the newest transaction of a send carries. */
export function carriedBy({ members, attempts }: Send): readonly Member[] {
  return members.slice(0, attempts.at(-1)?.carried ?? 0)
}

/** @returns The actions of all members of sends, in order. */
export function actionsOf(sends: readonly Send[]): Action[] {
  return sends.flatMap(({ members }) => members.map(({ action }) => action))
}

/**
 * The block in which the nonce of a send is used. `transactionHash` is `null` when none of its own
 * transactions did that: the nonce was used in this block or an earlier one.
 */
export type UsedIn = BlockId & { transactionHash: Hex | null }

/** The receipt of a transaction. */
export type Receipt = BlockId & {
  /** Whether the call to the registry succeeded. */
  succeeded: boolean
  /** The documents and the roots of batches that it issued. */
  issued: ReadonlySet<Hex>
  /** The records that it revoked, suspended or released, with the reason code that each has now. */
  revised: ReadonlyMap<Hex, number>
  /** The cost in wei; `undefined` when the node does not report it. */
  fee?: bigint
}
