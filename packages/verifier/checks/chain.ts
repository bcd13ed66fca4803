import type { Document } from '../../document/document.ts'
import type { ChainReading } from '../ports.ts'
import { isDistrustedAt, isRevoked, isSuperseded, isSuspended } from '../status.ts'
import type { Check } from '../verdict.ts'

/** @returns Whether the head is fresh enough. `maxHeadAge` is in seconds; `undefined` = any age. */
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

/** @returns The status that the registry decides, by its order of precedence. */
export function checkRecord({ record, account, revoker }: ChainReading): Check[] {
  if (record.anchoredBlock === 0) return [{ check: 'record', outcome: 'fail', code: 'not_issued' }]
  const distrusted = isDistrustedAt(account, record.anchoredBlock)
  const superseded = isSuperseded(record)
  const revoked = isRevoked(record) && !superseded
  return [
    { check: 'record', outcome: 'pass', code: 'issued' },
    distrusted
      ? { check: 'issuer', outcome: 'fail', code: 'distrusted' }
      : { check: 'issuer', outcome: 'pass', code: 'trusted' },
    superseded
      ? { check: 'supersession', outcome: 'fail', code: 'superseded' }
      : { check: 'supersession', outcome: 'pass', code: 'not_superseded' },
    revoked
      ? { check: 'revocation', outcome: 'fail', code: 'revoked' }
      : { check: 'revocation', outcome: 'pass', code: 'not_revoked' },
    isSuspended(record, revoker)
      ? { check: 'suspension', outcome: 'fail', code: 'suspended' }
      : { check: 'suspension', outcome: 'pass', code: 'not_suspended' },
  ]
}

/**
 * @returns Whether it has expired, by the later of `now` and the block's time (both in seconds).
 */
export function checkExpiry(reading: ChainReading, now: number): Check {
  const { validUntil } = reading.record
  const expired = validUntil !== 0 && Math.max(now, reading.blockTime) >= validUntil
  return expired
    ? { check: 'expiry', outcome: 'fail', code: 'expired' }
    : { check: 'expiry', outcome: 'pass', code: 'not_expired' }
}

/** How far the earliest time zone, UTC+14, is ahead of UTC. No day begins anywhere before that. */
const FIRST_TIME_ZONE_SECONDS = 14 * 3600

/**
 * Does not affect the status.
 *
 * @param now Seconds of the Unix epoch.
 * @returns Whether the day of the document's `issuedAt` has begun anywhere on Earth, by the later
 * of `now` and the block's time.
 */
export function checkDating(
  { issuedAt }: Pick<Document, 'issuedAt'>,
  { blockTime }: ChainReading,
  now: number,
): Check {
  const begins = Date.parse(`${issuedAt}T00:00:00Z`) / 1000 - FIRST_TIME_ZONE_SECONDS
  return begins > Math.max(now, blockTime)
    ? { check: 'dating', outcome: 'fail', code: 'in_future' }
    : { check: 'dating', outcome: 'pass', code: 'not_in_future' }
}
