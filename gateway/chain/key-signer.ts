import { computeAddress, SigningKey } from 'ethers'
import type { Hex } from '#document/hex.ts'
import { signEip1559 } from './eip1559.ts'
import type { Signer } from './signer.ts'

/** @param key The account's private key, 32 bytes. */
export function createKeySigner(key: Hex): Signer {
  const signingKey = new SigningKey(key)
  return {
    address: computeAddress(signingKey),
    assertReady: async () => {},
    sign: async (transaction) => signEip1559(signingKey, transaction),
  }
}
