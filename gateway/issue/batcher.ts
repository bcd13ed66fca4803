import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../document/hex.ts'
import { IssueError } from './errors.ts'
import { type Outcome, outcomesOf } from './outcome.ts'
import type { Anchored, Intent, Outbox, Plan, Registry } from './ports.ts'

/** What a request is told: what became of its intent, or that it is still to come. */
export type Answer =
  | Outcome
  | { status: 'pending'; transactionHash: Hex | null }

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
  /** Takes up what an earlier process left, and runs until `stop`. */
  start(): void
  /** Ends after the transaction in flight; what is queued stays in the outbox. */
  stop(): Promise<void>
}

/** Most intents in one transaction: some 5 million gas, 20 KB. */
const MAX_BATCH = 200
/** Between looks at a transaction in flight, and between tries with a node that does not answer; milliseconds. */
const POLL = { first: 2, most: 500 }
/** How long `stop` waits for the transaction in flight; milliseconds. */
const GRACE = 5_000
/** How often the same bytes are sent again while the chain does not show them; milliseconds. */
const REBROADCAST = 5_000

type Waiter = {
  resolve: (answer: Answer) => void
  reject: (error: IssueError) => void
}

/**
 * Group commit: while one transaction is in flight, intents gather; the next takes them all. Alone in the queue, an intent goes
 * at once.
 */
export function createBatcher(deps: {
  registry: Registry
  outbox: Outbox
  forget: (intents: readonly Intent[]) => Promise<void>
  log: (event: string, fields?: Record<string, unknown>) => void
}): Batcher {
  const { registry, outbox, forget, log } = deps
  const queue = new Map<Hex, Intent>()
  const waiters = new Map<Hex, Waiter[]>()
  let trouble: IssueError | undefined
  let stopping = false
  let stopBy = Number.POSITIVE_INFINITY
  let wake = () => {}
  let running: Promise<void> = Promise.resolve()

  async function run(): Promise<void> {
    let plan = outbox.openPlan()
    while (!stopping) {
      plan ??= await nextPlan()
      if (plan === undefined) continue
      if (!(await drive(plan)) || !(await settle(plan))) return
      plan = undefined
    }
  }

  /** The next transaction, durable; or `undefined` after a wait, when there is none to make. */
  async function nextPlan(): Promise<Plan | undefined> {
    if (queue.size === 0) {
      await (trouble ? probe() : wakeUp())
      return undefined
    }
    const intents = [...queue.values()].slice(0, MAX_BATCH)
    try {
      const transaction = await registry.prepare(intents)
      for (const intent of intents) queue.delete(intent.documentHash)
      await outbox.plan({ transaction, intents })
      trouble = undefined
      return { transaction, intents }
    } catch (error) {
      await giveBack(intents, asIssueError(error))
      return undefined
    }
  }

  function wakeUp(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
    })
  }

  async function probe(): Promise<void> {
    await sleep(POLL.most)
    try {
      await registry.assertReady()
      trouble = undefined
      log('issuing again')
    } catch (error) {
      trouble = asIssueError(error)
    }
  }

  /** No transaction can be made: who still waits is told so and forgotten, what is promised stays queued. */
  async function giveBack(intents: Intent[], error: IssueError): Promise<void> {
    if (trouble === undefined)
      log('issuing stopped', { code: error.code, error: error.message })
    trouble = error
    const told = intents.flatMap((intent) => {
      const list = waiters.get(intent.documentHash) ?? []
      if (list.length === 0) return []
      waiters.delete(intent.documentHash)
      queue.delete(intent.documentHash)
      return [{ intent, list }]
    })
    await forget(told.map(({ intent }) => intent))
    for (const { list } of told) for (const { reject } of list) reject(error)
    await sleep(POLL.most)
  }

  /** Broadcasts until the chain has used the nonce. @returns false when stopped before. */
  async function drive({ transaction }: Plan): Promise<boolean> {
    let lastSent = Number.NEGATIVE_INFINITY
    let pause = POLL.first
    while (true) {
      try {
        if (Date.now() - lastSent > REBROADCAST) {
          await registry.broadcast(transaction)
          lastSent = Date.now()
        }
        const used = await registry.isNonceUsed(transaction)
        trouble = undefined
        if (used) return true
      } catch (error) {
        trouble = asIssueError(error)
        log('waiting for the chain', {
          code: trouble.code,
          error: trouble.message,
        })
        pause = POLL.most
      }
      if (Date.now() > stopBy) return false
      await sleep(pause)
      pause = Math.min(pause * 2, POLL.most)
    }
  }

  /**
   * Reads what became of each intent from records and events, never from the transaction alone.
   *
   * @returns false when stopped before.
   */
  async function settle({ intents }: Plan): Promise<boolean> {
    const outcomes = await readOutcomes(intents)
    if (outcomes === undefined) return false
    const anchored: Anchored[] = []
    const taken: Intent[] = []
    const again: Intent[] = []
    intents.forEach((intent, i) => {
      const outcome = outcomes[i]
      if (outcome === undefined) again.push(intent)
      else if (outcome.status === 'taken') taken.push(intent)
      else anchored.push({ intent, anchoring: outcome })
    })
    await Promise.all([
      outbox.anchored(anchored),
      outbox.remove(taken),
      outbox.requeue(again),
    ])
    if (again.length > 0) log('not anchored, again', { intents: again.length })
    enqueue(again)
    intents.forEach(({ documentHash }, i) => {
      const outcome = outcomes[i]
      if (outcome) answer(documentHash, outcome)
    })
    return true
  }

  async function readOutcomes(intents: Intent[]) {
    for (let pause = POLL.first; ; pause = Math.min(pause * 2, POLL.most)) {
      try {
        const outcomes = await outcomesOf(
          registry,
          intents.map(({ documentHash }) => documentHash),
        )
        trouble = undefined
        return outcomes
      } catch (error) {
        trouble = asIssueError(error)
        if (Date.now() > stopBy) return undefined
        await sleep(pause)
      }
    }
  }

  function answer(documentHash: Hex, outcome: Outcome): void {
    for (const { resolve } of waiters.get(documentHash) ?? []) resolve(outcome)
    waiters.delete(documentHash)
  }

  /** Answers `pending`, unless it is being settled or withdrawn this moment and will be told of that. */
  function stopWaiting(documentHash: Hex, waiter: Waiter): void {
    const list = waiters.get(documentHash)
    if (!list?.includes(waiter)) return
    waiters.set(
      documentHash,
      list.filter((other) => other !== waiter),
    )
    const transactionHash = outbox.find(documentHash)?.transactionHash ?? null
    waiter.resolve({ status: 'pending', transactionHash })
  }

  function enqueue(intents: readonly Intent[]): void {
    for (const intent of intents) queue.set(intent.documentHash, intent)
    if (queue.size > 0) wake()
  }

  return {
    enqueue,

    assertOpen() {
      if (stopping) throw new IssueError('stopping', 'the service is stopping')
      if (trouble) throw trouble
    },

    submit({ documentHash, ...rest }, wait) {
      const known = outbox.find(documentHash)
      if (!known?.transactionHash) enqueue([{ documentHash, ...rest }])
      return new Promise((resolve, reject) => {
        const waiter = { resolve, reject }
        const list = waiters.get(documentHash) ?? []
        waiters.set(documentHash, [...list, waiter])
        setTimeout(() => stopWaiting(documentHash, waiter), wait).unref()
      })
    },

    start() {
      enqueue(outbox.queued())
      running = run()
    },

    async stop() {
      stopping = true
      stopBy = Date.now() + GRACE
      wake()
      await running
      for (const [documentHash, list] of waiters)
        for (const waiter of list) stopWaiting(documentHash, waiter)
    },
  }
}

function asIssueError(error: unknown): IssueError {
  if (error instanceof IssueError) return error
  return new IssueError('chain_unavailable', String(error), error)
}
