import type * as v from 'valibot'
import { type Document, validUntilOf } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { formatQrAddress, formatVerifyLink } from '#document/verify-link.ts'
import type { Network } from '#verifier/network.ts'
import { reasonName } from '#verifier/reasons.ts'
import type { BlockchainProof } from '#verifier/verdict.ts'
import type { AnswerOf } from '../core/answers.ts'
import type * as schemas from './schemas.ts'

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
export function instant(seconds: number): string
export function instant(seconds: number | null): string | null
export function instant(seconds: number | null): string | null {
  if (seconds === null) return null
  const date = new Date(Math.min(seconds, MAX_INSTANT) * 1000)
  return `${date.toISOString().slice(0, SECONDS_LENGTH)}Z`
}

/**
 * @param entries The entries of the schema of an answer.
 * @returns These members of a value, `null` for those that are absent.
 */
export function membersOf<E extends v.ObjectEntries>(
  entries: E,
  value: Partial<Members<NoInfer<E>>>,
): Members<E> {
  const names = Object.keys(entries) as (keyof E)[]
  return Object.fromEntries(names.map((name) => [name, value[name] ?? null])) as Members<E>
}

type Members<E extends v.ObjectEntries> = AnswerOf<v.ObjectSchema<E, undefined>>

/** The name of a reason in an answer. */
type Reason = AnswerOf<typeof schemas.reason>

/** @returns The name of the reason of a revocation or suspension. The registry takes no other. */
export const presentReason = (code: number): Reason => reasonName(code) as Reason

/** @returns A proof with its times in RFC 3339. */
export function presentProof(proof: BlockchainProof): AnswerOf<typeof schemas.blockchainProof> {
  return {
    ...proof,
    reason: proof.reason as Reason | null,
    issuer: { ...proof.issuer, closedAt: instant(proof.issuer.closedAt) },
    blockTime: instant(proof.blockTime),
    validUntil: instant(proof.validUntil),
    revokedAt: instant(proof.revokedAt),
    releasedAt: instant(proof.releasedAt),
  }
}

/** @returns The address of the verify page for a document. */
export function verifyUrlOf({ verifyUrl, registry }: Addresses, publicId: string): string {
  return formatVerifyLink(verifyUrl, { publicId, registry })
}

/** @param createdAt Seconds of the Unix epoch. */
export function createdAtOf({ createdAt = null }: { createdAt?: number | null | undefined }): {
  createdAt?: string
} {
  return createdAt === null ? {} : { createdAt: instant(createdAt) }
}

/** A document in an answer. */
export type PresentedDocument = AnswerOf<typeof schemas.documentSchema>

/** @returns A document as the REST API returns it, with dates as timestamps. */
export function presentDocument(
  addresses: Addresses,
  document: Document,
  anchoring: {
    publicId: string
    documentHash: Hex
    status: PresentedDocument['status']
    transactionHash: Hex | null
    supersededBy?: Hex | undefined
    createdAt?: number | null | undefined
  },
): PresentedDocument {
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
