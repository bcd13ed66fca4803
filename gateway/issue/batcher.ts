import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { MAX_BATCH, nextBatch } from './batch.ts'
import { asIssueError, IssueError, refusalOf } from './errors.ts'
import { keyOf, keyOfIntent } from './intent.ts'
import { type Outcome, outcomesOf } from './outcome.ts'
import type { Intent, Outbox, Registry } from './ports.ts'
import { createSender } from './sender.ts'
import { type Answer, createWaiters, type Waiter } from './waiters.ts'

export type Batcher = {
  /** @throws {IssueError} when it is known that nothing can be anchored now. */
  assertOpen(): void
  /**
   * Has an intent, already in the outbox, anchored with whatever else waits.
   *
   * @param wait Milliseconds until `pending` is the answer.
   * @throws {IssueError} when the intent was withdrawn: nothing happened, and nothing will.
   */
  submit(intent: Intent, wait: number): Promise<Answer>
  /** Puts intents that are in the outbox back in the queue. */
  enqueue(intents: readonly Intent[]): void
  /** How many intents wait for a transaction, and how many transactions for a block. */
  depth(): { queued: number; inFlight: number }
  /** Takes up what an earlier process left, and runs until `stop`. */
  start(): void
  /** Ends after the transactions in flight, or 5 seconds; what is left stays in the outbox. */
  stop(): Promise<void>
}

/** Most intents that wait for a transaction; beyond, requests are turned away. */
const MAX_QUEUE = 10_000
/** Most transactions in flight; geth keeps 16 of an account that it does not know. */
const MAX_IN_FLIGHT = 10
/**
 * How long intents gather behind a transaction in flight before they get one of their own: as a part of the time that one takes, so
 * that chain and gateway work at the same time; and in milliseconds, at most.
 */
const GATHER = { part: 0.5, most: 400 }
/** How long the first of several transactions waits for the others to be made; milliseconds. */
const TOGETHER = 50
/** Between tries with a chain that takes nothing; milliseconds. */
const PAUSE = 500
/** How long a promised intent is set aside that the chain refuses on its own; milliseconds. */
const ASIDE = 3_000
/** For how long an intent that was absent when it was queued counts as absent; milliseconds. */
const CERTAIN_MS = 5_000
/** How long `stop` waits for transactions in flight; milliseconds. */
const GRACE = 5_000

/**
 * Group commit: while a transaction is in flight, intents gather; the next takes them all. Alone in the queue, an intent goes at
 * once. When a chain is slow, or a transaction full, the next does not wait for the one before.
 */
export function createBatcher(deps: {
  registry: Registry
  outbox: Outbox
  forget: (intents: readonly Intent[]) => Promise<void>
  /** Told of every intent that the chain has decided. */
  concluded: (kind: Intent['kind'], outcome: Outcome['status']) => void
  log: Log
  /** Most intents in one transaction; 1 = no grouping. */
  maxBatch?: number
}): Batcher {
  const { registry, outbox, forget, concluded, log } = deps
  const { maxBatch = MAX_BATCH } = deps
  const queue = new Map<string, Intent>()
  const waiters = createWaiters(late)
  /** Queued intents that somebody was told of; they are never taken back. */
  const promised = new Set<string>()
  /** By queued intent to issue, the time from which it may be on the chain without our knowledge. */
  const uncertainFrom = new Map<string, number>()
  /** Promised intents that the chain refused on their own; they come back, and hold up nobody meanwhile. */
  const aside = new Set<string>()
  /** Intents that are being withdrawn, until they are, or could not be. */
  const leaving = new Map<string, Promise<void>>()
  const sender = createSender({
    registry,
    outbox,
    conclude,
    answered: () => wake(),
    log,
  })
  let limit = maxBatch
  let gatheringSince = 0
  let trouble: IssueError | undefined
  /** While transactions are made: it goes on beside looking at those in flight, and ends with why no more can be made, if so. */
  let planning: Promise<unknown> | undefined
  let refusal: unknown
  let stopBy = Number.POSITIVE_INFINITY
  /** Whether there is something to do that came since the last `rest`. */
  let awake = false
  let wakeUp = () => {}
  let running: Promise<void> = Promise.resolve()

  const stopping = () => stopBy !== Number.POSITIVE_INFINITY

  async function run(): Promise<void> {
    while (
      !stopping() ||
      ((sender.inFlight() > 0 || planning) && performance.now() < stopBy)
    ) {
      try {
        await sender.advance(planning !== undefined)
        if (mayPlan()) startPlanning()
        else if (trouble && !planning && sender.inFlight() === 0)
          await registry.assertReady()
        await checkPlanning()
        setTrouble(undefined)
      } catch (error) {
        setTrouble(asIssueError(error))
      }
      await rest()
    }
    await planning
  }

  function startPlanning(): void {
    planning = planAll()
      .catch((error) => {
        refusal = error
      })
      .finally(() => {
        planning = undefined
        wake()
      })
  }

  /** @throws why planning failed. After trouble, whether it is over is known when planning has ended. */
  async function checkPlanning(): Promise<void> {
    if (trouble) await planning
    const error = refusal
    refusal = undefined
    if (error !== undefined) throw error
  }

  function mayPlan(): boolean {
    return planning === undefined && isDue()
  }

  /** Whether what waits is to get a transaction now. */
  function isDue(): boolean {
    if (stopping() || nextBatch(queue.values(), 1, mustWait).length === 0)
      return false
    if (sender.inFlight() === 0) return true
    const due = queue.size >= limit || gathering() <= 0
    return due && sender.inFlight() < MAX_IN_FLIGHT
  }

  /** Milliseconds for which intents still gather. */
  function gathering(): number {
    const whole = Math.min(GATHER.most, GATHER.part * sender.roundTrip())
    return whole - (performance.now() - gatheringSince)
  }

  /** Transactions that may be in flight now, before any is sent: they share blocks and looks at the chain. */
  async function planAll(): Promise<void> {
    const until = performance.now() + TOGETHER
    let goOn = isDue()
    while (goOn) goOn = (await plan()) && isDue() && performance.now() < until
  }

  async function plan(): Promise<boolean> {
    const batch = nextBatch(queue.values(), limit, mustWait)
    let intents = batch
    try {
      intents = await stillAbsent(batch)
      if (intents.length === 0) return true
      await sender.plan(intents)
    } catch (error) {
      await refused(intents, asIssueError(error))
      return false
    }
    for (const intent of intents) leaveQueue(keyOfIntent(intent))
    gatheringSince = performance.now()
    limit = Math.min(limit * 2, maxBatch)
    return true
  }

  function leaveQueue(key: string): void {
    queue.delete(key)
    promised.delete(key)
    uncertainFrom.delete(key)
  }

  /** A document is revised after it is on the chain. */
  function mustWait({ kind, documentHash }: Intent): boolean {
    if (kind === 'issue') return false
    const key = keyOf('issue', documentHash)
    return (
      queue.has(key) || aside.has(key) || sender.carries('issue', documentHash)
    )
  }

  /** No transaction can be made of these. */
  async function refused(intents: Intent[], error: IssueError): Promise<void> {
    const outage = await outageOf(error)
    if (outage) {
      limit = maxBatch
      // No transaction can be made of the others either.
      await giveBack([...queue.values()], outage)
      throw outage
    }
    // Of fewer, perhaps: so one bad intent never sinks the others.
    if (intents.length > 1) {
      limit = Math.ceil(intents.length / 2)
      return
    }
    limit = maxBatch
    setAside(intents, error)
    await giveBack(intents, error)
  }

  /**
   * @param error Why a transaction could not be made.
   * @returns Why none can be made now, whatever is in it; `undefined` when it was the fault of what
   *   was in it.
   */
  async function outageOf(error: IssueError): Promise<IssueError | undefined> {
    const ofIntents =
      error.code === 'too_large' || error.code === 'registry_refused'
    if (!ofIntents) return error
    return registry.assertReady().then(() => undefined, asIssueError)
  }

  /** What was promised is never given up: it is tried again, and somebody has to look why it is refused. */
  function setAside(intents: Intent[], error: IssueError): void {
    for (const intent of intents) {
      const key = keyOfIntent(intent)
      if (!promised.has(key)) continue
      log.error('intent_set_aside', { key, error: error.message })
      queue.delete(key)
      aside.add(key)
      setTimeout(() => {
        aside.delete(key)
        enqueuePromised([intent])
      }, ASIDE).unref()
    }
  }

  /** Nobody was told of these yet: they are forgotten, and who waits is told so. */
  async function giveBack(intents: Intent[], error: IssueError): Promise<void> {
    const dropped = intents.filter(
      (intent) => !promised.has(keyOfIntent(intent)),
    )
    const told = dropped.flatMap((intent) => {
      const key = keyOfIntent(intent)
      leaveQueue(key)
      return waiters.take(key)
    })
    const left = withdraw(dropped, told, error)
    for (const key of dropped.map(keyOfIntent)) leaving.set(key, left)
    await left
    for (const key of dropped.map(keyOfIntent)) leaving.delete(key)
  }

  async function withdraw(
    dropped: readonly Intent[],
    told: readonly Waiter[],
    error: IssueError,
  ): Promise<void> {
    try {
      await forget(dropped)
      for (const { reject } of told) reject(error)
    } catch (cause) {
      // It is still in the outbox: then it is promised.
      log.warn('intents_not_withdrawn', { error: String(cause) })
      enqueuePromised(dropped)
      for (const { resolve } of told)
        resolve({ status: 'pending', transactionHash: null })
    }
  }

  function conclude(intent: Intent, outcome: Outcome): void {
    concluded(intent.kind, outcome.status)
    const key = keyOfIntent(intent)
    if (outcome.status === 'absent') enqueuePromised([intent])
    else if (outcome.status === 'anchored') waiters.answer(key, outcome)
    else if (outcome.status === 'moot') waiters.answer(key, { status: 'moot' })
    else {
      const waiting = waiters.take(key)
      if (waiting.length === 0)
        log.error('promise_broken', { intent: key, reason: outcome.status })
      for (const { reject } of waiting) reject(refusalOf(outcome.status))
    }
  }

  /**
   * What was carried once, or waited for long, may be on the chain by now: then it is not sent
   * again. Above all, nothing is issued again that is there and distrusted.
   *
   * @returns Those that are to be sent.
   */
  async function stillAbsent(intents: readonly Intent[]): Promise<Intent[]> {
    const now = performance.now()
    const unsure = intents.filter(
      (intent) => now >= (uncertainFrom.get(keyOfIntent(intent)) ?? Infinity),
    )
    if (unsure.length === 0) return [...intents]
    const outcomes = await outcomesOf(registry, unsure)
    const decided = unsure.flatMap((intent, i) => {
      const outcome = outcomes[i]
      return outcome && outcome.status !== 'absent' ? [{ intent, outcome }] : []
    })
    await outbox.resolve({
      anchored: decided.flatMap(({ intent, outcome }) =>
        outcome.status === 'anchored' ? [{ intent, anchoring: outcome }] : [],
      ),
      gone: decided
        .filter(({ outcome }) => outcome.status !== 'anchored')
        .map(({ intent }) => intent),
    })
    for (const intent of unsure)
      uncertainFrom.set(keyOfIntent(intent), performance.now() + CERTAIN_MS)
    for (const { intent, outcome } of decided) {
      const key = keyOfIntent(intent)
      leaveQueue(key)
      conclude(intent, outcome)
    }
    const done = new Set(decided.map(({ intent }) => intent))
    return intents.filter((intent) => !done.has(intent))
  }

  function enqueuePromised(intents: readonly Intent[]): void {
    for (const intent of intents) {
      promised.add(keyOfIntent(intent))
      if (intent.kind === 'issue') uncertainFrom.set(keyOfIntent(intent), 0)
    }
    enqueue(intents)
  }

  function enqueue(intents: readonly Intent[]): void {
    if (queue.size === 0) gatheringSince = performance.now()
    for (const intent of intents) {
      const key = keyOfIntent(intent)
      const { kind, documentHash } = intent
      const known = queue.has(key) || aside.has(key)
      if (known || sender.carries(kind, documentHash)) continue
      queue.set(key, intent)
      if (kind === 'issue' && !uncertainFrom.has(key))
        uncertainFrom.set(key, performance.now() + CERTAIN_MS)
    }
    if (mayPlan()) wake()
  }

  function wake(): void {
    awake = true
    wakeUp()
  }

  /** Until there is something to do: an intent more, a node's answer, or time to look at what is in flight. */
  async function rest(): Promise<void> {
    if (trouble) await sleep(PAUSE)
    else if (!awake && sender.inFlight() > 0)
      await nap(Math.min(sender.pause(), untilDue()))
    else if (!awake && !mayPlan() && (!stopping() || planning)) await nap()
    awake = false
  }

  /** Milliseconds until what gathers is due, if time alone makes it so. */
  function untilDue(): number {
    const full = sender.inFlight() >= MAX_IN_FLIGHT
    return queue.size === 0 || planning || full
      ? Number.POSITIVE_INFINITY
      : Math.max(1, gathering())
  }

  async function nap(most?: number): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      wakeUp = resolve
    })
    if (most === undefined) return woken
    const timeout = new AbortController()
    const { signal } = timeout
    const timer = sleep(most, undefined, { signal }).catch(() => {})
    await Promise.race([timer, woken])
    timeout.abort()
  }

  function setTrouble(error: IssueError | undefined): void {
    if (error && error.code !== trouble?.code)
      log.warn('issuing_stopped', { code: error.code, error: error.message })
    if (!error && trouble) log.info('issuing_resumed')
    trouble = error
  }

  /** Who is told that it is pending has a promise. */
  function late(intent: Intent): Answer {
    const { kind, documentHash } = intent
    const key = keyOfIntent(intent)
    if (queue.has(key)) promised.add(key)
    const transactionHash =
      outbox.find(kind, documentHash)?.transactionHash ?? null
    return { status: 'pending', transactionHash }
  }

  return {
    enqueue: enqueuePromised,

    assertOpen() {
      if (stopping())
        throw new IssueError('stopping', 'the service is stopping')
      if (trouble) throw trouble
      if (queue.size >= MAX_QUEUE)
        throw new IssueError('overloaded', `${queue.size} intents wait`)
    },

    async submit(intent, wait) {
      const { kind, documentHash } = intent
      await leaving.get(keyOfIntent(intent))
      const standing = outbox.find(kind, documentHash)
      // Another request for the same was turned away this moment, and took the intent with it.
      if (standing === undefined)
        throw trouble ?? new IssueError('chain_unavailable', 'withdrawn')
      const { anchored, transactionHash } = standing
      if (anchored) return { status: 'anchored', transactionHash }
      // A transaction carried it once, for somebody who was told so.
      if (transactionHash !== null && !sender.carries(kind, documentHash))
        promised.add(keyOfIntent(intent))
      // The one that stands: of two revocations, the first, with its reason.
      enqueue([standing.intent])
      return waiters.wait(intent, wait)
    },

    depth: () => ({ queued: queue.size, inFlight: sender.inFlight() }),

    start() {
      enqueuePromised(outbox.queued())
      running = run()
    },

    async stop() {
      stopBy = performance.now() + GRACE
      wake()
      await running
      waiters.close()
    },
  }
}
