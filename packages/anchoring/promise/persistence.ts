import { setTimeout as sleep } from 'node:timers/promises'
import type { Deadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import { fromHex, toHex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import type { Anchoring } from './anchoring.ts'
import { IssueError } from './errors.ts'
import type { IssueIntent } from './intent.ts'
import type {
  Added,
  Adopting,
  IndexedSealed,
  Outbox,
  PayloadStore,
  PromisedPayload,
  PromisedPayloads,
} from './ports.ts'

/** How long to wait between attempts to restore payloads while their store does not answer. */
const RETRY_INTERVAL_MS = 5_000

/** Payloads and the promises to anchor them. A promise that is durable is never taken back. */
export type Persistence = {
  /**
   * Makes a payload and the promise to anchor it durable, but never the promise without the
   * payload.
   *
   * @returns See `Outbox`.
   * @throws {IssueError} `outcome_unknown` when no answer came. A repeat does no harm.
   */
  add(intent: IssueIntent, sealed: IndexedSealed): Promise<Added>
  /**
   * Restores the payload of a document that is on the chain. When this resolves, the payload is
   * there and stays.
   */
  restore(sealed: Sealed): Promise<void>
  /** Guards a document that another gateway may have issued; see `Adopting`. */
  adopt(intent: IssueIntent, anchoring: Anchoring, sealed: IndexedSealed): Promise<void>
}

/**
 * Writes the payload first and then the outbox, for a separate store. If the outbox fails, a payload
 * stays that nobody can open.
 */
export function persistInOrder(store: PayloadStore, outbox: Outbox & Adopting): Persistence {
  return {
    async add(intent, { documentHash, bytes: sealed, entry }) {
      await store.put(documentHash, sealed)
      return outbox.add(intent, { payload: { sealed, entry } })
    },
    restore: (sealed) => restore(store, sealed),
    adopt: (intent, anchoring, { bytes: sealed, entry }) =>
      outbox.adopt(intent, anchoring, { sealed, entry }),
  }
}

/** See `Persistence`. */
export async function restore(store: PayloadStore, { documentHash, bytes }: Sealed): Promise<void> {
  const { status } = await store.get(documentHash)
  if (status === 'missing') await store.put(documentHash, bytes)
}

/** How long to wait before a write is repeated whose answer was lost. */
const REPEAT_INTERVAL_MS = 100

/**
 * Repeats a write until the store says what became of it.
 *
 * @param write Does nothing more when it is repeated.
 * @throws {IssueError} `outcome_unknown` when the deadline has passed, and no answer came since the
 * first one was lost: it may have been written.
 */
export async function untilAnswered<T>(deadline: Deadline, write: () => Promise<T>): Promise<T> {
  let lost: IssueError | undefined
  while (true) {
    try {
      return await (lost ? deadline.within(write) : write())
    } catch (error) {
      if (error instanceof IssueError && error.code === 'outcome_unknown') lost ??= error
      if (lost === undefined) throw error
      if (deadline.left() === 0) throw lost
    }
    await sleep(Math.min(REPEAT_INTERVAL_MS, deadline.left()))
  }
}

/**
 * Restores lost payloads of documents that were promised or not yet final when this was called. The
 * batcher and the finality watch read the same rows and check them on the chain.
 *
 * @param deps.signal Stops it.
 * @returns When it is done or stopped. Never rejects: it retries until the store answers.
 */
export async function restorePayloads(deps: {
  outbox: Pick<PromisedPayloads, 'payloads'>
  store: PayloadStore
  signal: AbortSignal
  log: Log
}): Promise<void> {
  const { outbox, store, signal, log } = deps
  let restored = 0

  async function restoreLost(some: readonly PromisedPayload[]): Promise<void> {
    const hashes = some.map(({ documentHash }) => fromHex(documentHash))
    const lost = new Set((await store.missing(hashes)).map(toHex))
    const puts = some.filter(({ documentHash }) => lost.has(documentHash))
    await Promise.all(puts.map((one) => store.put(fromHex(one.documentHash), one.sealed)))
    restored += lost.size
  }

  async function restoreAll(): Promise<boolean> {
    try {
      for await (const some of outbox.payloads()) {
        if (signal.aborted) break
        await restoreLost(some)
      }
      return true
    } catch (error) {
      log.warn('payloads_not_checked', { error: String(error) })
      return false
    }
  }

  while (!(await restoreAll()) && !signal.aborted)
    await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {})
  if (restored > 0) log.info('payloads_restored', { blocks: restored })
}
