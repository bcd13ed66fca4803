import type { Outcome } from './anchoring.ts'
import type { IssueErrorCode } from './errors.ts'
import type { Intent } from './intent.ts'

/** Anchors intents with one engine or several. */
export type Batcher = {
  /** @throws {IssueError} when nothing can be anchored at the moment, as far as is known. */
  assertOpen(): void
  /**
   * Anchors an intent of the outbox, together with other waiting intents.
   *
   * @param wait Milliseconds until `pending` is the answer.
   * @returns `anchored`, `pending` or `moot`.
   * @throws {IssueError} when the intent was withdrawn or can never be anchored: nothing was done
   * and nothing will be.
   */
  submit(intent: Intent, wait: number): Promise<Outcome>
  /** Queues intents of the outbox again. */
  enqueue(intents: readonly Intent[]): void
  /** The number of intents that wait for a transaction, and of transactions in flight. */
  depth(): { queued: number; inFlight: number }
  /** Wei spent in the last hour, plus the maximum cost of transactions in flight. */
  spentLastHour(): Promise<bigint>
  /** Why nothing can be anchored at the moment; `undefined` when it can. */
  stopped(): IssueErrorCode | undefined
  /**
   * Continues with the intents of an earlier process, and runs until `stop`.
   *
   * @throws {IssueError} when no account can be used, and no other gateway could anchor instead.
   */
  start(): Promise<void>
  /**
   * Resolves after the transactions in flight, or after 5 seconds. The rest stays in the outbox.
   */
  stop(): Promise<void>
}
