import type { Intent } from '#promise/intent.ts'
import { isWholeBatch } from '#promise/record.ts'

/** Maximum intents in one transaction: about 5 million gas and 13 KB for documents to issue. */
export const MAX_BATCH = 200

/**
 * Selects the intents of the next transaction: the first one that can go, and those after it that
 * can share its transaction, in order.
 *
 * @param queue In the order of the outbox.
 * @param mustWait Whether an intent has to wait for another that is not on the chain yet.
 */
export function nextBatch(
  queue: Iterable<Intent>,
  limit: number,
  mustWait: (intent: Intent) => boolean,
): Intent[] {
  const batch: Intent[] = []
  for (const intent of queue) {
    if (batch.length === limit) break
    const [first = intent] = batch
    if (goTogether(first, intent) && !mustWait(intent)) batch.push(intent)
  }
  return batch
}

/**
 * A call of the registry takes one kind, one reason, and one batch, whole or some documents of it.
 */
function goTogether(one: Intent, other: Intent): boolean {
  if (isWholeBatch(one) || isWholeBatch(other)) return one === other
  if (one.root !== other.root) return false
  if (one.kind === 'revoke' && other.kind === 'revoke') return one.reason === other.reason
  return one.kind === other.kind
}
