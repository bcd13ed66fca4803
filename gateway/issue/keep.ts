import { fromHex, toHex } from '../../document/hex.ts'
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
  return {
    async add(intent, { documentHash, bytes }) {
      const inserted = await store.put(documentHash, bytes)
      const added = await outbox.add(intent, { inserted, sealed: bytes })
      return added && inserted
    },
    async withdraw(intents) {
      const inserted = await outbox.withdraw(intents)
      const removals = inserted.map((hash) => store.remove(fromHex(hash)))
      Promise.all(removals).catch(leftBehind)
    },
    restore: (sealed) => restore(store, outbox, sealed),
  }
}

/** See `Keep`. The intent gives up its payload first, so that no withdrawal removes it after the look. */
export async function restore(
  store: PayloadStore,
  outbox: Outbox,
  { documentHash, bytes }: Sealed,
): Promise<void> {
  const hash = toHex(documentHash)
  if (outbox.find('issue', hash)?.transactionHash === null)
    await outbox.disown(hash)
  const { status } = await store.get(documentHash)
  if (status === 'missing') await store.put(documentHash, bytes)
}
