import type { Log } from '#base/log.ts'
import type { RateLimiter } from '#base/rate-limit.ts'
import type { CredentialStore } from '#credentials/ports.ts'
import type { StatusSlots } from '#credentials/status-slots.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Deliveries } from '#events/deliveries.ts'
import type { EventLog } from '#events/events.ts'
import type { Webhooks } from '#events/webhook.ts'
import type { KeyStore } from '#keys/ports.ts'
import type { KindStore } from '#kinds/ports.ts'
import type { PeopleStore } from '#people/ports.ts'
import type { ActLog } from '#promise/acts.ts'
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
import type { Tallies } from '#promise/tallies.ts'
import type { RunStore } from '#runs/ports.ts'
import type { Backups } from './backups.ts'
import type { DraftGroups } from './batch-drafts.ts'
import type { LeasedAccount } from './database.ts'
import type { ErasureList } from './erasure-list.ts'
import type { IsBlockErased } from './tombstones.ts'

/**
 * The owner of a database's documents and promises. The issuer's account is not part of it, because
 * an issuer may have several.
 */
export type Binding = {
  /** The CAIP-10 account ID of the registry, in lower case. */
  registry: RegistryId
  issuerId: number
  /** The fingerprints of the issuer secrets, the newest first; see `fingerprintOf`. */
  fingerprints: readonly Hex[]
}

/** @returns The blind indexes of a tenant, one for each issuer secret. */
export type BlindTenant = (tenant: string) => readonly bigint[]

/** Everything a database needs from outside. */
export type DatabaseDeps = {
  binding: Binding
  erasureList: ErasureList
  blindTenant: BlindTenant
  /** A gateway that is stopped for longer than this loses its leases; milliseconds. */
  leaseTerm: number
  log: Log
  /** Ends the process, because it is unknown what is on disk. */
  end(error: IssueError): void
}

/** Coordinates the gateways that use one database. */
export type SharedDatabase = BusyAccounts & {
  /** Whether only one gateway can use the database. */
  isSole: boolean
  leases: Leases
  /** @returns The outbox of one account. What it writes has effect only while the lease lasts. */
  outboxOf(account: LeasedAccount): OutboxPorts & SharedBacklog
  /** @returns The persistence of one account, under the same condition. */
  embeddedPersistenceOf(account: LeasedAccount): Persistence
  /**
   * @param own Returns the account for new intents of this gateway. Intents without an account wait
   * until an engine claims them.
   */
  assignTo(own: () => LeasedAccount | undefined): void
  /**
   * @param changed Called when another gateway has changed the outbox or released a lease, and when
   * that may have gone unnoticed.
   * @returns A function that stops listening.
   */
  listen(changed: () => void): () => void
  /**
   * @param kind The kind of the names.
   * @param local Limits requests while the database does not answer.
   */
  rateLimiter: (kind: string, local: RateLimiter) => RateLimiter
}

/** The ports of one database. */
export type DatabaseStores = {
  outbox: OutboxPorts
  /** Payloads in the database itself. It does not store erased payloads again. */
  embedded: PayloadStore
  /** Payloads and promises, both in the database. */
  embeddedPersistence: Persistence
  isErased: IsBlockErased
  idempotency: IdempotencyLog
  history: History
  acts: ActLog
  tallies: Tallies
  /** Absent when the database is backed up with its own tools. */
  backups?: Backups
  documentIndex: DocumentIndex
  successions: Successions
  statusSlots: StatusSlots
  events: EventLog
  webhooks: Webhooks
  deliveries: Deliveries
  /** What wallets have used. */
  credentials: CredentialStore
  /** When opened, it begins the erasures of the list that it does not have. */
  erasures: Erasures
  /** The batches that were requested. */
  batchLog: BatchLog & BatchList
  /** @param groups The groups of a Kubo node; absent when payloads are stored in the database. */
  batchDrafts(groups?: DraftGroups): BatchDrafts
  kinds: KindStore
  runs: RunStore
  keys: KeyStore
  people: PeopleStore
  shared: SharedDatabase
  /**
   * Makes a test write, at most once a second.
   *
   * @throws {IssueError} `store_unavailable` when it accepts no writes at the moment.
   */
  assertReady(): Promise<void>
  /**
   * Copies it with everything that was acknowledged, while it is in use.
   *
   * @param path The copy, which must not exist. Only one copy can be made at a time.
   * @param beside Runs once the copy is complete and before the next commit, so that whatever it
   * copies is of the same moment. With it, writes wait until both are done.
   * @throws {Error} when the database has to be copied with its own tools; the message names them.
   */
  copyTo(path: string, beside?: () => Promise<void>): Promise<void>
  close(): Promise<void>
}
