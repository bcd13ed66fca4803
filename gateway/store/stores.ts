import type { Log } from '#base/log.ts'
import type { RateLimiter } from '#base/rate-limit.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Deliveries } from '#events/deliveries.ts'
import type { EventLog } from '#events/events.ts'
import type { Webhooks } from '#events/webhook.ts'
import type { KeyStore } from '#keys/ports.ts'
import type { BatchDrafts, BatchList, BatchLog } from '#promise/batch-log.ts'
import type { DocumentIndex } from '#promise/document-index.ts'
import type { Erasures } from '#promise/erase.ts'
import type { IssueError } from '#promise/errors.ts'
import type { History } from '#promise/history.ts'
import type { Leases } from '#promise/lease.ts'
import type { Persistence } from '#promise/persistence.ts'
import type {
  BusyAccounts,
  IdempotencyLog,
  OutboxPorts,
  PayloadStore,
  SharedBacklog,
} from '#promise/ports.ts'
import type { Successions } from '#promise/supersede.ts'
import type { DraftGroups } from './batch-drafts.ts'
import type { LeasedAccount } from './database.ts'
import type { ErasureList } from './erasure-list.ts'
import type { IsBlockErased } from './tombstones.ts'

/**
 * The owner of a database's documents and promises. The issuer's account is not part of it: an
 * issuer may have several.
 */
export type Binding = {
  /** CAIP-10, lower case. */
  registry: RegistryId
  issuerId: number
  /** Fingerprints of the issuer secrets, the newest first; see `fingerprintOf`. */
  fingerprints: readonly Hex[]
}

/** @returns The blind indexes of a tenant, one for each issuer secret. */
export type BlindTenant = (tenant: string) => readonly bigint[]

/** Everything a database needs from outside. */
export type DatabaseDeps = {
  binding: Binding
  erasureList: ErasureList
  blindTenant: BlindTenant
  /** A gateway that is stopped for longer loses its leases; milliseconds. */
  leaseTerm: number
  log: Log
  /** Ends the process: it is unknown what is on the disk. */
  end(error: IssueError): void
}

/** Who may do what: several gateways may use one database. */
export type SharedDatabase = BusyAccounts & {
  /** Whether only one gateway can use the database. */
  isSole: boolean
  leases: Leases
  /** @returns The outbox of one account; what it writes has effect only while the lease lasts. */
  outboxOf(account: LeasedAccount): OutboxPorts & SharedBacklog
  /** The same for `embeddedPersistence`. */
  embeddedPersistenceOf(account: LeasedAccount): Persistence
  /**
   * @param own The account that new intents of this gateway get at once; those without one wait
   * until an engine claims them.
   */
  assignTo(own: () => LeasedAccount | undefined): void
  /**
   * @param changed Called when another gateway has changed the outbox or released a lease, and when
   * that may have gone unnoticed.
   * @returns A function that ends it.
   */
  listen(changed: () => void): () => void
  /** @param kind Of the names. @param local Limits while the database does not answer. */
  rateLimiter: (kind: string, local: RateLimiter) => RateLimiter
}

/** The ports over one database. */
export type DatabaseStores = {
  outbox: OutboxPorts
  /** Payloads in the database itself; it does not store an erased one again. */
  embedded: PayloadStore
  /** Payloads and promises, both in the database. */
  embeddedPersistence: Persistence
  isErased: IsBlockErased
  idempotency: IdempotencyLog
  history: History
  documentIndex: DocumentIndex
  successions: Successions
  events: EventLog
  webhooks: Webhooks
  deliveries: Deliveries
  /** Begins, when it opens, the erasures of the list that it does not have. */
  erasures: Erasures
  /** The batches that were requested. */
  batchLog: BatchLog & BatchList
  /** @param groups Of a Kubo node; absent when payloads are kept in the database. */
  batchDrafts(groups?: DraftGroups): BatchDrafts
  keys: KeyStore
  shared: SharedDatabase
  /**
   * Makes a test write, at most once a second.
   *
   * @throws {IssueError} `store_unavailable` when it takes no writes now.
   */
  assertReady(): Promise<void>
  /**
   * Copies it with everything that was acknowledged, while it is in use.
   *
   * @param path The copy; must not exist. Only one copy can be made at a time.
   * @param beside Runs once the copy is complete and before the next commit, so that whatever it
   * copies is of the same moment. With it, writes wait until both are done.
   * @throws {Error} when it has to be copied by its own tools; the message names them.
   */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  close(): Promise<void>
}
