import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { KeyStore } from '#keys/ports.ts'
import type { PeopleStore } from '#people/ports.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import type { IndexEntry, KeptStatus } from '#promise/document-index.ts'
import type { Lease } from '#promise/lease.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { ErasureList } from './erasure-list.ts'
import type { Binding, DatabaseDeps, DatabaseStores } from './stores.ts'

/** A kind of database, and its location. */
export type DatabaseAdapter = {
  openStores(deps: DatabaseDeps): Promise<DatabaseStores>
  /** Opens the API keys and people. The gateway may be running. */
  openKeys(log: Log): Promise<OpenKeyStore>
  /**
   * Opens it for a command. With SQLite, no gateway runs until it is closed; with gateways on
   * PostgreSQL, each method says what it excludes.
   *
   * @throws {Error} when it cannot be used; the message says what to do.
   */
  openForCommand(options: CommandOptions): Promise<CommandDatabase>
  /**
   * Opens it to read, without changing anything, not even the schema. The gateway may be running.
   */
  openToRead(log: Log): Promise<KeptRows>
  /**
   * Reports its state without changing anything.
   *
   * @param fingerprints The fingerprints of the issuer secrets in the settings, if there are any.
   */
  examine(fingerprints: readonly Hex[] | undefined): Promise<Health[]>
}

type OpenKeyStore = {
  store: KeyStore
  people: PeopleStore
  /** @returns Whether it has ever had a key. */
  hadKeys(): Promise<boolean>
  close(): Promise<void>
}

export type CommandOptions = {
  /** Whether to create the data folder if it is missing. */
  create?: boolean
  /** The term of a lease in milliseconds; see `DatabaseDeps`. */
  leaseTerm: number
  log: Log
}

/** A finding with advice. It contains no secret. */
export type Health = {
  outcome: 'ok' | 'warn' | 'fail'
  message: string
  advice?: string
}

/** A database for operators' commands. */
export type CommandDatabase = Pick<DatabaseStores, 'isErased' | 'embedded' | 'history'> & {
  /** @throws {Error} as opening the stores does, for the database of another gateway. */
  bindTo(binding: Binding): Promise<void>
  /** Begins the erasures of the list that it does not have. @returns The number of these. */
  mergeErasures(list: ErasureList): Promise<number>
  /** Call this when the database was made again: it may not know who is in the status lists. */
  loseStatusLists(): Promise<void>
  /** The places where documents that were issued alone, and batches, are anchored. */
  anchored: AnchoredLog
  /**
   * Claims one of these accounts to send transactions, until the database is closed.
   *
   * @param accounts Addresses in lower case.
   * @throws {IssueError} `account_shared` when gateways use all of them, or left transactions in
   * flight.
   */
  claimAccount(accounts: readonly Hex[]): Promise<ClaimedAccount>
  /**
   * Begins to rebuild the index. Gateways may run, but not another rebuild.
   *
   * @param blindTenant The blind index for documents of an unknown tenant.
   */
  rebuildIndex(blindTenant: bigint | null): Promise<IndexRebuild>
  /**
   * Claims an empty database, which no gateway uses until `filled`, or one that an earlier run left
   * unfinished.
   *
   * @param command The name of the command that fills it.
   * @throws {Error} when the database has other rows, or another run is filling it.
   */
  claimEmpty(command: string): Promise<{ filled(): Promise<void> }>
  /**
   * Adds a promised batch from the chain.
   *
   * @returns Its id.
   */
  addBatch(
    batch: Omit<KnownBatch, 'id'>,
    anchoring: {
      blockNumber: number
      /** The time of the block, in seconds of the Unix epoch. */
      blockTime: number
      transactionHash: Hex | null
      status: KeptStatus | null
    },
  ): Promise<number>
  close(): Promise<void>
}

export type ClaimedAccount = {
  /** The address in lower case. */
  account: Hex
  /** Absent when only one process can use the database. */
  lease?: Pick<Lease, 'assertHeld'>
}

/** A document that was issued alone, or a batch by its root, with its block. */
export type Anchored = { hash: Hex; blockNumber: number; transactionHash: Hex | null }

export type AnchoredLog = {
  /** Resolves when the documents are durable. */
  addDocuments(documents: readonly Anchored[]): Promise<void>
  addBatch(batch: Anchored): Promise<void>
  /** @returns The documents and the roots of batches that are in a block from this one on. */
  since(blockNumber: number): Promise<{ documentHashes: Hex[]; roots: Hex[] }>
}

/** A document for the rebuilt index. */
export type Rebuilt = {
  documentHash: Hex
  /** `null` while it is pending, and for a document in a batch. */
  blockNumber: number | null
  /** The id of its batch in the database. */
  batch?: number
  validUntil: number
  status: KeptStatus | null
  /**
   * The time of its block, in seconds of the Unix epoch, used unless the index has its own time.
   * Absent while it is pending, and for a document in a batch.
   */
  blockTime?: number
  /** Absent when its payload could not be opened. The previous entry of the index then stays. */
  entry?: IndexEntry
}

/** The place of a document in the history: by block, then by hash. */
export type HistoryPlace = { blockNumber: number; documentHash: Hex }

/**
 * Rebuilds the index. A row gets a new place above all old ones, and the old row is deleted in the
 * same write. An interrupted rebuild leaves a complete index, and the next rebuild goes through it
 * again. Rows that a gateway writes meanwhile stay.
 */
export type IndexRebuild = {
  /** @returns Up to 500 documents of the history after a place, in order. */
  anchoredAfter(place: HistoryPlace | undefined): Promise<HistoryPlace[]>
  /** @returns The promised documents, in the order of their requests. */
  pending(): Promise<{ documentHash: Hex; validUntil: number }[]>
  /**
   * Reads the entries of documents in the index, so that `replace` does not undo changes that a
   * gateway makes in between.
   */
  see(documentHashes: readonly Hex[]): Promise<void>
  replace(documents: readonly Rebuilt[]): Promise<void>
  /**
   * Assigns batches of an unknown tenant, which were restored from the chain, to this tenant.
   *
   * @returns The number of batches.
   */
  ownBatches(tenant: string): Promise<number>
  /** @returns The roots of batches that are on the chain, and promised at an unknown time. */
  undatedBatches(): Promise<Hex[]>
  /** @param time Seconds of the Unix epoch. */
  dateBatch(root: Hex, time: number): Promise<void>
  /** @returns The batches of which the index lacks some or all documents. */
  incompleteBatches(): Promise<{ id: number; manifest: Hex; tenant: string }[]>
  /** Adds documents of a batch that the index lacks. */
  addToBatch(
    id: number,
    documents: readonly { documentHash: Hex; entry: IndexEntry }[],
  ): Promise<void>
  /** Drops the rows that were not replaced. @returns The number of rows. */
  end(): Promise<number>
}

/** Reads a database, to compare it with the chain. */
export type KeptRows = {
  registry: RegistryId
  issuerId: number
  /** @returns The damage that it reports about itself; empty when there is none. */
  damage(): Promise<string[]>
  historyOf(documentHash: Hex, block: number): Promise<boolean>
  batchHistoryOf(root: Hex, block: number): Promise<boolean>
  indexOf(
    documentHash: Hex,
  ): Promise<{ block: number | null; status: KeptStatus | null } | undefined>
  isErased(hash: Hex): Promise<boolean>
  /** The payloads in the database, whose bytes are not checked. */
  blocks: Pick<PayloadStore, 'get'>
  /** @returns Rows of the history, in any order. */
  history(): AsyncGenerator<HistoryPlace>
  close(): Promise<void>
}
