import type { WebhookBacklog } from '#base/metrics.ts'
import type { DocumentFields } from '#document/document.ts'
import type { WalletOffers } from '#http/core/wallet-offers.ts'
import type { Grant } from '#keys/grant.ts'

/** What a module provides for others, by the name of the need. Absent = no module does. */
export type Ports = {
  credentialTypes?: CredentialTypes
  walletOffers?: WalletOffers
  people?: PeopleWhoSignIn
  webhookBacklog?: () => Promise<WebhookBacklog>
}

export type PeopleWhoSignIn = {
  /** @returns The permissions that a person has now; `undefined` when there is no such person. */
  grantOf(id: string): Promise<Grant | undefined>
  /** The path of their page, without a slash at the beginning. */
  page: string
}

/** The types of documents, as wallets read them. */
export type CredentialTypes = {
  /** @returns The type of a document; `undefined` if it has none. */
  typeOf(document: DocumentFields): Promise<{ vct: string; integrity: string } | undefined>
  /** @returns The file of the type that a category has now. */
  file(category: string): Promise<Uint8Array | undefined>
}
