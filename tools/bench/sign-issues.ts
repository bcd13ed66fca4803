import { randomBytes } from 'node:crypto'
import type { Wallet } from 'ethers'
import { registryAbi } from '#base/registry-abi.ts'
import { toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'

const GAS_A_DOCUMENT = 27_000n
const EXPIRY = 4_102_444_800

/**
 * @param size The number of documents, with random hashes, of issuer 1.
 * @param maxFeePerGas Wei. geth refuses a transaction that may cost more than 1 ether.
 * @returns The signed transaction.
 */
export function signIssues(
  wallet: Wallet,
  {
    registry,
    nonce,
    size,
    maxFeePerGas,
  }: { registry: RegistryId; nonce: number; size: number; maxFeePerGas: bigint },
): Promise<string> {
  const { chainId, address } = parseRegistry(registry)
  return wallet.signTransaction({
    type: 2,
    chainId,
    nonce,
    to: address,
    data: registryAbi.encodeFunctionData('issueMany', [
      1,
      Array.from({ length: size }, () => toHex(randomBytes(32))),
      Array.from({ length: size }, () => EXPIRY),
    ]),
    gasLimit: 100_000n + GAS_A_DOCUMENT * BigInt(size),
    maxFeePerGas,
    maxPriorityFeePerGas: 1n,
  })
}
