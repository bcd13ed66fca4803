import type { Log } from '#base/log.ts'
import { asIssueError } from '#promise/errors.ts'
import type { Blocks, Sends, Transactions } from '#promise/ports.ts'
import { carriedBy, type Member, type Send, type SignedTransaction } from '#promise/send.ts'
import type { BlockTime } from './block-time.ts'
import type { InFlight, Sending } from './in-flight.ts'
import type { Spending } from './spending.ts'

/** The time between broadcasts of the same bytes, until the chain shows the transaction. */
export const REBROADCAST_INTERVAL_MS = 5_000
/**
 * A transaction that is not in a block after this time, or after this many slow blocks, is replaced
 * if it pays too little, and after twice as long in any case.
 */
const STUCK = { timeoutMs: 30_000, blocks: 3 }
/** A transaction of several actions that every node refused is split after this time. */
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
  outbox: Pick<Sends, 'replace'>
  spending: Spending
  blockTime: BlockTime
  log: Log
}

export function createReplacing(deps: ReplacingDeps): Replacing {
  const { inFlight, transactions, blocks, spending, blockTime } = deps

  /** @param replaced The transaction to outbid; absent = no node accepted one. */
  const replace = (send: Send, carried: readonly Member[], replaced?: SignedTransaction) =>
    spending.inTurn(() => replaceNow(deps, send, carried, replaced))

  async function replaceStuck(): Promise<boolean> {
    const [send] = inFlight.sends()
    const newest = send?.attempts.at(-1)
    if (!send || !newest) return false
    const sending = inFlight.sendingOf(send)
    const carried = carriedBy(send)
    const age = performance.now() - sending.made
    if (!sending.taken) {
      // It would be refused again, while fewer need less gas and cost less.
      const split = isRefused(sending) && carried.length > 1
      if (split) return age >= SPLIT_TIMEOUT_MS && replace(send, half(carried))
      return (await isRetryDue(transactions, sending, newest)) && retry(send, sending)
    }
    const stuckAfter = stuckAfterMs(blockTime)
    if (age < stuckAfter || !(await isPassedOver(blocks, sending))) return false
    // Even if it pays enough, it may not fit in a block. It is then replaced later.
    const isOverdue = age >= 2 * stuckAfter
    if (!isOverdue && (await transactions.meetsCurrentFee(newest))) return false
    return replace(send, carried, newest)
  }

  /**
   * Does not raise the fee of a transaction that no node accepted, for example for lack of funds,
   * because only the fee would grow.
   */
  async function retry(send: Send, sending: Sending): Promise<boolean> {
    const isAnother = await replace(send, carriedBy(send))
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
  { inFlight, outbox, log, ...deps }: ReplacingDeps,
  send: Send,
  wanted: readonly Member[],
  replaced?: SignedTransaction,
): Promise<boolean> {
  const { transaction, carried } = await prepare(deps, send, wanted, replaced)
  if (transaction.hash === send.attempts.at(-1)?.hash) return false
  inFlight.replace(await outbox.replace(send, transaction, carried))
  Object.assign(inFlight.sendingOf(send), {
    sent: Number.NEGATIVE_INFINITY,
    made: performance.now(),
    block: undefined,
    failure: undefined,
  })
  const left = send.members.length - carried
  log.info('transaction_replaced', { nonce: send.nonce, hash: transaction.hash, left })
  return true
}

/** Makes another transaction for the nonce of a send, with as many of its members as fit. */
async function prepare(
  deps: Pick<ReplacingDeps, 'transactions' | 'spending'>,
  send: Send,
  wanted: readonly Member[],
  replaced?: SignedTransaction,
): Promise<{ transaction: SignedTransaction; carried: number }> {
  const maxFee = await deps.spending.allowance(send)
  const planned = send.attempts.at(-1)
  try {
    const transaction = await deps.transactions.prepare(
      wanted.map(({ action }) => action),
      {
        nonce: send.nonce,
        ...(planned && { planned }),
        ...(maxFee !== undefined && { maxFee }),
        ...(replaced && { replaced }),
      },
    )
    return { transaction, carried: wanted.length }
  } catch (cause) {
    const error = asIssueError(cause)
    if (error.code !== 'too_large' || wanted.length <= 1) throw error
    return prepare(deps, send, half(wanted), replaced)
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

function half(members: readonly Member[]): readonly Member[] {
  return members.slice(0, Math.ceil(members.length / 2))
}
