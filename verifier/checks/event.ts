import { ChainError, type ChainErrorCode } from '../errors.ts'
import type { ChainReader, ChainReading, DocumentKey, IssuedEvent, ReadOptions } from '../ports.ts'
import type { Check } from '../verdict.ts'

/** Troubles that say more of an event than that it could not be read. */
const TOLD: ChainErrorCode[] = ['endpoints_disagree', 'pruned', 'unproven']

/**
 * Reads the event of a record. An event that is missing, or that the node no longer keeps, is
 * unknown; one that contradicts the record is read once more, in case a reorg came between, then
 * unknown too.
 */
export async function readEvent(
  chain: ChainReader,
  key: DocumentKey,
  reading: ChainReading,
  options: ReadOptions = {},
): Promise<{ check: Check; event?: IssuedEvent }> {
  const unknown = (code: string) => ({
    check: { check: 'event', outcome: 'unknown', code } satisfies Check,
  })
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      const event = await chain.issuedEvent(key, reading.record.anchoredBlock, {
        ...options,
        fresh: attempt > 0,
      })
      if (event === undefined) return unknown('missing')
      if (agrees(event, key, reading))
        return {
          check: { check: 'event', outcome: 'pass', code: 'agrees' },
          event,
        }
    }
    return unknown('contradicts')
  } catch (error) {
    const code = error instanceof ChainError ? error.code : undefined
    return unknown(code && TOLD.includes(code) ? code : 'unreachable')
  }
}

function agrees(
  event: IssuedEvent,
  { batch }: DocumentKey,
  { record, account, issuer }: ChainReading,
): boolean {
  return (
    event.issuerId === issuer.id &&
    event.validUntil === (batch ? null : record.validUntil) &&
    event.account === account.account
  )
}
