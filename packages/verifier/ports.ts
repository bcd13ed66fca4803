import type { BatchBlock } from '../document/batch/block.ts'
import type { Document } from '../document/document.ts'
import type { Hex } from '../document/hex.ts'
import type { RegistryId } from '../document/registry-id.ts'
import type { StateProof } from '../document/state-proof.ts'
import type { IdentityAddress, IdentityStatement } from './identity.ts'

/**
 * Sends one JSON-RPC request (EIP-1193). Rejects with an `RpcResponseError` for the node's own
 * error; any other error counts as unreachable.
 */
export type Eip1193Provider = {
  request(args: {
    method: string
    params?: readonly unknown[]
    /** Not part of EIP-1193: a provider may use it to cancel; others ignore it. */
    signal?: AbortSignal
  }): Promise<unknown>
}

/** The statuses of a document in the registry, in the order of its `Status`. */
export const REGISTRY_STATUSES = [
  'not_issued',
  'valid',
  'expired',
  'suspended',
  'revoked',
  'superseded',
  'distrusted',
] as const
export type RegistryStatus = (typeof REGISTRY_STATUSES)[number]

/** The place of a document in a batch. */
export type BatchPath = Pick<BatchBlock, 'root' | 'validUntil' | 'proof'>

/** The key of a record, because several issuers can have the same hash. */
export type DocumentKey = {
  issuerId: number
  documentHash: Hex
  /** For a document in a batch; absent = issued alone. */
  batch?: BatchPath
}

/** The record of a document in the registry. Times are Unix seconds. */
export type RegistryRecord = {
  accountIndex: number
  /** 0 = not issued alone. Such a record may still have a revocation. */
  anchoredBlock: number
  anchoredAt: number
  /** The first second at which it is no longer valid; 0 = never expires. */
  validUntil: number
  revokerIndex: number
  /** 0 = never revoked, suspended or released. */
  revokedBlock: number
  revokedAt: number
  /**
   * The RFC 5280 reason code: 6 = suspended, 8 = released (suspended if the releaser is
   * distrusted). It has no meaning while `revokedBlock` is 0.
   */
  reason: number
  /** Whether a final revocation was released or replaced because its revoker is distrusted. */
  setAside: boolean
}

/** An account of an issuer. A block of 0 means that the event did not happen. */
export type RegistryAccount = {
  account: Hex
  accountIndex: number
  /** The sum of 1 ISSUE, 2 REVOKE, 4 MANAGE, 8 DELEGATE; 0 = retired. */
  permissions: number
  addedBlock: number
  changedBlock: number
  retiredBlock: number
  /**
   * Documents issued at or after this block are distrusted, and documents released then are
   * suspended; 0 = trusted.
   */
  distrustedFrom: number
}

export type RegistryIssuer = {
  id: number
  name: string
  uri: string
  /** The number of documents issued alone. */
  documentCount: number
  /** The number of batches. */
  batchCount: number
  /** The number of accounts that it ever had. */
  accountCount: number
  changedBlock: number
  /** 0 = open. */
  closedBlock: number
}

/**
 * The registry's data about a document at one block. If `record.anchoredBlock` is 0, account and
 * issuer are all zero except for the issuer's id.
 */
export type ChainReading = {
  blockNumber: number
  /** For a reading with a proof, the hash of the block against which it is proven. */
  blockHash?: Hex
  /** The proof itself. */
  stateProof?: StateProof
  blockTime: number
  status: RegistryStatus
  record: RegistryRecord
  /** The account that issued it. */
  account: RegistryAccount
  /** The account that last revoked, suspended or released it; `null` while no account did. */
  revoker: RegistryAccount | null
  issuer: RegistryIssuer
}

/** The `DocumentIssued` or `BatchIssued` event with its place on the chain. */
export type IssuedEvent = {
  issuerId: number
  account: Hex
  /** `null` in the event of a batch. */
  validUntil: number | null
  transactionHash: Hex
  blockHash: Hex
  logIndex: number
}

/** How safe a block is from reorgs, by the chain's tags. */
export const FINALITIES = ['included', 'safe', 'finalized'] as const
export type Finality = (typeof FINALITIES)[number]

/**
 * The options of a read. Once `signal` aborts, the read rejects, even if an implementation ignores
 * the signal.
 */
export type ReadOptions = { signal?: AbortSignal | undefined }

/** Reads one registry. Every method rejects with a `ChainError` when it could not be read. */
export type ChainReader = {
  /** The CAIP-10 account ID of the registry that it reads. */
  readonly registry: RegistryId
  /**
   * @param options.block The block at which to read; absent = the newest. Never returns a reading
   * at another block.
   */
  read(
    key: DocumentKey,
    options?: ReadOptions & { block?: number | undefined },
  ): Promise<ChainReading>
  /**
   * @param options.fresh Bypasses caches, after a cached answer was contradicted.
   * @returns `undefined` when that block has no such event.
   */
  issuedEvent(
    key: DocumentKey,
    blockNumber: number,
    options?: ReadOptions & { fresh?: boolean | undefined },
  ): Promise<IssuedEvent | undefined>
  /**
   * @param blockNumber At least 1, because a missing record has no block. Rejects when finality is
   * unknown.
   */
  finalityOf(blockNumber: number, options?: ReadOptions): Promise<Finality>
  /** @returns The time of a block in Unix seconds, for information only. */
  blockTime(blockNumber: number, options?: ReadOptions): Promise<number>
}

/**
 * The answer of a block source. Only a source that its reader trusts (the gateway's store) may
 * answer `erased`; from any other source it proves nothing.
 */
export type BlockRead =
  | { status: 'found'; bytes: Uint8Array }
  | { status: 'missing' }
  | { status: 'erased' }

/** A domain's DID document; `not_asked` from a source that has not requested it yet. */
export type IdentityRead =
  | {
      status: 'found'
      bytes: Uint8Array
      /** The result of `readDidDocument`, if the source has already read the bytes. */
      statement?: IdentityStatement
    }
  | { status: 'too_large' }
  | { status: 'not_asked' }

/** Reads DID documents, which are not trusted. Rejects when the document is unavailable. */
export type IdentitySource = {
  read(address: IdentityAddress, options?: ReadOptions): Promise<IdentityRead>
}

/**
 * Reads blocks by their sha-256 (32 bytes). The bytes are not trusted: the caller hashes them.
 * Rejects when the source fails.
 */
export type BlockSource = {
  get(hash: Uint8Array, options?: ReadOptions): Promise<BlockRead>
}

/**
 * Caches opened documents, whose sealed bytes and keys never change. Their records are still read
 * from the chain for every verdict. Erasing a document must remove it here.
 */
export type OpenedDocuments = {
  /**
   * @param documentKey 16 bytes.
   * @returns The document added for this hash and key, or `undefined`.
   */
  get(documentHash: Hex, documentKey: Uint8Array): Promise<Document | undefined>
  /** @param document A document that was opened with this key, from bytes with this hash. */
  add(documentHash: Hex, documentKey: Uint8Array, document: Document): Promise<void>
}
