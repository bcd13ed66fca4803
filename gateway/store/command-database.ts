import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { KeyStore } from '#keys/ports.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import type { IndexEntry, KeptStatus } from '#promise/document-index.ts'
import type { Lease } from '#promise/lease.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { ErasureList } from './erasure-list.ts'
import type { Binding, DatabaseDeps, DatabaseStores } from './stores.ts'

/** A kind of database, and where it is. */
export type DatabaseAdapter = {
  openStores(deps: DatabaseDeps): Promise<DatabaseStores>
  /** Opens the API keys; the service may be running. */
  openKeys(log: Log): Promise<OpenKeyStore>
  /**
   * Opens it for a command. With SQLite, no gateway runs until it is closed; beside gateways on
   * PostgreSQL, each method says what it excludes.
   *
   * @throws {Error} when it cannot be used; the message says what to do.
   */
  openForCommand(options: CommandOptions): Promise<CommandDatabase>
  /** Opens it to read, and changes nothing, not even the schema; the service may be running. */
  openToRead(log: Log): Promise<KeptRows>
  /**
   * Says what state it is in, and changes nothing.
   *
   * @param fingerprints Of the issuer secrets of the settings, if they have any.
   */
  examine(fingerprints: readonly Hex[] | undefined): Promise<Health[]>
}

type OpenKeyStore = {
  store: KeyStore
  /** @returns Whether it has ever had a key. */
  hadKeys(): Promise<boolean>
  close(): Promise<void>
}

export type CommandOptions = {
  /** Makes a data folder that is missing. */
  create?: boolean
  /** Milliseconds; see `DatabaseDeps`. */
  leaseTerm: number
  log: Log
}

/** A finding, and what to do about it. Names no secret. */
export type Health = {
  outcome: 'ok' | 'warn' | 'fail'
  message: string
  advice?: string
}

/** A database for operators' commands. */
export type CommandDatabase = Pick<DatabaseStores, 'isErased' | 'embedded' | 'history'> & {
  /** @throws {Error} as opening the stores does, for the database of another gateway. */
  bindTo(binding: Binding): Promise<void>
  /** Begins the erasures of the list that it does not have. @returns How many. */
  mergeErasures(list: ErasureList): Promise<number>
  /** Where documents that were issued alone, and batches, are anchored. */
  anchored: AnchoredLog
  /**
   * Claims one of these accounts to send transactions with, until the database is closed.
   *
   * @param accounts Lower case.
   * @throws {IssueError} `account_shared` when gateways use all of them, or left transactions in
   * flight.
   */
  claimAccount(accounts: readonly Hex[]): Promise<ClaimedAccount>
  /**
   * Begins to rebuild the index. Gateways may run; another rebuild may not.
   *
   * @param blindTenant The blind index that documents of an unknown tenant get.
   */
  rebuildIndex(blindTenant: bigint | null): Promise<IndexRebuild>
  /**
   * Claims an empty database, which no gateway uses until `filled`, or one that an earlier run
   * left unfinished.
   *
   * @param command The name of the command that fills it.
   * @throws {Error} when the database has other rows, or another run is filling it.
   */
  claimEmpty(command: string): Promise<{ filled(): Promise<void> }>
  /**
   * Adds a promised batch of the chain.
   *
   * @returns Its id.
   */
  addBatch(
    batch: Omit<KnownBatch, 'id'>,
    anchoring: {
      blockNumber: number
      /** Seconds of the Unix epoch. */
      blockTime: number
      transactionHash: Hex | null
      status: KeptStatus | null
    },
  ): Promise<number>
  close(): Promise<void>
}

export type ClaimedAccount = {
  /** Lower case. */
  account: Hex
  /** Absent when only one process can use the database. */
  lease?: Pick<Lease, 'assertHeld'>
}

/** A document that was issued alone, or a batch by its root, in its block. */
export type Anchored = { hash: Hex; blockNumber: number; transactionHash: Hex | null }

export type AnchoredLog = {
  /** Resolves when they are durable. */
  addDocuments(documents: readonly Anchored[]): Promise<void>
  addBatch(batch: Anchored): Promise<void>
  /** @returns The documents and the roots of batches that are in a block from this one on. */
  since(blockNumber: number): Promise<{ documentHashes: Hex[]; roots: Hex[] }>
}

/** A document that the rebuilt index gets. */
export type Rebuilt = {
  documentHash: Hex
  /** `null` while it is pending, and for a document in a batch. */
  blockNumber: number | null
  /** The id of its batch in the database. */
  batch?: number
  validUntil: number
  status: KeptStatus | null
  /**
   * The time of its block, in seconds of the Unix epoch, unless the index has its own time. Absent
   * while it is pending, and for a document in a batch.
   */
  blockTime?: number
  /** Absent when its payload could not be opened: then what the index had before stays. */
  entry?: IndexEntry
}

/** Where a document is in the history: by block, then by hash. */
export type HistoryPlace = { blockNumber: number; documentHash: Hex }

/**
 * Rebuilds the index. A row takes a new place above all old ones, and the old row goes in the same
 * write: a rebuild that is cut off leaves an index that is whole, and the next one goes through it
 * again. What a gateway writes meanwhile stays.
 */
export type IndexRebuild = {
  /** @returns The documents of the history behind a place, in order; at most 500. */
  anchoredAfter(place: HistoryPlace | undefined): Promise<HistoryPlace[]>
  /** The promised documents, in the order of their requests. */
  pending(): Promise<{ documentHash: Hex; validUntil: number }[]>
  /**
   * Reads what the index has of documents, so that `replace` does not undo what a gateway changes
   * between the two.
   */
  see(documentHashes: readonly Hex[]): Promise<void>
  replace(documents: readonly Rebuilt[]): Promise<void>
  /**
   * Gives batches of an unknown tenant, which were restored from the chain, to this one.
   *
   * @returns How many.
   */
  ownBatches(tenant: string): Promise<number>
  /** @returns The roots of batches that are on the chain, and promised at an unknown time. */
  undatedBatches(): Promise<Hex[]>
  /** @param time Seconds of the Unix epoch. */
  dateBatch(root: Hex, time: number): Promise<void>
  /** The batches whose documents the index does not have, or not all of them. */
  incompleteBatches(): Promise<{ id: number; manifest: Hex; tenant: string }[]>
  /** Adds documents of a batch that the index lacks. */
  addToBatch(
    id: number,
    documents: readonly { documentHash: Hex; entry: IndexEntry }[],
  ): Promise<void>
  /** Drops the rows that were not replaced. @returns How many. */
  end(): Promise<number>
}

/** Reads a database, to compare it with the chain. */
export type KeptRows = {
  registry: RegistryId
  issuerId: number
  /** @returns What it says of its own state; empty when it is whole. */
  damage(): Promise<string[]>
  historyOf(documentHash: Hex, block: number): Promise<boolean>
  batchHistoryOf(root: Hex, block: number): Promise<boolean>
  indexOf(
    documentHash: Hex,
  ): Promise<{ block: number | null; status: KeptStatus | null } | undefined>
  isErased(hash: Hex): Promise<boolean>
  /** The payloads in the database, of which the bytes are not checked. */
  blocks: Pick<PayloadStore, 'get'>
  /** Rows of the history, in any order. */
  history(): AsyncGenerator<HistoryPlace>
  close(): Promise<void>
}
