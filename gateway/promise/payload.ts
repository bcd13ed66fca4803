import type { Hex } from '#document/hex.ts'
import type { Sealed } from '#document/sealed.ts'
import type { IndexEntry } from './document-index.ts'

/** A sealed document, and what the index gets to know about it. */
export type IndexedSealed = Sealed & { entry?: IndexEntry }

/** What the outbox stores about the payload of a document to issue. */
export type Payload = {
  /**
   * Whether the intent inserted it in the store: only then is it removed with the intent.
   */
  inserted: boolean
  /**
   * The sealed bytes (never plaintext), to restore them in a payload store that lost them; absent
   * when the store is in the same database.
   */
  sealed?: Uint8Array
  /** Goes into the index of documents, in the same transaction. */
  entry?: IndexEntry | undefined
}

export type PromisedPayload = { documentHash: Hex; sealed: Uint8Array }
