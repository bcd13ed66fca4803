import type { Hex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import type { IndexEntry } from './document-index.ts'

/** A sealed document with its data for the index. */
export type IndexedSealed = Sealed & { entry?: IndexEntry }

/** The data that the outbox stores about the payload of a document to issue. */
export type Payload = {
  /** Whether the intent added the payload to the store. Only then is it removed with the intent. */
  inserted: boolean
  /**
   * The sealed bytes (never plaintext), to restore a payload that its store has lost; absent when
   * the store is in the same database.
   */
  sealed?: Uint8Array
  /** The entry for the index of documents, written in the same transaction. */
  entry?: IndexEntry | undefined
}

export type PromisedPayload = { documentHash: Hex; sealed: Uint8Array }
