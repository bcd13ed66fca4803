/** Counts what may be used only so often. It is shared by all gateways of an issuer. */
export type CredentialStore = {
  /**
   * Uses up a value.
   *
   * @param expiresAt Seconds of the Unix epoch; until then the value is remembered.
   * @returns `false` when it was used before.
   */
  spend(value: Uint8Array, expiresAt: number): Promise<boolean>
  /**
   * Binds a value to the first other one that comes with it.
   *
   * @returns Whether it is bound to this one.
   */
  bind(value: Uint8Array, to: Uint8Array, expiresAt: number): Promise<boolean>
  /** Counts that a wallet used an offer, or failed to. */
  redeem(offer: Redemption): Promise<'redeemed' | 'wrong' | 'used_up'>
}

export type Redemption = {
  digest: Uint8Array
  /** Seconds of the Unix epoch. */
  expiresAt: number
  /** How many wallets may use it. */
  uses: number
  /** Whether the holder typed what was asked for. */
  isRight: boolean
}

/** An offer is used up after so many wrong tries. */
export const MAX_TRIES = 5
