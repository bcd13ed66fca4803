import type { Hex } from '#document/hex.ts'

/**
 * The data of a document in the index besides its hash. The index can be dropped and rebuilt.
 * Whoever steals it learns no name, because values are stored as blind indexes (blind-index.ts):
 * the same value under the same key is the same number.
 */
export type IndexEntry = {
  /** `issuedAt` in days since 1970-01-01. */
  issuedOn: number
  /** Seconds of the Unix epoch; 0 = never expires. */
  validUntil: number
  /** Blind indexes of `subjectId` and `category`. */
  subject: bigint
  category: bigint
  /** The tenant whose API key issued it; `null` when it is unknown. */
  tenant: string | null
  /** For a document in a batch, the sha-256 of its batch block, as in its publicId. */
  batchBlock?: Hex
  /** The documentHash of the document that it supersedes. */
  supersedes?: Hex | undefined
  /** The root of that document's batch, if it is in one. */
  supersededRoot?: Hex | undefined
  /** The digest of the idempotency key, 16 bytes. */
  request?: Uint8Array | undefined
}

/** The statuses by which the index can be searched. */
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

/** The statuses that are stored in the index. The others follow from block and expiry. */
export type KeptStatus = Extract<
  ListedStatus,
  'suspended' | 'revoked' | 'superseded' | 'distrusted'
>

/** A document as it is in the index. */
export type IndexedDocument = {
  /** Its place in lists. Documents that were requested later have higher places. */
  place: number
  documentHash: Hex
  batchBlock: Hex | null
  /** The block that anchored it; `null` while it is pending. */
  blockNumber: number | null
  /**
   * The change that this gateway knows of; `null` = none. Another account may have made one, so
   * only the chain can say that a document is valid.
   */
  status: KeptStatus | null
  /**
   * When it was first promised, in seconds of the Unix epoch; after a recovery, the time of its
   * block. `null` when it was promised before this was recorded.
   */
  createdAt: number | null
}

/** A document of the index, with its owner. */
export type OwnedDocument = IndexedDocument &
  Pick<IndexEntry, 'validUntil' | 'tenant'> & {
    /** The blind index of its category; `null` when its content is unknown. */
    category: bigint | null
    /** The root of its batch, if it is in one. */
    root: Hex | null
  }

/**
 * A search. In a list of blind indexes one must match, because there is one for each issuer secret.
 */
export type IndexQuery = {
  subject?: readonly bigint[]
  category?: readonly bigint[]
  tenant?: string
  status?: ListedStatus | undefined
  /** The root of a batch. */
  batch?: Hex | undefined
  /** Days since 1970-01-01, inclusive. */
  issuedFrom?: number | undefined
  issuedTo?: number | undefined
  /** The days of `createdAt`, also inclusive. */
  createdFrom?: number | undefined
  createdTo?: number | undefined
  /** Only documents at lower places. */
  before?: number | undefined
  limit: number
}

export type IndexPage = {
  /** The documents by place, the highest first. */
  documents: IndexedDocument[]
  /**
   * The place where the next page begins; `null` after the last page. A page with a next one may be
   * empty.
   */
  next: number | null
}

export type DocumentIndex = {
  page(query: IndexQuery): Promise<IndexPage>
  /** @returns `undefined` for a document that is not in the index. */
  find(documentHash: Hex): Promise<OwnedDocument | undefined>
  /** Corrects statuses after reading the chain. It is durable when the promise resolves. */
  correct(found: readonly { documentHash: Hex; status: KeptStatus | null }[]): Promise<void>
}
