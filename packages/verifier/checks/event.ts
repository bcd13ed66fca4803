import { ChainError, type ChainErrorCode } from '../errors.ts'
import type { ChainReader, ChainReading, DocumentKey, IssuedEvent, ReadOptions } from '../ports.ts'
import type { Check } from '../verdict.ts'

/** Errors that have their own code here. Any other error means "could not be read". */
const REPORTED: ChainErrorCode[] = ['endpoints_disagree', 'pruned', 'unproven']

/**
 * Reads the event of a record. A missing or pruned event is unknown. An event that contradicts the
 * record is read again, in case of a reorg in between; if it still does, it is unknown too.
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
    return unknown(code && REPORTED.includes(code) ? code : 'unreachable')
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
