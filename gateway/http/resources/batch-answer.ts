import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Log } from '#base/log.ts'
import type { BatchAnswer, BatchOutcome, Unbatched } from '#batches/batch.ts'
import type { Hex } from '#document/hex.ts'
import type { Quote } from '#promise/ports.ts'
import { failureOf } from '../core/envelope.ts'
import { ApiError, invalid } from '../core/errors.ts'
import { type Addresses, verifyUrlOf } from './present.ts'

type Deps = { addresses: Addresses; log: Log }

/** The HTTP status of each outcome. */
export const BATCH_STATUS = {
  refused: 422,
  checked: 200,
  valid: 201,
  pending: 202,
} as const satisfies Record<BatchOutcome['status'], ContentfulStatusCode>

/** @returns The headers of the answer about a batch. */
export function batchHeaders(
  { addresses }: Pick<Deps, 'addresses'>,
  outcome: BatchOutcome,
): Record<string, string> {
  if (!('root' in outcome)) return {}
  return {
    Location: `${addresses.baseUrl}/v1/batches/${outcome.root}`,
    ...(outcome.replayed && { 'Idempotency-Replayed': 'true' }),
  }
}

/** @returns One envelope for each line. */
export async function* batchEnvelopes(
  deps: Deps,
  { outcome, lines }: BatchAnswer,
  requestId: string,
): AsyncGenerator<object> {
  const stopped = new ApiError(
    'batch_refused',
    'nothing was issued, because another line is invalid',
  )
  const erased = new ApiError('erased', 'the document has been erased')
  const failed = (error: ApiError) => failureOf(error, requestId, deps.log).body
  for await (const one of lines) {
    const { line } = one
    if ('problems' in one) {
      yield { line, ...failed(invalid('bad_fields', one.problems)) }
    } else if ('isErased' in one) yield { line, ...failed(erased) }
    else if (outcome.status === 'refused') yield { line, ...failed(stopped) }
    else yield { line, success: true, data: dataOf(deps, outcome, one) }
  }
}

function dataOf(
  { addresses }: Deps,
  outcome: Exclude<BatchOutcome, { status: 'refused' }>,
  { publicId = '', documentHash }: { publicId?: string; documentHash?: Hex },
): object {
  if (outcome.status === 'checked') {
    const { size, quote, unbatched, durations } = outcome
    return {
      status: 'checked',
      batch: { size, ...textsOf(quote), seconds: durations.batch },
      unbatched: { ...textsOf(unbatched), seconds: durations.single },
    }
  }
  return {
    publicId,
    documentHash,
    batchRoot: outcome.root,
    blockchainHash: outcome.transactionHash,
    status: outcome.status,
    network: addresses.network,
    verifyUrl: verifyUrlOf(addresses, publicId),
  }
}

/** Gas and wei are text, because they can exceed the numbers of JSON. */
function textsOf<T extends Quote | Unbatched>(amounts: T) {
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]))
}
