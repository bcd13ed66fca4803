import type { Document } from '../document/document.ts'
import { FormatError } from '../document/errors.ts'
import { type Hex, toHex } from '../document/hex.ts'
import { decodePublicId } from '../document/public-id.ts'
import { checkChain, checkExpiry, checkRecord } from './checks/chain.ts'
import { checkContent } from './checks/content.ts'
import { readEvent } from './checks/event.ts'
import { readPayload } from './checks/payload.ts'
import { ChainError } from './errors.ts'
import type {
  BlockSource,
  ChainReader,
  ChainReading,
  Finality,
  IssuedEvent,
} from './ports.ts'
import { reasonName } from './reasons.ts'
import {
  type BlockchainProof,
  type Check,
  statusOf,
  type Verdict,
} from './verdict.ts'

export type VerifyOptions = {
  /** The registry to trust. Which one comes from the verifier, never from the document or its QR code. */
  chain: ChainReader
  /** Where to look for the sealed document, in this order. */
  blocks: readonly BlockSource[]
  /** Seconds of the Unix epoch; the clock if absent. */
  now?: number
  /** How old, in seconds, the newest block may be before the node counts as stale; absent = any age. */
  maxHeadAge?: number
}

/**
 * Verifies a document with nothing but its publicId, a chain and a place to get blocks from.
 *
 * @param publicId As issued.
 * @returns A verdict; trouble with chain or blocks is `unverifiable` in it, never an exception.
 * @throws {FormatError} `public_id_…` for a malformed or mistyped publicId: nothing was asked of anybody.
 */
export async function verify(
  publicId: string,
  options: VerifyOptions,
): Promise<Verdict> {
  const { chain, blocks, maxHeadAge } = options
  const now = options.now ?? Math.floor(Date.now() / 1000)
  const { kind, hash, documentKey } = decodePublicId(publicId)
  const documentHash = toHex(hash)
  if (kind !== 'single')
    throw new FormatError(
      'public_id_kind',
      'documents of a batch cannot be verified yet',
    )

  const reading = await chain.read(documentHash).catch(chainErrorCode)
  if (typeof reading === 'string') return unread(reading)
  const checks = [checkChain(reading, now, maxHeadAge), ...checkRecord(reading)]
  if (reading.record.issuerId === 0) return conclude(checks, reading)

  const [event, payload, finality] = await Promise.all([
    readEvent(chain, documentHash, reading),
    readPayload(hash, blocks),
    chain.finalityOf(reading.record.anchoredBlock).catch(() => null),
  ])
  const content = payload.bytes
    ? await checkContent(
        payload.bytes,
        documentKey,
        chain.registry,
        reading.record,
      )
    : { checks: [] }
  checks.push(
    payload.check,
    ...content.checks,
    checkExpiry(reading, now),
    event.check,
  )
  return conclude(checks, reading, {
    document: content.document ?? null,
    blockchainProof: proofOf(
      chain.registry,
      documentHash,
      reading,
      event.event,
      finality,
    ),
  })
}

function chainErrorCode(error: unknown): string {
  if (error instanceof ChainError) return error.code
  throw error
}

function unread(code: string): Verdict {
  return {
    valid: false,
    status: 'unverifiable',
    document: null,
    blockchainProof: null,
    checks: [{ check: 'chain', outcome: 'unknown', code }],
    asOf: null,
  }
}

function conclude(
  checks: Check[],
  { blockNumber, blockTime }: ChainReading,
  found: {
    document: Document | null
    blockchainProof: BlockchainProof | null
  } = {
    document: null,
    blockchainProof: null,
  },
): Verdict {
  const status = statusOf(checks)
  return {
    valid: status === 'valid',
    status,
    ...found,
    checks,
    asOf: { blockNumber, blockTime },
  }
}

function proofOf(
  registry: string,
  documentHash: Hex,
  { record, issuer }: ChainReading,
  event: IssuedEvent | undefined,
  finality: Finality | null,
): BlockchainProof {
  const revoked = record.revokedBlock !== 0
  return {
    chainId: Number(registry.split(':')[1]),
    registry,
    documentHash,
    issuer: { id: record.issuerId, ...issuer },
    transactionHash: event?.transactionHash ?? null,
    blockNumber: record.anchoredBlock,
    blockHash: event?.blockHash ?? null,
    blockTime: record.anchoredAt,
    logIndex: event?.logIndex ?? null,
    finality,
    validUntil: record.validUntil || null,
    revokedAt: revoked ? record.revokedAt : null,
    reason: revoked ? reasonName(record.reason) : null,
  }
}
