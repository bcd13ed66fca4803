import type { Document } from '../document/document.ts'
import type { Hex } from '../document/hex.ts'
import { type Network, networkOf } from '../verifier/network.ts'
import { parseRegistry } from '../verifier/readers/chain.ts'

/** The addresses that answers hold, none with a slash at the end. */
export type Addresses = {
  baseUrl: string
  verifyUrl: string
  /** CAIP-10. */
  registry: string
}

const timestamp = (date: string) => `${date}T00:00:00Z`

/** @returns The address of the verify page for a document. In the fragment, so that no server sees the publicId. */
export function verifyUrlOf(
  { verifyUrl, registry }: Addresses,
  publicId: string,
): string {
  return `${verifyUrl}#publicId=${publicId}&registry=${registry}`
}

/** @param registry CAIP-10. */
export function networkOfRegistry(registry: string): Network {
  return networkOf(parseRegistry(registry).chainId)
}

/** @returns A document as the REST API returns it (spec §2.2); dates as timestamps. */
export function presentDocument(
  addresses: Addresses,
  document: Document,
  anchoring: {
    publicId: string
    documentHash: Hex
    status: string
    transactionHash: Hex | null
  },
): object {
  const { issuedAt, expiresAt, registry, issuerId, ...kept } = document
  const { publicId, documentHash, status, transactionHash } = anchoring
  return {
    publicId,
    ...kept,
    issuedAt: timestamp(issuedAt),
    ...(expiresAt !== undefined && { expiresAt: timestamp(expiresAt) }),
    registry,
    issuerId,
    documentHash,
    blockchainHash: transactionHash,
    status,
    network: networkOfRegistry(registry),
    qrCodeUrl: `${addresses.baseUrl}/qr/${publicId}`,
    verifyUrl: verifyUrlOf(addresses, publicId),
  }
}
