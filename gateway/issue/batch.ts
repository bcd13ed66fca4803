import type { Intent } from './ports.ts'

/** Most intents in one transaction: some 5 million gas and 13 KB for documents to issue. */
export const MAX_BATCH = 200

/**
 * What the next transaction carries: the first intent that can go, and those after it that go with it, in their order.
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

/** One call of the registry is for one kind, and for one reason. */
function goTogether(one: Intent, other: Intent): boolean {
  if (one.kind === 'revoke' && other.kind === 'revoke') return one.reason === other.reason
  return one.kind === other.kind
}
