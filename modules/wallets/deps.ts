import type { AppDeps } from '#http/deps.ts'
import type { NamingDeps } from '#http/resources/document-path.ts'
import type { ReadHeld } from './held.ts'
import type { StatusLists } from './status-lists.ts'
import type { Wallets } from './wallets.ts'

/** What an offer needs. */
export type OfferDeps = {
  /** Absent when the service puts no documents into wallets. */
  wallets?: Wallets
  readHeld: ReadHeld
  /** Whether everybody who holds a publicId may have an offer. */
  offersToHolders: boolean
  addresses: Pick<AppDeps['addresses'], 'baseUrl' | 'issuerId' | 'network'>
}

/** What the routes of this module need. */
export type WalletDeps = NamingDeps &
  Pick<AppDeps, 'newDeadline'> &
  OfferDeps & {
    /** Absent when this service signs no credentials. */
    statusLists?: StatusLists
    /** The keys of the issuer of credentials; absent when this service signs none. */
    jwtVcIssuer?: object
  }
