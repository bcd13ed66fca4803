import { reasonName } from '#verifier/reasons.ts'
import type { AuditedDocument } from './lines.ts'

const COLUMNS = [
  'issuerId',
  'documentHash',
  'batchRoot',
  'status',
  'block',
  'anchoredAt',
  'account',
  'validUntil',
  'revokedBlock',
  'revokedAt',
  'reason',
  'setAside',
  'transactionHash',
  'category',
  'findings',
]

/**
 * @returns The lines of a CSV file (RFC 4180), one for each document. No value needs quotes or can
 * be a formula, because all are numbers, hashes, dates and words from fixed lists.
 */
export function* csvOf(
  audits: Iterable<{ issuer: { id: number }; lines(): Iterable<AuditedDocument> }>,
): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for (const { issuer, lines } of audits)
    for (const { record, ...one } of lines()) {
      const isRevoked = record.revokedBlock !== 0
      const values = [
        issuer.id,
        one.documentHash,
        one.batchRoot,
        one.status,
        record.anchoredBlock || null,
        record.anchoredBlock === 0 ? null : timeOf(record.anchoredAt),
        one.account,
        record.validUntil === 0 ? null : timeOf(record.validUntil),
        isRevoked ? record.revokedBlock : null,
        isRevoked ? timeOf(record.revokedAt) : null,
        isRevoked ? reasonName(record.reason) : null,
        record.setAside ? 'yes' : null,
        one.transactionHash,
        one.category,
        one.findings.join(' '),
      ]
      yield `${values.map((value) => value ?? '').join(',')}\r\n`
    }
}

/** @returns A time in RFC 3339 (UTC), or the seconds themselves for a time that no calendar has. */
export function timeOf(seconds: number): string {
  const date = new Date(1000 * seconds)
  return Number.isNaN(date.getTime()) ? String(seconds) : `${date.toISOString().slice(0, -5)}Z`
}
