import { ChainError } from '../errors.ts'
import type {
  ChainReader,
  ChainReading,
  DocumentKey,
  IssuedEvent,
  ReadOptions,
} from '../ports.ts'
import type { Check } from '../verdict.ts'

/**
 * Reads the event of a record. A missing event (a node that prunes logs) is unknown; one that contradicts the record is read
 * once more, in case a reorg came between, then unknown too.
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
      const event = await chain.issuedEvent(
        key,
        reading.record.anchoredBlock,
        options,
      )
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
    const told = code === 'endpoints_disagree' || code === 'unproven'
    return unknown(told ? code : 'unreachable')
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
