import type { Hex } from '#document/hex.ts'

/**
 * What the index keeps of a document beside its hash. It can be dropped and rebuilt. Whoever steals
 * it learns no name: values are in it as blind indexes (blind-index.ts), the same value under the
 * same key as the same number.
 */
export type IndexEntry = {
  /** `issuedAt` as days since 1970-01-01. */
  issuedOn: number
  /** Seconds of the Unix epoch; 0 = never expires. */
  validUntil: number
  /** Blind indexes of `subjectId` and `category`. */
  subject: bigint
  category: bigint
  /** Blind index of the tenant whose API key issued it; `null` when that is unknown. */
  tenant: bigint | null
  /** Of a document of a batch: the sha-256 of its batch block, as in its publicId. */
  batchBlock?: Hex
  /** The documentHash of the document that it supersedes. */
  supersedes?: Hex
  /** The root of that document's batch, if it is in one. */
  supersededRoot?: Hex | undefined
}

/** The statuses that an index can be asked for. */
export const LISTED_STATUSES = [
  'pending',
  'valid',
  'expired',
  'suspended',
  'revoked',
  'superseded',
  'distrusted',
] as const
export type ListedStatus = (typeof LISTED_STATUSES)[number]

/** Statuses that are kept in the index; the others follow from block and expiry. */
export type KeptStatus = Extract<
  ListedStatus,
  'suspended' | 'revoked' | 'superseded' | 'distrusted'
>

/** A document as the index has it. */
export type IndexedDocument = {
  /** Its place in lists: documents requested later have higher ones. */
  place: number
  documentHash: Hex
  batchBlock: Hex | null
  /** The block that anchored it; `null` while it is pending. */
  blockNumber: number | null
  /**
   * The change that this gateway knows of; `null` for none. Another account may have made one: only
   * the chain can say that a document is valid.
   */
  status: KeptStatus | null
  /**
   * When it was promised first, in seconds of the Unix epoch; after a recovery the time of its
   * block. `null` when it was promised before this was recorded.
   */
  createdAt: number | null
}

/** A document of the index, with what tells whose it is. */
export type OwnedDocument = IndexedDocument &
  Pick<IndexEntry, 'validUntil' | 'tenant'> & {
    /** The blind index of its category; `null` when its content is unknown. */
    category: bigint | null
    /** The root of its batch, if it is in one. */
    root: Hex | null
  }

/** What to list. Of a list of blind indexes, one must fit: there is one for each issuer secret. */
export type IndexQuery = {
  subject?: readonly bigint[]
  category?: readonly bigint[]
  tenant?: readonly bigint[]
  status?: ListedStatus | undefined
  /** Days since 1970-01-01, inclusive. */
  issuedFrom?: number | undefined
  issuedTo?: number | undefined
  /** Of `createdAt`, likewise. */
  createdFrom?: number | undefined
  createdTo?: number | undefined
  /** Only documents at lower places. */
  before?: number | undefined
  limit: number
}

export type IndexPage = {
  /** By place, the highest first. */
  documents: IndexedDocument[]
  /** Where the next page goes on; `null` after the last. A page with a next one may be empty. */
  next: number | null
}

export type DocumentIndex = {
  page(query: IndexQuery): Promise<IndexPage>
  /** @returns `undefined` for a document that is not in the index. */
  find(documentHash: Hex): Promise<OwnedDocument | undefined>
  /** Whether a place is of an index that has been dropped since. */
  isDropped(place: number): Promise<boolean>
  /** Corrects statuses after a look at the chain; durable when it resolves. */
  correct(found: readonly { documentHash: Hex; status: KeptStatus | null }[]): Promise<void>
}
