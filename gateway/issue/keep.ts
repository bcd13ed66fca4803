import type { Sealed } from '../../document/sealed.ts'
import type { Intent, Outbox, PayloadStore } from './ports.ts'

/** Makes a payload and the promise to anchor it durable: never the promise without the payload. */
export type Keep = (intent: Intent, sealed: Sealed) => Promise<void>

/**
 * In one transaction: for a store that is in the outbox's own database, where both happen or neither. The outbox needs no copy of
 * the sealed bytes then: it could only be lost together with the first.
 */
export function keepTogether(store: PayloadStore, outbox: Outbox): Keep {
  return async (intent, { documentHash, bytes }) => {
    await Promise.all([store.put(documentHash, bytes), outbox.add(intent)])
  }
}

/** One after the other: for a store of its own, whose failure must leave nothing promised. */
export function keepInOrder(store: PayloadStore, outbox: Outbox): Keep {
  return async (intent, { documentHash, bytes }) => {
    await store.put(documentHash, bytes)
    await outbox.add(intent, bytes)
  }
}
