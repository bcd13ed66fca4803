import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { DocumentKey } from '#verifier/ports.ts'
import { IssueError } from './errors.ts'

/** The places that can have the bytes. */
export const ERASED_FROM = ['database', 'kubo'] as const
export type ErasedFrom = (typeof ERASED_FROM)[number]

/** The places that the service does not clean. docs/operate.md says how long each has the bytes. */
export const REMAINS_IN = ['database_files', 'write_ahead_log', 'replicas', 'backups'] as const
export type RemainsIn = (typeof REMAINS_IN)[number]

/** The receipt of an erasure. */
export type Erasure = {
  documentHash: Hex
  /** Milliseconds of the Unix epoch; `null` while bytes may be left in the places of `removed`. */
  erasedAt: number | null
  /** The places that had the bytes; empty when this gateway had none of them. */
  removed: readonly ErasedFrom[]
  /** The places where copies may be left. */
  remains: readonly RemainsIn[]
}

/** The erasures of this gateway on disk. */
export type Erasures = {
  /**
   * Makes it durable that a document is erased. From now on no part of the gateway returns or
   * stores its bytes, and the erasure continues after a restart. Does nothing when it was already
   * begun.
   *
   * @param tenant The tenant of the API key that requested it.
   * @param actor Who requested it; see `formatActor`.
   */
  begin(documentHash: Hex, tenant: string, actor?: string): Promise<Erasure>
  /** @returns `undefined` for a document that was not erased here. */
  find(documentHash: Hex): Promise<Erasure | undefined>
  /** Some erasures that have begun and are not finished, the oldest first. */
  unfinished(): Promise<Hex[]>
  /**
   * Makes sure that copies of these documents are at most in the places of `remains`, and then
   * writes their receipts.
   *
   * @param removed The documents that were removed from Kubo.
   */
  finish(documentHashes: readonly Hex[], removed: ReadonlySet<Hex>): Promise<void>
  /**
   * @param begun Called when an erasure may have begun, also at another gateway.
   * @returns A function that stops listening.
   */
  listen(begun: () => void): () => void
}

/**
 * Whether the erasure of a document has begun. Then nothing of the document is returned or stored.
 */
export type IsErased = (documentHash: Hex) => Promise<boolean>

export type Erasing = {
  /**
   * Erases a document, whatever its status on the chain. Its record stays there.
   *
   * @param request.wait Milliseconds to wait until all bytes are removed; the erasure continues
   * after that.
   * @throws {IssueError} `not_issued` when neither gateway nor chain knows the document;
   * `store_unavailable` when nothing was done, and nothing will be.
   */
  erase(
    key: DocumentKey,
    request: { tenant: string; actor?: string; wait: number },
  ): Promise<Erasure>
  /**
   * Removes the bytes of documents whose erasure has begun here or at another gateway. This is a
   * chore, which one gateway does at a time.
   *
   * @returns A function that stops it.
   */
  start(): () => Promise<void>
}

const RETRY_INTERVAL_MS = 5_000
/** How long to wait between reads of an erasure that another gateway finishes. */
const LOOK_INTERVAL_MS = 100

/**
 * Erases documents. The order keeps this safe: first the entry on disk, which hides the document
 * and survives a kill; then the bytes; then the receipt.
 */
export function createErasing(
  deps: RemovalDeps & {
    /** @returns Whether this gateway or the chain has the document. */
    isKnown: (key: DocumentKey) => Promise<boolean>
    /** Forgets all documents that are cached in memory. */
    forget: () => void
  },
): Erasing {
  const { erasures } = deps
  /** Absent while another gateway does the chore. */
  let removal: Removal | undefined

  /** A pass that is already running may have missed this erasure, so another follows it. */
  async function waitFor(documentHash: Hex, wait: number): Promise<void> {
    const over = new AbortController()
    const { signal } = over
    const late = sleep(wait, true, { signal }).catch(() => true)
    try {
      while (!(await isFinished(documentHash))) {
        const failed = removal
          ? removal.pass().then((finished) => !finished)
          : sleep(LOOK_INTERVAL_MS, false, { signal }).catch(() => true)
        if (await Promise.race([failed, late])) return
      }
    } finally {
      over.abort()
    }
  }

  /**
   * @returns The receipt. While the database is away, other gateways read Kubo and may not know of
   * this erasure, so the bytes are then removed there at once.
   */
  async function receiptOf(documentHash: Hex): Promise<Erasure | undefined> {
    try {
      return await erasures.find(documentHash)
    } catch {
      await deps.removeFromKubo(documentHash).catch(() => {})
      return undefined
    }
  }

  async function isFinished(documentHash: Hex): Promise<boolean> {
    const erasure = await erasures.find(documentHash)
    return erasure !== undefined && erasure.erasedAt !== null
  }

  return {
    async erase(key, { tenant, actor, wait }) {
      const { documentHash } = key
      const before = await erasures.find(documentHash)
      if (!before && !(await deps.isKnown(key)))
        throw new IssueError('not_issued', 'no such document to erase')
      const begun = before ?? (await erasures.begin(documentHash, tenant, actor))
      deps.forget()
      // The erasure is promised by now, so a failure to wait must not become an error.
      await waitFor(documentHash, wait).catch(() => {})
      return (await receiptOf(documentHash)) ?? begun
    },
    start() {
      const started = createRemoval(deps)
      removal = started
      const end = erasures.listen(() => {
        // The running pass may have missed this erasure.
        started.pass().then(started.pass)
      })
      started.pass()
      return async () => {
        end()
        removal = undefined
        await started.stop()
      }
    },
  }
}

type RemovalDeps = {
  erasures: Erasures
  /** Removes a payload from a store outside the database. @returns Whether the store had it. */
  removeFromKubo: (documentHash: Hex) => Promise<boolean>
  log: Log
}

type Removal = {
  /**
   * Works through the erasures that have begun, one pass at a time, and again later after a
   * failure.
   *
   * @returns Whether all of them are finished.
   */
  pass(): Promise<boolean>
  stop(): Promise<void>
}

function createRemoval({ erasures, removeFromKubo, log }: RemovalDeps): Removal {
  const stopping = new AbortController()
  let passing: Promise<boolean> | undefined
  let retrying = false

  /** A document that cannot be removed does not hold up the others. */
  async function finishSome(hashes: readonly Hex[]): Promise<void> {
    const done: Hex[] = []
    const removed = new Set<Hex>()
    let failure: unknown
    for (const hash of hashes) {
      try {
        if (await removeFromKubo(hash)) removed.add(hash)
        done.push(hash)
      } catch (error) {
        failure ??= error
      }
    }
    await erasures.finish(done, removed)
    if (done.length > 0) log.info('documents_erased', { documents: done.length })
    if (failure) throw failure
  }

  async function finishAll(): Promise<boolean> {
    try {
      while (!stopping.signal.aborted) {
        const hashes = await erasures.unfinished()
        if (hashes.length === 0) return true
        await finishSome(hashes)
      }
    } catch (error) {
      log.warn('erasures_not_finished', { error: String(error) })
      retry()
    }
    return false
  }

  function pass(): Promise<boolean> {
    passing ??= finishAll().finally(() => {
      passing = undefined
    })
    return passing
  }

  function retry(): void {
    if (retrying) return
    retrying = true
    sleep(RETRY_INTERVAL_MS, undefined, { signal: stopping.signal })
      .then(() => {
        retrying = false
        return pass()
      })
      .catch(() => {})
  }

  return {
    pass,
    async stop() {
      stopping.abort()
      await passing
    },
  }
}
