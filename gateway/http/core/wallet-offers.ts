/** The number of requests that an offer counts as, because it reads the chain. */
export const OFFER_COST = 5
export const OFFER_ERRORS = ['no_offers', 'not_valid', 'other_issuer', 'unverifiable'] as const

/** Offers of documents to wallets, for whoever holds a publicId. */
export type WalletOffers = {
  /** Whether anybody who holds a publicId may have one. */
  areForHolders: boolean
  /** @returns The link that opens a wallet. @throws {ApiError} one of {@link OFFER_ERRORS} */
  link(publicId: string): Promise<string>
}
