import type { NewDeadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import type { Metrics } from '#base/metrics.ts'
import type { Batches } from '#batches/batch.ts'
import type { BatchReader } from '#batches/batch-reader.ts'
import type { FindDocument } from '#documents/find.ts'
import type { Listing } from '#documents/list.ts'
import type { EventLog } from '#events/events.ts'
import type { FindKey } from '#keys/grant.ts'
import type { Keys } from '#keys/keys.ts'
import type { ActLog } from '#promise/acts.ts'
import type { CheckDocument } from '#promise/check-document.ts'
import type { DocumentIndex } from '#promise/document-index.ts'
import type { Erasing, IsErased } from '#promise/erase.ts'
import type { History } from '#promise/history.ts'
import type { Issuing } from '#promise/issue.ts'
import type { PayloadStore, Readiness } from '#promise/ports.ts'
import type { Revising } from '#promise/revise.ts'
import type { Successions, Superseding } from '#promise/supersede.ts'
import type { Bundle } from '#verifier/bundle.ts'
import type { ChainReader, Eip1193Provider } from '#verifier/ports.ts'
import type { VerifyOptions } from '#verifier/verify.ts'
import type { Authenticate, RateLimits } from './core/env.ts'
import type { FindIssue } from './core/promised.ts'
import type { WalletOffers } from './core/wallet-offers.ts'
import type { BuiltPage } from './pages/built-file.ts'
import type { Addresses } from './resources/present.ts'

/** What the routes need of the gateway. */
export type AppDeps = {
  log: Log
  metrics: Metrics
  addresses: Addresses
  /** The version of this service, as in package.json. */
  version: string
  rateLimits: RateLimits
  /** How long a request waits for a block, in milliseconds. */
  wait: number
  newDeadline: NewDeadline

  findKey: FindKey
  /** Other ways than a key to show who sends a request. */
  authenticators: readonly Authenticate[]
  keys: Keys

  issuing: Issuing
  revising: Revising
  superseding: Superseding
  erasing: Erasing
  checkDocument: CheckDocument
  batches: Batches
  batchReader: BatchReader

  findDocument: FindDocument
  documentIndex: DocumentIndex
  listing: Listing
  store: PayloadStore
  isErased: IsErased
  findIssue: FindIssue
  history: History
  successions: Successions
  acts: ActLog
  events: EventLog

  verifyOptions: VerifyOptions
  /** The same chain as in `verifyOptions`, with a storage proof for each reading. */
  provingChain: ChainReader
  bundleOf: (publicId: string, signal: AbortSignal) => Promise<Bundle>
  /** The node that serves the read-only `/rpc`. */
  rpc: Eip1193Provider

  /** Draws offers as QR codes; absent when no module puts documents into wallets. */
  walletOffers: WalletOffers | undefined
  /** The issuer's DID document; absent when this service is not at the issuer's domain. */
  didDocument?: object

  /**
   * Rejects with an `IssueError` that has the reason when the gateway cannot issue at the moment.
   */
  assertReady: () => Promise<Readiness>
  /** Seconds since the newest block; negative when the clock is behind the chain. */
  headAge: () => Promise<number>
  /** Below this balance, in wei, `/readyz` warns. */
  lowBalance: bigint

  verifyPage: BuiltPage
  /** The path of the page where people sign in; absent when no module has one. */
  peoplePage: string | undefined
}
