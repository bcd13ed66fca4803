import type { Document } from '../../document/document.ts'
import type { ChainReading } from '../ports.ts'
import type { Check } from '../verdict.ts'

/** @returns Whether the head is fresh enough to say anything by. `maxHeadAge` in seconds; `undefined` = not judged. */
export function checkChain(
  reading: ChainReading,
  now: number,
  maxHeadAge: number | undefined,
): Check {
  const stale = maxHeadAge !== undefined && now - reading.blockTime > maxHeadAge
  return stale
    ? { check: 'chain', outcome: 'unknown', code: 'head_stale' }
    : {
        check: 'chain',
        outcome: 'pass',
        code: reading.blockHash === undefined ? 'read' : 'proven',
      }
}

/**
 * @param issuerId The issuer that the publicId names. A record of another issuer is not a record of this document.
 * @returns What the record alone decides: whether it is there, superseded, revoked, of a distrusted account.
 */
export function checkRecord(
  { record, status }: ChainReading,
  issuerId: number,
): Check[] {
  if (record.issuerId !== issuerId)
    return [{ check: 'record', outcome: 'fail', code: 'not_issued' }]
  const revoked = record.revokedBlock !== 0
  const superseded = revoked && status === 'superseded'
  return [
    { check: 'record', outcome: 'pass', code: 'issued' },
    superseded
      ? { check: 'supersession', outcome: 'fail', code: 'superseded' }
      : { check: 'supersession', outcome: 'pass', code: 'not_superseded' },
    revoked && !superseded
      ? { check: 'revocation', outcome: 'fail', code: 'revoked' }
      : { check: 'revocation', outcome: 'pass', code: 'not_revoked' },
    status === 'distrusted'
      ? { check: 'issuer', outcome: 'fail', code: 'distrusted' }
      : { check: 'issuer', outcome: 'pass', code: 'trusted' },
  ]
}

/** @returns Whether it has expired, by the later of `now` and the block's time (both in seconds). */
export function checkExpiry(reading: ChainReading, now: number): Check {
  const { validUntil } = reading.record
  const expired =
    validUntil !== 0 && Math.max(now, reading.blockTime) >= validUntil
  return expired
    ? { check: 'expiry', outcome: 'fail', code: 'expired' }
    : { check: 'expiry', outcome: 'pass', code: 'not_expired' }
}

/** Seconds that the first time zone, UTC+14, is ahead: before that, a day has begun nowhere. */
const FIRST_TIME_ZONE = 14 * 3600

/**
 * Decides no status.
 *
 * @param now Seconds of the Unix epoch.
 * @returns Whether the day of the document's `issuedAt` has begun anywhere on Earth, by the later
 *   of `now` and the block's time.
 */
export function checkDating(
  { issuedAt }: Document,
  { blockTime }: ChainReading,
  now: number,
): Check {
  const begins = Date.parse(`${issuedAt}T00:00:00Z`) / 1000 - FIRST_TIME_ZONE
  return begins > Math.max(now, blockTime)
    ? { check: 'dating', outcome: 'fail', code: 'in_future' }
    : { check: 'dating', outcome: 'pass', code: 'not_in_future' }
}
