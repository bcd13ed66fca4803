import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Outcome, Standing } from '#promise/anchoring.ts'
import { type IssueError, refusalOf } from '#promise/errors.ts'
import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'
import type { Outbox } from '#promise/ports.ts'

/** The part of an engine that requests use. */
export type Intake = {
  /** Queues intents of the outbox that are neither queued nor in flight. */
  add(intents: readonly Intent[]): void
  /** Same as `add`, for intents that may already be on the chain. */
  addAgain(intents: readonly Intent[]): void
  /** @returns Whether an intent is queued or in flight. */
  has(key: IntentKey): boolean
}

/** Receives the results of an engine. */
export type Answers = {
  /** Answers with an outcome. The engine queues an absent intent again. */
  conclude(intent: Intent, outcome: Outcome, transactions?: ReadonlySet<Hex>): void
  /** Answers requests that came after the outcome was known but before the outbox had it. */
  noted(intents: readonly Intent[]): void
  /** Answers `pending`, because these intents wait for the end of an outage. */
  postpone(intents: readonly Intent[]): void
}

/** A request that waits for an intent. The first answer counts; later ones are ignored. */
type Waiter = PromiseWithResolvers<Outcome> & { intent: Intent; timer: NodeJS.Timeout }

/** Answers the requests that wait for intents, which engines anchor. */
export type Front = Answers & {
  /**
   * Queues an intent of the outbox and waits for its outcome.
   *
   * @param milliseconds How long until `pending` is the answer.
   * @throws {IssueError} when the intent can never be anchored.
   */
  submit(intent: Intent, milliseconds: number): Promise<Outcome>
  /** Answers requests whose intents another gateway's engine has anchored. */
  look(): Promise<void>
  /** Answers all requests. */
  close(): Promise<void>
}

type FrontDeps = {
  /** @returns The engine that anchors an intent; `undefined` when it is not in this process. */
  engineFor: (standing: Standing) => Intake | undefined
  /** @returns All engines in this process. */
  engines: () => readonly Intake[]
  outbox: Pick<Outbox, 'find'>
  /** Reads the outcome of an intent that is no longer in the outbox. */
  outcomeOf: (intent: Intent) => Promise<Outcome>
  /** Called when a request for an intent is durable. */
  requested: (intent: Intent) => void
  log: Log
}

const PENDING: Outcome = { status: 'pending', transactionHash: null }

/**
 * Holds nothing but the requests that wait. What they wait for is durable, so that `pending` is a
 * true answer at any time.
 */
export function createFront(deps: FrontDeps): Front {
  const { engineFor, engines, outbox, log } = deps
  const waiting = new Map<IntentKey, Set<Waiter>>()

  /** @param milliseconds After this time the request gets the answer of `late`. */
  function wait(intent: Intent, milliseconds: number): Promise<Outcome> {
    const key = keyOfIntent(intent)
    const timer = setTimeout(() => stopWaiting(waiter), milliseconds).unref()
    const waiter: Waiter = { ...Promise.withResolvers<Outcome>(), intent, timer }
    const others = waiting.get(key) ?? new Set<Waiter>()
    waiting.set(key, others.add(waiter))
    return waiter.promise
  }

  async function stopWaiting(waiter: Waiter): Promise<void> {
    const key = keyOfIntent(waiter.intent)
    const others = waiting.get(key)
    if (!others?.delete(waiter)) return
    if (others.size === 0) waiting.delete(key)
    await late(waiter.intent).then(waiter.resolve, waiter.reject)
  }

  function take(key: IntentKey): Waiter[] {
    const taken = [...(waiting.get(key) ?? [])]
    waiting.delete(key)
    for (const { timer } of taken) clearTimeout(timer)
    return taken
  }

  function answer(key: IntentKey, outcome: Outcome): void {
    for (const { resolve } of take(key)) resolve(outcome)
  }

  /** @returns Whether a request waited. */
  function reject(key: IntentKey, error: IssueError): boolean {
    const taken = take(key)
    for (const one of taken) one.reject(error)
    return taken.length > 0
  }

  /**
   * @returns The answer for an intent that has left the outbox. A node that is behind may not show
   * it yet.
   * @throws {IssueError} when it can never be anchored.
   */
  async function gone(intent: Intent): Promise<Outcome> {
    const outcome = await deps.outcomeOf(intent).catch(() => PENDING)
    const refusal = refusalOf(outcome)
    if (refusal) throw refusal
    return outcome.status === 'absent' ? PENDING : outcome
  }

  /** @returns The answer when none came in time. */
  async function late(intent: Intent): Promise<Outcome> {
    let standing: Standing | undefined
    try {
      standing = await outbox.find(intent.kind, intent.documentHash)
    } catch {
      return PENDING
    }
    if (standing === undefined) return gone(intent)
    if (standing.outcome.status === 'pending') engineFor(standing)?.addAgain([standing.intent])
    return standing.outcome
  }

  /**
   * Queues the intent in the outbox, which for two revocations is the first one, with its reason.
   */
  function admit(intent: Intent, standing: Standing | undefined): void {
    const key = keyOfIntent(intent)
    if (standing === undefined)
      gone(intent).then(
        (outcome) => answer(key, outcome),
        (error) => reject(key, error),
      )
    else if (standing.outcome.status === 'anchored') answer(key, standing.outcome)
    // The request was answered while the outbox was read.
    else if (!waiting.has(key)) return
    // A transaction has carried it for an earlier request.
    else if (standing.outcome.transactionHash !== null)
      engineFor(standing)?.addAgain([standing.intent])
    else engineFor(standing)?.add([standing.intent])
  }

  /** If the outbox cannot be read, its intent is found at the next look. */
  async function readAgain(intent: Intent): Promise<void> {
    await outbox
      .find(intent.kind, intent.documentHash)
      .then((standing) => admit(intent, standing))
      .catch(() => {})
  }

  return {
    async submit(intent, milliseconds) {
      deps.requested(intent)
      const answered = wait(intent, milliseconds)
      void readAgain(intent)
      return answered
    },

    conclude(intent, outcome, transactions) {
      const key = keyOfIntent(intent)
      const refusal = refusalOf(outcome)
      if (outcome.status === 'absent') return
      if (outcome.status === 'anchored') {
        const { transactionHash } = outcome
        const byAnother = transactionHash !== null && transactions?.has(transactionHash) === false
        answer(key, { ...outcome, byAnother })
      } else if (refusal === undefined) answer(key, outcome)
      else if (!reject(key, refusal))
        log.error('promise_broken', { intent: key, reason: outcome.status })
    },

    async look() {
      const isHere = (intent: Intent) => engines().some(({ has }) => has(keyOfIntent(intent)))
      const first = [...waiting.values()].flatMap(([waiter]) => waiter?.intent ?? [])
      await Promise.all(first.filter((intent) => !isHere(intent)).map(readAgain))
    },

    noted(intents) {
      for (const intent of intents) if (waiting.has(keyOfIntent(intent))) void readAgain(intent)
    },

    postpone(intents) {
      for (const intent of intents)
        for (const waiter of waiting.get(keyOfIntent(intent)) ?? []) {
          clearTimeout(waiter.timer)
          void stopWaiting(waiter)
        }
    },

    async close() {
      await Promise.all([...waiting.values()].flatMap((some) => [...some]).map(stopWaiting))
    },
  }
}
