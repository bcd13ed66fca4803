import type { Hex } from '../../document/hex.ts'
import type { Log } from '../log.ts'
import { asIssueError, IssueError, refusalOf } from './errors.ts'
import { type Intent, keyOfIntent, type Standing } from './intent.ts'
import type { Outage } from './outage.ts'
import type { Outcome } from './outcome.ts'
import type { Outbox } from './ports.ts'
import type { Queue } from './queue.ts'
import { type Answer, createWaiters, type Waiters } from './waiters.ts'

/** Answers the requests that wait for intents. */
export type Answering = {
  waiters: Waiters
  /**
   * Queues an intent of the outbox, and waits for its outcome.
   *
   * @param wait Milliseconds until `pending` is the answer.
   * @throws {IssueError} when the intent was withdrawn.
   */
  submit(intent: Intent, wait: number): Promise<Answer>
  /** Answers with an outcome; an absent intent goes back in the queue. */
  conclude(intent: Intent, outcome: Outcome, transactions?: ReadonlySet<Hex>): void
  /** Answers requests that came after the outcome was known, but before the outbox had it. */
  noted(intents: readonly Intent[]): void
}

export function createAnswering(deps: {
  queue: Queue
  outbox: Outbox
  outage: Outage
  log: Log
}): Answering {
  const { queue, outbox, outage, log } = deps
  const waiters = createWaiters(late)

  /** Another request for the same document was turned away at this moment, and withdrew it. */
  const withdrawn = () => outage.error() ?? new IssueError('chain_unavailable', 'withdrawn')

  /** Makes the promise durable before the request gets `pending`. */
  async function late(intent: Intent): Promise<Answer> {
    queue.markPromised([intent])
    const { kind, documentHash } = intent
    let standing = await outbox.find(kind, documentHash)
    // An intent that a transaction carried is never withdrawn: the answer needs no write.
    const mayLeave =
      standing?.anchored === false && !standing.promised && standing.transactionHash === null
    if (mayLeave) standing = await persistPromise(deps, standing, intent)
    if (standing === undefined) throw withdrawn()
    if (standing.anchored) return anchoredAt(standing)
    queue.add([standing.intent])
    queue.markPromised([standing.intent])
    return { status: 'pending', transactionHash: standing.transactionHash }
  }

  /** Queues the intent of the outbox: of two revocations the first one, with its reason. */
  function admit(intent: Intent, standing: Standing | undefined): void {
    const key = keyOfIntent(intent)
    if (standing === undefined) waiters.reject(key, withdrawn())
    else if (standing.anchored) waiters.answer(key, anchoredAt(standing))
    // Answered while the outbox was read.
    else if (!waiters.has(key)) return
    // A transaction carried it for an earlier request, which may have got `pending`.
    else if (standing.transactionHash !== null) queue.addPromised([standing.intent])
    else queue.add([standing.intent])
  }

  return {
    waiters,

    async submit(intent, wait) {
      const answer = waiters.wait(intent, wait)
      // When `find` fails, the caller gets that error, and this one must not go unhandled.
      answer.catch(() => {})
      admit(intent, await outbox.find(intent.kind, intent.documentHash))
      return answer
    },

    conclude(intent, outcome, transactions) {
      const key = keyOfIntent(intent)
      if (outcome.status === 'absent') queue.addPromised([intent])
      else if (outcome.status === 'anchored') {
        const { transactionHash } = outcome
        const byAnother = transactionHash !== null && transactions?.has(transactionHash) === false
        waiters.answer(key, { ...outcome, byAnother })
      } else if (outcome.status === 'moot') waiters.answer(key, { status: 'moot' })
      else if (!waiters.reject(key, refusalOf(outcome.status)))
        log.error('promise_broken', { intent: key, reason: outcome.status })
    },

    noted(intents) {
      for (const intent of intents.filter((one) => waiters.has(keyOfIntent(one))))
        outbox.find(intent.kind, intent.documentHash).then(
          (standing) => admit(intent, standing),
          () => {},
        )
    },
  }
}

function anchoredAt({ transactionHash }: { transactionHash: Hex | null }): Answer {
  return { status: 'anchored', transactionHash }
}

/**
 * When the disk does not accept the promise, the intent stays queued and will be anchored, so
 * `pending` is still true.
 */
function persistPromise(
  { outbox, log }: { outbox: Outbox; log: Log },
  standing: Standing | undefined,
  { kind, documentHash }: Intent,
): Promise<Standing | undefined> {
  return outbox.promise(kind, documentHash).catch((cause) => {
    log.warn('promise_not_persisted', { error: asIssueError(cause).message })
    return standing
  })
}
