import type { BatchBlock } from '../document/batch/block.ts'
import type { Document } from '../document/document.ts'
import type { Hex } from '../document/hex.ts'
import type { RegistryId } from '../document/registry-id.ts'
import type { StateProof } from '../document/state-proof.ts'
import type { IdentityAddress, IdentityStatement } from './identity.ts'

/**
 * Sends one JSON-RPC request (EIP-1193). Rejects with an `RpcResponseError` for the node's own
 * error, else as unreachable.
 */
export type Eip1193Provider = {
  request(args: {
    method: string
    params?: readonly unknown[]
    /** Not of EIP-1193: a provider may use it to give up, and any other ignores it. */
    signal?: AbortSignal
  }): Promise<unknown>
}

/** The registry's words for a document's status, in the order of its `Status`. */
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

/** Where a document is in a batch. */
export type BatchPath = Pick<BatchBlock, 'root' | 'validUntil' | 'proof'>

/** The key of a record: the same hash may occur under several issuers. */
export type DocumentKey = {
  issuerId: number
  documentHash: Hex
  /** Of a document in a batch; without it, the document was issued alone. */
  batch?: BatchPath
}

/** The record of a document, as the registry keeps it. Times are seconds of the Unix epoch. */
export type RegistryRecord = {
  accountIndex: number
  /** 0 = not issued alone; a revocation can stand without it. */
  anchoredBlock: number
  anchoredAt: number
  /** The first second at which it is no longer valid; 0 = never expires. */
  validUntil: number
  revokerIndex: number
  /** 0 = never revoked, suspended or released. */
  revokedBlock: number
  revokedAt: number
  /** RFC 5280 reason code: 6 = suspended, 8 = released. Means nothing while `revokedBlock` is 0. */
  reason: number
  /** Whether a final revocation was ever released or replaced because its revoker is distrusted. */
  setAside: boolean
}

/** An account of an issuer. Blocks are 0 where it did not happen. */
export type RegistryAccount = {
  account: Hex
  accountIndex: number
  /** The sum of 1 ISSUE, 2 REVOKE, 4 MANAGE, 8 DELEGATE; 0 = retired. */
  permissions: number
  addedBlock: number
  changedBlock: number
  retiredBlock: number
  /** What it issued at or after this block is distrusted; 0 = trusted. */
  distrustedFrom: number
}

export type RegistryIssuer = {
  id: number
  name: string
  uri: string
  /** How many documents it issued alone, and how many batches. */
  documentCount: number
  batchCount: number
  /** How many accounts it has ever had. */
  accountCount: number
  changedBlock: number
  /** 0 = open. */
  closedBlock: number
}

/**
 * What the registry says about a document at one block. Where `record.anchoredBlock` is 0, the
 * registry answers nothing below it: account and issuer are all zero but for the issuer's id.
 */
export type ChainReading = {
  blockNumber: number
  /** Of a reading with a proof: the hash of the block that it is proven against. */
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

/** The `DocumentIssued` or `BatchIssued` event and where it stands. */
export type IssuedEvent = {
  issuerId: number
  account: Hex
  /** `null` in the event of a batch, which holds many. */
  validUntil: number | null
  transactionHash: Hex
  blockHash: Hex
  logIndex: number
}

/** How sure it is that a block stays: by the chain's own tags. */
export const FINALITIES = ['included', 'safe', 'finalized'] as const
export type Finality = (typeof FINALITIES)[number]

/**
 * How something is read. After `signal` aborts, what was asked for rejects; an implementation need
 * not hear of it.
 */
export type ReadOptions = { signal?: AbortSignal | undefined }

/** Reads one registry. Every method rejects with a `ChainError` when it could not be read. */
export type ChainReader = {
  /** The registry that it reads, CAIP-10. */
  readonly registry: RegistryId
  /**
   * @param options.block The block to read at; the newest if absent. A reading of another block is
   * never given.
   */
  read(
    key: DocumentKey,
    options?: ReadOptions & { block?: number | undefined },
  ): Promise<ChainReading>
  /**
   * @param options.fresh Whether a cache must not answer: what it answered before was contradicted.
   * @returns `undefined` when that block has no such event.
   */
  issuedEvent(
    key: DocumentKey,
    blockNumber: number,
    options?: ReadOptions & { fresh?: boolean | undefined },
  ): Promise<IssuedEvent | undefined>
  /**
   * @param blockNumber 1 or more: a record that is missing has none. Rejects when finality is
   * unknown.
   */
  finalityOf(blockNumber: number, options?: ReadOptions): Promise<Finality>
}

/**
 * What a block source has. Only a source that its reader trusts, the gateway's own store, may say
 * `erased`; of any other it is no proof.
 */
export type BlockRead =
  | { status: 'found'; bytes: Uint8Array }
  | { status: 'missing' }
  | { status: 'erased' }

/**
 * What a domain serves as its DID document; `not_asked` from a source that has not asked it yet.
 */
export type IdentityRead =
  | {
      status: 'found'
      bytes: Uint8Array
      /** The bytes as `readDidDocument` reads them, from a source that has done so before. */
      statement?: IdentityStatement
    }
  | { status: 'too_large' }
  | { status: 'not_asked' }

/** Gets DID documents, which are not trusted. Rejects when the document is unavailable. */
export type IdentitySource = {
  read(address: IdentityAddress, options?: ReadOptions): Promise<IdentityRead>
}

/**
 * Gets blocks by their sha-256 (32 bytes). Its bytes are not trusted: the caller hashes them.
 * Rejects when it could not look.
 */
export type BlockSource = {
  get(hash: Uint8Array, options?: ReadOptions): Promise<BlockRead>
}

/**
 * Remembers documents that were opened: neither their sealed bytes nor their keys change. What the
 * chain says of them is read for every verdict. A holder that erases a document forgets it.
 */
export type OpenedDocuments = {
  /** @param documentKey 16 bytes. @returns What was added for these two, or `undefined`. */
  get(documentHash: Hex, documentKey: Uint8Array): Document | undefined
  /** @param document As it was opened with the key, from bytes that have the hash. */
  add(documentHash: Hex, documentKey: Uint8Array, document: Document): void
}
