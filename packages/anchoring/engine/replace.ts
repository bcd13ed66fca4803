import type { Log } from '#base/log.ts'
import { asIssueError } from '#promise/errors.ts'
import type { Intent } from '#promise/intent.ts'
import type { Plan, SignedTransaction } from '#promise/plan.ts'
import type { Blocks, Plans, Transactions } from '#promise/ports.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight, Sending } from './in-flight.ts'
import type { Spending } from './spending.ts'
import type { Conclude } from './waiters.ts'

/** The time between broadcasts of the same bytes, until the chain shows the transaction. */
export const REBROADCAST_INTERVAL_MS = 5_000
/**
 * A transaction that is not in a block after this time, or after this many slow blocks, is replaced
 * if it pays too little, and after twice as long in any case.
 */
const STUCK = { timeoutMs: 30_000, blocks: 3 }
/** A transaction of several intents that every node refused is split after this time. */
const SPLIT_TIMEOUT_MS = 1_000

/**
 * A transaction that no node accepts is signed again after a rebroadcast, and then less and less
 * often, because a lack of funds may last for days and every attempt is stored.
 */
const MAX_RETRY_INTERVAL_MS = 600_000

/** Replaces transactions that do not get into a block. */
export type Replacing = {
  /**
   * Replaces the first transaction in flight when no node accepts it, or when it is stuck and pays
   * less than the current fee. The others wait for it.
   *
   * @returns Whether there is a new attempt to send.
   * @throws {IssueError} the reason why none can be made.
   */
  replaceStuck(): Promise<boolean>
}

type ReplacingDeps = {
  inFlight: InFlight
  transactions: Transactions
  blocks: Blocks
  outbox: Plans
  spending: Spending
  blockTime: BlockTime
  /** Receives the intents that a replacement no longer carries. */
  conclude: Conclude
  log: Log
}

export function createReplacing(deps: ReplacingDeps): Replacing {
  const { inFlight, transactions, blocks, spending, blockTime } = deps

  /** @param replaced The transaction to outbid; absent = no node accepted one. */
  const replace = (plan: Plan, intents: readonly Intent[], replaced?: SignedTransaction) =>
    spending.inTurn(() => replaceNow(deps, plan, intents, replaced))

  async function replaceStuck(): Promise<boolean> {
    const [plan] = inFlight.plans()
    const newest = plan?.attempts.at(-1)
    if (!plan || !newest) return false
    const sending = inFlight.sendingOf(plan)
    const age = performance.now() - sending.made
    if (!sending.taken) {
      // It would be refused again, while fewer intents need less gas and cost less.
      const split = isRefused(sending) && plan.intents.length > 1
      if (split) return age >= SPLIT_TIMEOUT_MS && replace(plan, half(plan.intents))
      return (await isRetryDue(transactions, sending, newest)) && retry(plan, sending)
    }
    const stuckAfter = stuckAfterMs(blockTime)
    if (age < stuckAfter || !(await isPassedOver(blocks, sending))) return false
    // Even if it pays enough, it may not fit in a block. It is then replaced later.
    const isOverdue = age >= 2 * stuckAfter
    if (!isOverdue && (await transactions.meetsCurrentFee(newest))) return false
    return replace(plan, plan.intents, newest)
  }

  /**
   * Does not raise the fee of a transaction that no node accepted, for example for lack of funds,
   * because only the fee would grow.
   */
  async function retry(plan: Plan, sending: Sending): Promise<boolean> {
    const isAnother = await replace(plan, plan.intents)
    sending.retries++
    sending.retried = performance.now()
    return isAnother
  }

  return { replaceStuck }
}

async function isRetryDue(
  transactions: Transactions,
  sending: Sending,
  newest: SignedTransaction,
): Promise<boolean> {
  const waited = performance.now() - Math.max(sending.made, sending.retried)
  if (waited < REBROADCAST_INTERVAL_MS) return false
  const interval = REBROADCAST_INTERVAL_MS * 2 ** sending.retries
  if (waited >= Math.min(interval, MAX_RETRY_INTERVAL_MS)) return true
  // If the fee has risen, the same bytes would be refused again.
  return !(await transactions.meetsCurrentFee(newest))
}

/** @returns Whether a block came without it. When no blocks come, a higher fee does not help. */
async function isPassedOver(blocks: Blocks, sending: Sending): Promise<boolean> {
  const { number } = await blocks.head()
  sending.block ??= number
  return number > sending.block
}

/** @returns Whether there is a new attempt to send. */
async function replaceNow(
  { inFlight, outbox, log, conclude, ...deps }: ReplacingDeps,
  plan: Plan,
  intents: readonly Intent[],
  replaced?: SignedTransaction,
): Promise<boolean> {
  const { transaction, carried } = await prepare(deps, plan, intents, replaced)
  if (transaction.hash === plan.attempts.at(-1)?.hash) return false
  const next = await outbox.replace(plan, transaction, carried)
  inFlight.replace(next)
  Object.assign(inFlight.sendingOf(plan), {
    sent: Number.NEGATIVE_INFINITY,
    made: performance.now(),
    block: undefined,
    failure: undefined,
  })
  const stay = new Set(carried)
  const left = plan.intents.filter((intent) => !stay.has(intent))
  log.info('transaction_replaced', {
    nonce: plan.nonce,
    hash: transaction.hash,
    left: left.length,
  })
  for (const intent of left) conclude(intent, { status: 'absent' })
  return true
}

/** Makes another transaction for the nonce of a plan, with as many of its intents as fit. */
async function prepare(
  deps: Pick<ReplacingDeps, 'transactions' | 'spending'>,
  plan: Plan,
  intents: readonly Intent[],
  replaced?: SignedTransaction,
): Promise<{ transaction: SignedTransaction; carried: readonly Intent[] }> {
  const maxFee = await deps.spending.allowance(plan)
  const planned = plan.attempts.at(-1)
  try {
    const transaction = await deps.transactions.prepare(intents, {
      nonce: plan.nonce,
      ...(planned && { planned }),
      ...(maxFee !== undefined && { maxFee }),
      ...(replaced && { replaced }),
    })
    return { transaction, carried: intents }
  } catch (cause) {
    const error = asIssueError(cause)
    if (error.code !== 'too_large' || intents.length === 1) throw error
    return prepare(deps, plan, half(intents), replaced)
  }
}

/** @returns The milliseconds after which a transaction that is not in a block counts as stuck. */
export function stuckAfterMs(blockTime: BlockTime): number {
  const { timeoutMs, blocks } = STUCK
  return Math.max(timeoutMs, blocks * (blockTime.interval() ?? 0))
}

/** @returns Whether the nodes refused it. */
function isRefused({ failure }: Sending): boolean {
  return failure?.code === 'registry_refused'
}

function half(intents: readonly Intent[]): readonly Intent[] {
  return intents.slice(0, Math.ceil(intents.length / 2))
}
