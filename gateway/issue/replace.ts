import type { Log } from '../log.ts'
import type { BlockTime } from './block-time.ts'
import { REBROADCAST_INTERVAL_MS } from './broadcast.ts'
import { asIssueError } from './errors.ts'
import type { InFlight, Sending } from './in-flight.ts'
import type { Blocks, Intent, Plan, Plans, SignedTransaction, Transactions } from './ports.ts'
import type { Conclude } from './settle.ts'
import type { Spending } from './spending.ts'

/**
 * A transaction that is in no block for so long is replaced when it pays too little, after twice as long anyway; and after so many
 * blocks, where they are slow.
 */
const STUCK = { timeoutMs: 30_000, blocks: 3 }
/** A transaction of several intents that every node refused is split after this. */
const SPLIT_TIMEOUT_MS = 1_000

/** Replaces transactions that do not get into a block. */
export type Replacing = {
  /**
   * The first in flight is made anew when no node takes it, or when it is in no block for long and pays less than the chain asks
   * for. The others wait for it.
   *
   * @returns Whether there is another attempt to send.
   * @throws {IssueError} why none can be made.
   */
  replaceStuck(): Promise<boolean>
}

export function createReplacing(deps: {
  inFlight: InFlight
  transactions: Transactions
  blocks: Blocks
  outbox: Plans
  spending: Spending
  blockTime: BlockTime
  /** Receives what another attempt carries no more. */
  conclude: Conclude
  log: Log
}): Replacing {
  const { inFlight, transactions, blocks, outbox, spending, blockTime, log } = deps

  const replace = (plan: Plan, intents: readonly Intent[], replaced?: SignedTransaction) =>
    spending.inTurn(() => replaceNow(plan, intents, replaced))

  async function replaceStuck(): Promise<boolean> {
    const [plan] = inFlight.plans()
    const newest = plan?.attempts.at(-1)
    if (!plan || !newest) return false
    const sending = inFlight.sendingOf(plan)
    const age = performance.now() - sending.made
    if (!sending.taken) {
      // It would be refused again: fewer need less gas, and cost less.
      const split = isRefused(sending) && plan.intents.length > 1
      if (age < (split ? SPLIT_TIMEOUT_MS : REBROADCAST_INTERVAL_MS)) return false
      // Do not bump a transaction that no node accepted, for lack of funds say: only the fee would grow.
      return split ? replace(plan, half(plan.intents)) : replace(plan, plan.intents)
    }
    const stuckAfter = stuckAfterMs(blockTime)
    if (age < stuckAfter || !(await isPassedOver(sending))) return false
    // One that pays enough may still be such that no block can have it; but it is not replaced in a hurry.
    const hurry = age >= 2 * stuckAfter
    if (!hurry && (await transactions.meetsCurrentFee(newest))) return false
    return replace(plan, plan.intents, newest)
  }

  /** Whether a block has come meanwhile. Where none comes, a higher fee brings none. */
  async function isPassedOver(sending: Sending): Promise<boolean> {
    const { number } = await blocks.head()
    sending.block ??= number
    return number > sending.block
  }

  async function replaceNow(
    plan: Plan,
    intents: readonly Intent[],
    replaced?: SignedTransaction,
  ): Promise<boolean> {
    const maxFee = await spending.allowance(plan)
    let transaction: SignedTransaction
    try {
      transaction = await transactions.prepare(intents, {
        nonce: plan.nonce,
        ...(maxFee !== undefined && { maxFee }),
        ...(replaced && { replaced }),
      })
    } catch (cause) {
      const error = asIssueError(cause)
      if (error.code !== 'too_large' || intents.length === 1) throw error
      return replaceNow(plan, half(intents), replaced)
    }
    if (transaction.hash === plan.attempts.at(-1)?.hash) return false
    const next = await outbox.replace(plan, transaction, intents)
    inFlight.replace(next)
    Object.assign(inFlight.sendingOf(plan), {
      ...{ sent: Number.NEGATIVE_INFINITY, made: performance.now() },
      ...{ block: undefined, failure: undefined },
    })
    const kept = new Set(intents)
    const left = plan.intents.filter((intent) => !kept.has(intent))
    log.info('transaction_replaced', {
      ...{ nonce: plan.nonce, hash: transaction.hash, left: left.length },
    })
    for (const intent of left) deps.conclude(intent, { status: 'absent' }, new Set())
    return true
  }

  return { replaceStuck }
}

/** @returns After how many milliseconds a transaction in no block counts as stuck. */
export function stuckAfterMs(blockTime: BlockTime): number {
  const { timeoutMs, blocks } = STUCK
  return Math.max(timeoutMs, blocks * (blockTime.interval() ?? 0))
}

/** Whether the nodes answered that they do not take it. */
function isRefused({ failure }: Sending): boolean {
  return failure?.code === 'registry_refused'
}

function half(intents: readonly Intent[]): readonly Intent[] {
  return intents.slice(0, Math.ceil(intents.length / 2))
}
