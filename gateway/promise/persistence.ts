import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import type { Anchoring } from './anchoring.ts'
import type { Intent, IssueIntent } from './intent.ts'
import type {
  Anchorings,
  IndexedSealed,
  Outbox,
  PayloadStore,
  PromisedPayload,
  PromisedPayloads,
} from './ports.ts'

/** How long to wait between attempts to restore payloads while their store does not answer. */
const RETRY_INTERVAL_MS = 5_000

/** Payloads and the promises to anchor them. */
export type Persistence = {
  /**
   * Makes a payload and the promise to anchor it durable, but never the promise without the
   * payload.
   *
   * @param promised Whether the caller will be told `pending` in any case.
   * @returns Whether the promise is new. A promise that was fulfilled and left the outbox is not
   * new, if the store can tell that it had the payload before; of concurrent calls one is new.
   * `has_successor` when it supersedes a document that has another successor: nothing is promised.
   */
  add(intent: Intent, sealed: IndexedSealed, promised?: boolean): Promise<boolean | 'has_successor'>
  /**
   * Withdraws intents that were not promised and that no transaction ever carried, with the
   * payloads that they added. A payload that was there before belongs to a document that was
   * acknowledged earlier, and stays.
   *
   * @returns The withdrawn intents.
   */
  withdraw(intents: readonly Intent[]): Promise<Intent[]>
  /**
   * Restores the payload of a document that is on the chain. When this resolves, the payload is
   * there and stays.
   */
  restore(sealed: Sealed): Promise<void>
  /** Guards a document that another gateway may have issued; see `Anchorings`. */
  adopt(intent: IssueIntent, anchoring: Anchoring, sealed: IndexedSealed): Promise<void>
}

/**
 * Writes the payload first and then the outbox. This is for a separate store, whose failure must
 * leave nothing promised.
 *
 * @param store Undoes each `put` separately (in Kubo each has its own pin), because another request
 * or gateway may put the same payload before it is removed.
 * @param leftBehind Receives the error when payloads of withdrawn intents were not removed. No
 * request waits for the removal: at worst a sealed document remains that was never issued.
 */
export function persistInOrder(
  store: PayloadStore,
  outbox: Outbox & PromisedPayloads & Pick<Anchorings, 'adopt'>,
  leftBehind: (error: unknown) => void,
): Persistence {
  /** The payloads that are being put and have no row yet, by documentHash. */
  const adding = new Map<Hex, Promise<unknown>>()

  async function add(intent: Intent, sealed: IndexedSealed, promised?: boolean) {
    const { documentHash, bytes, entry } = sealed
    const inserted = await store.put(documentHash, bytes)
    const payload = { inserted, sealed: bytes, entry }
    const added = await outbox.add(intent, promised, payload)
    if (added !== 'has_successor') return added && inserted
    if (inserted) store.remove(documentHash).catch(leftBehind)
    return added
  }

  return {
    add(intent, sealed, promised) {
      const { documentHash } = intent
      const added = add(intent, sealed, promised)
      const all = Promise.allSettled([adding.get(documentHash), added])
      adding.set(documentHash, all)
      all.then(() => {
        if (adding.get(documentHash) === all) adding.delete(documentHash)
      })
      return added
    },
    async withdraw(intents) {
      const withdrawn = await outbox.withdraw(intents)
      const removals = withdrawn.inserted.map((hash) => store.remove(fromHex(hash)))
      Promise.all(removals).catch(leftBehind)
      return withdrawn.intents
    },
    restore: (sealed) => restore(store, outbox, sealed, (hash) => adding.get(hash)),
    adopt: (intent, anchoring, { bytes: sealed, entry }) =>
      outbox.adopt(intent, anchoring, { sealed, entry }),
  }
}

/**
 * The maximum number of reads of the store while a payload is restored. The third one finds a
 * withdrawal in between.
 */
const MAX_LOOKS = 4

/**
 * See `Persistence`. Another request may add the payload with its intent at the same time, so once
 * the payload is there, this looks for the intent, which then no longer owns the payload. Another
 * read finds a withdrawal that came in between.
 *
 * @param added Resolves once the requests that are adding this payload have also added their
 * intents.
 */
export async function restore(
  store: PayloadStore,
  outbox: Outbox & PromisedPayloads,
  { documentHash, bytes }: Sealed,
  added: (hash: Hex) => Promise<unknown> | undefined = () => undefined,
): Promise<void> {
  const hash = toHex(documentHash)
  for (let look = 0; look < MAX_LOOKS; look++) {
    const { status } = await store.get(documentHash)
    if (status !== 'missing' && look > 0) return
    if (status === 'missing') await store.put(documentHash, bytes)
    await added(hash)
    const standing = await outbox.find('issue', hash)
    if (standing?.outcome.transactionHash === null) await outbox.disown(hash)
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
