import { type Document, validUntilOf } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { formatQrAddress, formatVerifyLink } from '#document/verify-link.ts'
import type { Network } from '#verifier/network.ts'
import type { BlockchainProof } from '#verifier/verdict.ts'

/** The addresses in responses, without a slash at the end. */
export type Addresses = {
  baseUrl: string
  verifyUrl: string
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  /** The network of the registry's chain. */
  network: Network
  /** The issuer that the gateway writes for. */
  issuerId: number
}

const timestamp = (date: string) => `${date}T00:00:00Z`

/** The last second that RFC 3339 can express. The 40 bits of the registry reach further. */
const MAX_INSTANT = 253_402_300_799

/** The number of characters in an RFC 3339 time up to the seconds. */
const SECONDS_LENGTH = 'YYYY-MM-DDTHH:mm:ss'.length

/**
 * @param seconds Seconds of the Unix epoch. @returns An RFC 3339 time in UTC; `null` for `null`.
 */
export function instant(seconds: number | null): string | null {
  if (seconds === null) return null
  const date = new Date(Math.min(seconds, MAX_INSTANT) * 1000)
  return `${date.toISOString().slice(0, SECONDS_LENGTH)}Z`
}

/**
 * @param entries The entries of the schema of an answer.
 * @returns These members of a value, `null` for those that are absent.
 */
export function membersOf<K extends string>(
  entries: Record<K, unknown>,
  value: Partial<Record<NoInfer<K>, unknown>>,
): object {
  const names = Object.keys(entries) as K[]
  return Object.fromEntries(names.map((name) => [name, value[name] ?? null]))
}

/** @returns A proof with its times in RFC 3339. */
export function presentProof(proof: BlockchainProof | null): object | null {
  return (
    proof && {
      ...proof,
      issuer: { ...proof.issuer, closedAt: instant(proof.issuer.closedAt) },
      blockTime: instant(proof.blockTime),
      validUntil: instant(proof.validUntil),
      revokedAt: instant(proof.revokedAt),
      releasedAt: instant(proof.releasedAt),
    }
  )
}

/** @returns The address of the verify page for a document. */
export function verifyUrlOf({ verifyUrl, registry }: Addresses, publicId: string): string {
  return formatVerifyLink(verifyUrl, { publicId, registry })
}

/** @param createdAt Seconds of the Unix epoch. */
export function createdAtOf({ createdAt = null }: { createdAt?: number | null | undefined }) {
  return createdAt === null ? {} : { createdAt: instant(createdAt) }
}

/** @returns A document as the REST API returns it (spec §2.2), with dates as timestamps. */
export function presentDocument(
  addresses: Addresses,
  document: Document,
  anchoring: {
    publicId: string
    documentHash: Hex
    status: string
    transactionHash: Hex | null
    supersededBy?: Hex | undefined
    createdAt?: number | null | undefined
  },
): object {
  const { issuedAt, expiresAt, registry, issuerId, ...kept } = document
  const { publicId, documentHash, status, transactionHash, supersededBy } = anchoring
  return {
    publicId,
    ...kept,
    issuedAt: timestamp(issuedAt),
    ...(expiresAt !== undefined && {
      expiresAt: timestamp(expiresAt),
      // A document is still valid on the day of expiresAt.
      validUntil: instant(validUntilOf(document)),
    }),
    ...(supersededBy !== undefined && { supersededBy }),
    ...createdAtOf(anchoring),
    registry,
    issuerId,
    documentHash,
    blockchainHash: transactionHash,
    status,
    network: addresses.network,
    qrCodeUrl: formatQrAddress(addresses.baseUrl, publicId),
    verifyUrl: verifyUrlOf(addresses, publicId),
  }
}
