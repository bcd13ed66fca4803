import type { Hex } from '#document/hex.ts'

/**
 * Which document supersedes which, of those that this gateway superseded. The promise to revoke the
 * superseded one is made when the successor is on the chain, in the same transaction as that
 * outcome, so that it survives a kill and no document is revoked without a successor.
 */
export type Successions = {
  /** @returns The documentHash of the successor, also while it is pending. */
  successorOf(documentHash: Hex): Promise<Hex | undefined>
  /**
   * @returns Some of the superseded documents whose revocation waits in the outbox for a
   *   transaction.
   */
  waiting(): Promise<Hex[]>
}
