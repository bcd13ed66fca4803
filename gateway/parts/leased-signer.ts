import type { Signer } from '#chain/signer.ts'
import { type Lease, LeaseLost } from '#promise/lease.ts'

/**
 * @param lease Of the signer's account; `undefined` before there is one.
 * @returns A signer that signs only while this process holds the lease.
 */
export function leasedSigner(
  signer: Signer,
  lease: () => Pick<Lease, 'assertHeld'> | undefined,
): Signer {
  return {
    ...signer,
    async sign(transaction) {
      const held = lease()
      if (held === undefined) throw new LeaseLost(signer.address)
      await held.assertHeld()
      return signer.sign(transaction)
    },
  }
}
