import type { Log } from '#base/log.ts'
import { settledBy } from '#promise/anchoring.ts'
import { asIssueError, IssueError } from '#promise/errors.ts'
import { type Intent, keyOfIntent } from '#promise/intent.ts'
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
/** How long to wait between looks at a closed issuer: at first, and at most. */
const DOOR = { minMs: 2_000, maxMs: 60_000 }

/** Makes transactions of queued intents, and sets aside those that the chain refuses. */
export type Planner = {
  /** The number of intents that fill the next transaction. */
  readonly limit: number
  /**
   * Plans transactions while `isDue`, so that they share blocks and reads of the chain.
   *
   * @throws {IssueError} the reason why none can be made at the moment. Everything stays queued.
   */
  run(isDue: () => boolean): Promise<void>
  /** @returns Why no documents can be issued while the issuer is closed; `undefined` when it is not. */
  closed(): IssueError | undefined
  /** Looks whether a closed issuer is open again, if that is due. */
  lookIfOpen(): Promise<void>
  /** @returns The milliseconds until that is due; Infinity while the issuer is open. */
  untilLook(): number
}

type PlannerDeps = {
  queue: Queue
  account: Pick<Account, 'assertReady'>
  registry: RegistryReader
  outbox: Pick<Backlog, 'resolve'>
  /** Signs a transaction for these intents and makes it durable. */
  plan: (intents: readonly Intent[]) => Promise<void>
  conclude: Conclude
  postpone: Answers['postpone']
  log: Log
  /** The maximum number of intents in one transaction; 1 = no grouping. */
  maxBatch?: number
}

export function createPlanner(deps: PlannerDeps): Planner {
  const { queue, account, log, maxBatch = MAX_BATCH } = deps
  let limit = maxBatch
  /** Set while the issuer is closed; `lookAt` is a time of `performance.now()`. */
  let door: { error: IssueError; pause: number; lookAt: number } | undefined

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
    if (door && intents[0]?.kind === 'issue') openDoor()
    return true
  }

  /** Handles intents for which no transaction could be made. */
  async function refused(intents: Intent[], error: IssueError): Promise<void> {
    const { outage, isClosed } = await causeOf(account, error)
    if (outage) {
      // The limit stays at one, so that a single attempt shows whether the fee is still too high.
      if (outage.code !== 'fee_too_high') limit = maxBatch
      // The engine that has the account next continues with them, and their requests wait for it.
      if (!endsEngine(outage)) deps.postpone(queue.all())
      throw outage
    }
    // While the issuer is closed, revisions continue.
    if (isClosed && intents[0]?.kind === 'issue') return closeDoor(error)
    // Fewer intents are tried, so that one bad intent never blocks the others.
    if (intents.length > 1) {
      limit = Math.ceil(intents.length / 2)
      return
    }
    limit = maxBatch
    // No chain accepts the release of a document that somebody has revoked.
    const [refused] = await stillAbsent(deps, intents, intents)
    if (refused === undefined) return
    log.error('intent_set_aside', { key: keyOfIntent(refused), error: error.message })
    await setAside([refused])
  }

  async function closeDoor(error: IssueError): Promise<void> {
    limit = maxBatch
    door ??= { error: new IssueError('registry_refused', 'the issuer is closed', error), ...soon() }
    const issues = queue.all().filter(({ kind }) => kind === 'issue')
    log.warn('issuer_closed', { waiting: issues.length })
    await setAside(issues)
  }

  async function setAside(intents: readonly Intent[]): Promise<void> {
    deps.postpone(intents)
    await queue.setAside(intents)
  }

  async function lookIfOpen(): Promise<void> {
    if (door === undefined || performance.now() < door.lookAt) return
    const { mayIssue } = await account.assertReady()
    if (mayIssue) openDoor()
    else door = { ...door, ...soon(door.pause * 2) }
  }

  function openDoor(): void {
    door = undefined
    log.info('issuer_open')
    queue.recall(({ kind }) => kind === 'issue')
  }

  return {
    get limit() {
      return limit
    },
    run,
    closed: () => door?.error,
    lookIfOpen,
    untilLook: () =>
      door ? Math.max(0, door.lookAt - performance.now()) : Number.POSITIVE_INFINITY,
  }
}

/**
 * An intent that a transaction carried, or that waited for long, may already be on the chain, and
 * is then not sent again. Above all, a distrusted document must not be issued again.
 *
 * @param unsure Those that may be on the chain.
 * @returns The intents that must still be sent.
 */
async function stillAbsent(
  { queue, registry, outbox, conclude }: PlannerDeps,
  intents: readonly Intent[],
  unsure = queue.uncertain(intents),
): Promise<Intent[]> {
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

/** @returns The next look at a closed issuer. */
function soon(pause = DOOR.minMs): { pause: number; lookAt: number } {
  const capped = Math.min(pause, DOOR.maxMs)
  return { pause: capped, lookAt: performance.now() + capped }
}

/** @returns Whether another engine will have the account: see `fenced`. */
function endsEngine(error: IssueError): boolean {
  return error instanceof LeaseLost || error.code === 'outcome_unknown'
}

/**
 * @param error Why a transaction could not be made.
 * @returns `outage` = why no transaction can be made at the moment, whatever its intents;
 * `isClosed` = none can be made that issues; neither when the intents are at fault.
 */
async function causeOf(
  account: PlannerDeps['account'],
  error: IssueError,
): Promise<{ outage?: IssueError; isClosed?: boolean }> {
  // Fewer intents fit, whatever the account may do.
  if (error.code === 'too_large') return {}
  if (error.code !== 'registry_refused') return { outage: error }
  try {
    const { mayIssue } = await account.assertReady()
    return { isClosed: !mayIssue }
  } catch (cause) {
    return { outage: asIssueError(cause) }
  }
}
