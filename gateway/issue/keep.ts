import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import type { Sealed } from '../../document/sealed.ts'
import type { Intent, Outbox, PayloadStore } from './ports.ts'

/** Payloads and the promises to anchor them. */
export type Keep = {
  /**
   * Makes a payload and the promise to anchor it durable: never the promise without the payload.
   *
   * @returns Whether the promise is new. A promise that was kept and left the outbox is not new where
   *   the store can tell that its payload was there before; of concurrent calls one is new.
   */
  add(intent: Intent, sealed: Sealed): Promise<boolean>
  /**
   * Takes back intents that no transaction ever carried, with the payloads that they inserted. A
   * payload that was there before them is that of a document acknowledged earlier, and stays.
   */
  withdraw(intents: readonly Intent[]): Promise<void>
  /** For a document that is on the chain: its payload is there when this resolves, and stays. */
  restore(sealed: Sealed): Promise<void>
}

/**
 * One after the other: for a store of its own, whose failure must leave nothing promised.
 *
 * @param store Takes back each `put` on its own (Kubo: each has its own pin), since another request or
 *   gateway may put the same before a removal is done.
 * @param leftBehind Receives why payloads of withdrawn intents were not removed. Nobody waits for
 *   that: at worst, a sealed document stays that was never issued.
 */
export function keepInOrder(
  store: PayloadStore,
  outbox: Outbox,
  leftBehind: (error: unknown) => void,
): Keep {
  /** By documentHash, until the payloads that are being put have their rows. */
  const adding = new Map<Hex, Promise<unknown>>()

  async function add(intent: Intent, { documentHash, bytes }: Sealed) {
    const inserted = await store.put(documentHash, bytes)
    const added = await outbox.add(intent, { inserted, sealed: bytes })
    return added && inserted
  }

  return {
    add(intent, sealed) {
      const { documentHash } = intent
      const added = add(intent, sealed)
      const all = Promise.allSettled([adding.get(documentHash), added])
      adding.set(documentHash, all)
      all.then(() => {
        if (adding.get(documentHash) === all) adding.delete(documentHash)
      })
      return added
    },
    async withdraw(intents) {
      const inserted = await outbox.withdraw(intents)
      const removals = inserted.map((hash) => store.remove(fromHex(hash)))
      Promise.all(removals).catch(leftBehind)
    },
    restore: (sealed) =>
      restore(store, outbox, sealed, (hash) => adding.get(hash)),
  }
}

/** Looks at the store while a payload is restored; more than two take a withdrawal between each two. */
const MAX_LOOKS = 4

/**
 * See `Keep`. An intent that another request is adding may insert the payload meanwhile. So the
 * intent is looked for after the payload is there, and gives it up; and a withdrawal that came
 * between is found by another look.
 *
 * @param added Resolves once those that are adding the payload now have added their intent too.
 */
export async function restore(
  store: PayloadStore,
  outbox: Outbox,
  { documentHash, bytes }: Sealed,
  added: (hash: Hex) => Promise<unknown> | undefined = () => undefined,
): Promise<void> {
  const hash = toHex(documentHash)
  for (let look = 0; look < MAX_LOOKS; look++) {
    const { status } = await store.get(documentHash)
    if (status !== 'missing' && look > 0) return
    if (status === 'missing') await store.put(documentHash, bytes)
    await added(hash)
    if (outbox.find('issue', hash)?.transactionHash === null)
      await outbox.disown(hash)
  }
}
