import { toHex } from '#document/hex.ts'
import type { BatchDrafts } from '#promise/batch-log.ts'
import { IssueError } from '#promise/errors.ts'
import { type Lock, type Locks, lockOfBatch } from '#promise/lock.ts'

/**
 * Runs the work of requests for batches. Work that fails leaves nothing behind that was not
 * promised.
 */
export type Alone = {
  /**
   * Runs the work of a request and deletes its draft if the work fails. The same request runs only
   * once at a time.
   *
   * @param work Receives the lock of the request.
   * @throws {IssueError} `overloaded` while the same request is being worked on.
   */
  run<T>(request: Uint8Array, work: (lock: Lock) => Promise<T>): Promise<T>
  /** Deletes what earlier processes left behind. `run` waits for this. */
  start(): void
}

export type AloneDeps = {
  drafts: BatchDrafts
  locks: Locks
  /** Aborts when the service stops. */
  signal: AbortSignal
  /** Reports how many requests earlier processes left behind, or why these could not be deleted. */
  discarded: (result: { requests: number } | { error: unknown }) => void
}

export function createAlone({ drafts, locks, signal, discarded }: AloneDeps): Alone {
  const underWay = new Set<string>()
  /** What follows an answer: the request may come again before it is done. */
  const leaving = new Map<string, Promise<void>>()
  let discarding: Promise<void> | undefined

  /** Runs before anything is stored, because the new request may be the same as a deleted one. */
  function discardOlder(): Promise<void> {
    discarding ??= drafts.discardAll(signal).then(
      (requests) => discarded({ requests }),
      (error) => {
        discarding = undefined
        discarded({ error })
        throw error
      },
    )
    return discarding
  }

  return {
    async run(request, work) {
      const name = toHex(request)
      if (underWay.has(name))
        throw new IssueError('overloaded', 'the same batch is already being issued')
      underWay.add(name)
      // If this cannot delete the draft, the next start does.
      const discard = async () => {
        // Another gateway continues with the draft.
        if (!lock?.ended.aborted) await drafts.discard(request).catch(() => {})
      }
      let lock: Lock | undefined
      const release = async () => lock?.release().catch(() => {})
      try {
        await leaving.get(name)
        lock = await locks.take(lockOfBatch(name))
        if (!lock) throw new IssueError('overloaded', 'another gateway is issuing this batch')
        await discardOlder()
        const result = await work(lock)
        // Only notes remain, because the batch is promised. The answer does not wait for their
        // deletion.
        const left = discard().then(release)
        leaving.set(name, left)
        void left.then(() => leaving.delete(name))
        return result
      } catch (error) {
        if (lock) await discard()
        await release()
        throw error
      } finally {
        underWay.delete(name)
      }
    },
    start: () => void discardOlder().catch(() => {}),
  }
}
