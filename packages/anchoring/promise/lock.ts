import type { Hex } from '#document/hex.ts'
import { IssueError } from './errors.ts'

/**
 * The right to do something that only one process may do at a time. It belongs to a session of the
 * database: whoever loses the session has lost the lock, and nobody gets it before the session has
 * ended there, with everything that it was asked to commit.
 */
export type Lock = {
  /** Aborts when the session has ended, or the lock was released. */
  readonly ended: AbortSignal
  /** @throws {LockLost} when the session has ended. */
  assertHeld(): Promise<void>
  /** Frees it for other processes. */
  release(): Promise<void>
}

export type Locks = {
  /** @returns `undefined` when another process has the lock. */
  take(name: string): Promise<Lock | undefined>
}

/** Thrown when the session of a lock has ended. Nothing is written through it any more. */
export class LockLost extends IssueError {
  override name = 'LockLost'

  constructor(cause?: unknown) {
    super('store_unavailable', 'the session of a lock has ended', cause)
  }
}

/** @returns The name of the lock of a request for a batch. */
export const lockOfBatch = (request: Hex) => `batch ${request}`

/** @returns The name of the lock of an account, for whoever sends transactions with it. */
export const lockOfAccount = (account: Hex) => `account ${account}`
