import type { Log } from '#base/log.ts'
import { settledBy } from '#promise/anchoring.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'
import { LeaseLost } from '#promise/lease.ts'
import { outcomesOf } from '#promise/outcome.ts'
import type { Account, Backlog, RegistryReader } from '#promise/ports.ts'
import type { Answers } from './front.ts'
import type { Queue } from './queue.ts'
import type { Conclude } from './settle.ts'

/** The maximum number of intents in one transaction; this is about 13 KB for documents to issue. */
export const MAX_BATCH = 200
/** How long the first of several transactions waits until the others are signed. */
const TOGETHER_MS = 50

/** Makes transactions of queued intents, and turns intents away for which none can be made. */
export type Planner = {
  /** The number of intents that fill the next transaction. */
  readonly limit: number
  /**
   * Plans transactions while `isDue`, so that they share blocks and reads of the chain.
   *
   * @throws {IssueError} the reason why none can be made at the moment. All intents that were not
   * promised have then left the queue.
   */
  run(isDue: () => boolean): Promise<void>
  /** Resolves when the intent is not being withdrawn. */
  settled(intent: Intent): Promise<void>
}

type PlannerDeps = {
  queue: Queue
  account: Pick<Account, 'assertReady'>
  registry: RegistryReader
  outbox: Pick<Backlog, 'resolve'>
  /** Signs a transaction for these intents and makes it durable. */
  plan: (intents: readonly Intent[]) => Promise<void>
  conclude: Conclude
  take: Answers['take']
  /** Resolves with the intents that are no longer on disk. */
  withdraw: (intents: readonly Intent[]) => Promise<Intent[]>
  log: Log
  /** The maximum number of intents in one transaction; 1 = no grouping. */
  maxBatch?: number
}

export function createPlanner(deps: PlannerDeps): Planner {
  const { queue, account, log, maxBatch = MAX_BATCH } = deps
  let limit = maxBatch
  /** The intents that are being withdrawn. */
  const leaving = new Map<IntentKey, Promise<void>>()

  async function run(isDue: () => boolean): Promise<void> {
    const until = performance.now() + TOGETHER_MS
    let goOn = isDue()
    while (goOn) goOn = (await planOne()) && isDue() && performance.now() < until
  }

  async function planOne(): Promise<boolean> {
    const batch = queue.next(limit)
    let intents = batch
    try {
      intents = await stillAbsent(deps, batch)
      if (intents.length === 0) return true
      await deps.plan(intents)
    } catch (error) {
      await refused(intents, asIssueError(error))
      return false
    }
    queue.remove(intents)
    limit = Math.min(limit * 2, maxBatch)
    return true
  }

  /** Handles intents for which no transaction could be made. */
  async function refused(intents: Intent[], error: IssueError): Promise<void> {
    const { outage, closed } = await causeOf(account, error)
    if (outage) {
      // The limit stays at one, so that a single attempt shows whether the fee is still too high.
      if (outage.code !== 'fee_too_high') limit = maxBatch
      // The others cannot get a transaction either. Without its lease, their requests wait for the
      // engine that now has the account.
      if (!(outage instanceof LeaseLost)) await turnAway(queue.all(), outage)
      throw outage
    }
    const isClosed = closed !== undefined && intents[0]?.kind === 'issue'
    // Fewer intents are tried, so that one bad intent never blocks the others.
    if (!isClosed && intents.length > 1) {
      limit = Math.ceil(intents.length / 2)
      return
    }
    limit = maxBatch
    // While the issuer is closed, revisions continue.
    const refusal = isClosed ? closed : error
    const some = isClosed ? queue.all().filter(({ kind }) => kind === 'issue') : intents
    const promised = await turnAway(some, refusal)
    if (isClosed) log.warn('issuer_closed', { promised: promised.length })
    // A promised intent is never given up: an operator has to find out why it is refused.
    else
      for (const intent of promised)
        log.error('intent_set_aside', { key: keyOfIntent(intent), error: error.message })
    if (promised.length > 0) await queue.setAside(promised)
  }

  /**
   * Withdraws intents that were not promised, and rejects their requests.
   *
   * @returns The intents that stay queued because they were promised.
   */
  async function turnAway(intents: readonly Intent[], error: IssueError): Promise<Intent[]> {
    const leavers = queue.unpromised(intents)
    queue.remove(leavers)
    const left = withdraw(leavers, error)
    const keys = leavers.map(keyOfIntent)
    for (const key of keys) leaving.set(key, left)
    await left
    for (const key of keys) leaving.delete(key)
    const gone = new Set(leavers)
    return intents.filter((intent) => !gone.has(intent))
  }

  async function withdraw(leavers: readonly Intent[], error: IssueError): Promise<void> {
    // From here on no timer answers them with `pending`.
    const waiting = leavers.map((intent) => deps.take(keyOfIntent(intent)))
    const withdrawn = await deps.withdraw(leavers).catch((cause): Intent[] => {
      log.warn('intents_not_withdrawn', { error: String(cause) })
      return []
    })
    const gone = new Set(withdrawn.map(keyOfIntent))
    leavers.forEach((intent, i) => {
      const isGone = gone.has(keyOfIntent(intent))
      for (const { resolve, reject } of waiting[i] ?? [])
        if (isGone) reject(error)
        else resolve({ status: 'pending', transactionHash: null })
    })
    // Intents that are still in the outbox count as promised at the next start, and so also now.
    queue.addPromised(leavers.filter((intent) => !gone.has(keyOfIntent(intent))))
  }

  return {
    get limit() {
      return limit
    },
    run,
    settled: async (intent) => leaving.get(keyOfIntent(intent)),
  }
}

/**
 * An intent that a transaction carried, or that waited for long, may already be on the chain, and
 * is then not sent again. Above all, a distrusted document must not be issued again.
 *
 * @returns The intents that must still be sent.
 */
async function stillAbsent(
  { queue, registry, outbox, conclude }: PlannerDeps,
  intents: readonly Intent[],
): Promise<Intent[]> {
  const unsure = queue.uncertain(intents)
  if (unsure.length === 0) return [...intents]
  const outcomes = await outcomesOf(registry, unsure)
  const decided = unsure.flatMap((intent, i) => {
    const outcome = outcomes[i]
    return outcome && outcome.status !== 'absent' ? [{ intent, outcome }] : []
  })
  if (decided.length > 0) await outbox.resolve(settledBy(unsure, outcomes))
  queue.seenAbsent(unsure)
  const done = new Set(decided.map(({ intent }) => intent))
  queue.remove([...done])
  for (const { intent, outcome } of decided) conclude(intent, outcome)
  return intents.filter((intent) => !done.has(intent))
}

/**
 * @param error Why a transaction could not be made.
 * @returns `outage` = why no transaction can be made at the moment, whatever its intents; `closed`
 * = why none can be made that issues; neither when the intents are at fault.
 */
async function causeOf(
  account: PlannerDeps['account'],
  error: IssueError,
): Promise<{ outage?: IssueError; closed?: IssueError }> {
  // Fewer intents fit, whatever the account may do.
  if (error.code === 'too_large') return {}
  if (error.code !== 'registry_refused') return { outage: error }
  try {
    const { mayIssue } = await account.assertReady()
    return mayIssue
      ? {}
      : { closed: new IssueError('registry_refused', 'the issuer is closed', error) }
  } catch (cause) {
    return { outage: asIssueError(cause) }
  }
}
