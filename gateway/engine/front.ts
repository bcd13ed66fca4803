import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { Outcome, Standing } from '#promise/anchoring.ts'
import { asIssueError, IssueError, refusalOf } from '#promise/errors.ts'
import { type Intent, type IntentKey, keyOfIntent } from '#promise/intent.ts'
import type { Outbox } from '#promise/ports.ts'

/** The part of an engine that requests use. */
export type Intake = {
  /** Queues intents of the outbox that are neither queued nor in flight. */
  add(intents: readonly Intent[]): void
  /** Same as `add`, for promised intents, which may already be on the chain. */
  addPromised(intents: readonly Intent[]): void
  /** Marks queued intents that must not be withdrawn. */
  markPromised(intents: readonly Intent[]): void
  /** Resolves when the intent is not being withdrawn. */
  settled(intent: Intent): Promise<void>
  /** @returns Whether an intent is queued or in flight. */
  has(key: IntentKey): boolean
  /** @returns Why nothing can be anchored at the moment; `undefined` when it can. */
  outage(): IssueError | undefined
}

/** Receives the results of an engine. */
export type Answers = {
  /** Answers with an outcome. The engine queues an absent intent again. */
  conclude(intent: Intent, outcome: Outcome, transactions?: ReadonlySet<Hex>): void
  /** Answers requests that came after the outcome was known but before the outbox had it. */
  noted(intents: readonly Intent[]): void
  /** @returns The waiting requests of this key. The caller answers them, and no timer does. */
  take(key: IntentKey): Waiter[]
}

/** A request that waits for an intent. The first answer counts; later ones are ignored. */
type Waiter = PromiseWithResolvers<Outcome> & { intent: Intent; timer: NodeJS.Timeout }

/** Answers the requests that wait for intents, which engines anchor. */
export type Front = Answers & {
  /**
   * Queues an intent of the outbox and waits for its outcome.
   *
   * @param milliseconds How long until `pending` is the answer.
   * @throws {IssueError} when the intent was withdrawn.
   */
  submit(intent: Intent, milliseconds: number): Promise<Outcome>
  /** Answers requests whose intents another gateway's engine has anchored or given up. */
  look(): Promise<void>
  /** Answers all requests. */
  close(): Promise<void>
}

type FrontDeps = {
  /** @returns The engine that anchors an intent; `undefined` when it is not in this process. */
  engineFor: (standing: Standing) => Intake | undefined
  /** @returns All engines in this process. */
  engines: () => readonly Intake[]
  outbox: Pick<Outbox, 'find' | 'promise'>
  /** Reads the outcome of an intent that is no longer in the outbox. */
  outcomeOf: (intent: Intent) => Promise<Outcome>
  /** Called when a request for an intent is durable. */
  requested: (intent: Intent) => void
  log: Log
}

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
    // If the request was taken, the caller of `take` answers it.
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
   * @returns The error for an intent that another request for the same document withdrew at this
   * moment, because it was turned away.
   */
  function withdrawn(): IssueError {
    const [outage] = engines().flatMap((engine) => engine.outage() ?? [])
    return outage ?? new IssueError('chain_unavailable', 'the intent was withdrawn')
  }

  /**
   * @returns The answer for an intent that has left the outbox.
   *
   * @throws {IssueError} when it was withdrawn, or the chain could not be read.
   */
  async function gone(intent: Intent): Promise<Outcome> {
    const outcome = await deps.outcomeOf(intent)
    if (outcome.status === 'anchored' || outcome.status === 'moot') return outcome
    throw refusalOf(outcome) ?? withdrawn()
  }

  /** Makes the promise durable before the request is told `pending`. */
  async function late(intent: Intent): Promise<Outcome> {
    for (const engine of engines()) engine.markPromised([intent])
    const { kind, documentHash } = intent
    const isHere = engines().some((engine) => engine.has(keyOfIntent(intent)))
    let standing: Standing | undefined
    try {
      standing = await outbox.find(kind, documentHash)
    } catch (error) {
      // The intent stays queued and is in the outbox, so it will be anchored.
      if (isHere) return { status: 'pending', transactionHash: null }
      throw error
    }
    // An intent that a transaction carried is never withdrawn, so the answer needs no write.
    if (standing && mayLeave(standing)) standing = await persistPromise(deps, standing)
    if (standing === undefined) return gone(intent)
    const engine = standing.outcome.status === 'pending' ? engineFor(standing) : undefined
    engine?.add([standing.intent])
    engine?.markPromised([standing.intent])
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
        (error) => reject(key, asIssueError(error)),
      )
    else if (standing.outcome.status === 'anchored') answer(key, standing.outcome)
    // The request was answered while the outbox was read.
    else if (!waiting.has(key)) return
    // A transaction carried it for an earlier request, which may have been told `pending`.
    else if (standing.outcome.transactionHash !== null)
      engineFor(standing)?.addPromised([standing.intent])
    else engineFor(standing)?.add([standing.intent])
  }

  async function readAgain(intent: Intent): Promise<void> {
    admit(intent, await outbox.find(intent.kind, intent.documentHash))
  }

  return {
    take,

    async submit(intent, milliseconds) {
      deps.requested(intent)
      for (const engine of engines()) await engine.settled(intent)
      const answered = wait(intent, milliseconds)
      // When `find` fails, the caller gets that error, and this one must not be unhandled.
      answered.catch(() => {})
      admit(intent, await outbox.find(intent.kind, intent.documentHash))
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
      for (const intent of intents)
        if (waiting.has(keyOfIntent(intent))) readAgain(intent).catch(() => {})
    },

    async close() {
      await Promise.all([...waiting.values()].flatMap((some) => [...some]).map(stopWaiting))
    },
  }
}

/** @returns Whether the intent could still be withdrawn. */
function mayLeave({ promised, outcome }: Standing): boolean {
  return !promised && outcome.status === 'pending' && outcome.transactionHash === null
}

/**
 * If the disk does not accept the promise, the intent stays queued and will be anchored, so
 * `pending` is still true.
 */
function persistPromise(
  { outbox, log }: Pick<FrontDeps, 'outbox' | 'log'>,
  standing: Standing,
): Promise<Standing | undefined> {
  const { kind, documentHash } = standing.intent
  return outbox.promise(kind, documentHash).catch((cause) => {
    log.warn('promise_not_persisted', { error: asIssueError(cause).message })
    return standing
  })
}
