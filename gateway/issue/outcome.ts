import type { RegistryRecord } from '../../verifier/ports.ts'
import { IssueError } from './errors.ts'
import { keyOf } from './intent.ts'
import type { Anchoring, Intent, Plan, Registry } from './ports.ts'

/** Plans whose receipts are asked for together; of more, records and events are fewer requests. */
const MOST_RECEIPTS = 2

/**
 * What the chain says of an intent.
 *
 * - `taken`: another issuer has a record under this hash, so that it can never be ours.
 * - `absent`: it is not on the chain.
 */
export type Outcome =
  | ({ status: 'anchored' } & Anchoring)
  | { status: 'taken' }
  | { status: 'absent' }

/**
 * Reads what became of intents: from records and events, never from a transaction of ours alone, since an earlier attempt,
 * or another gateway of the issuer, may have anchored them.
 *
 * @returns An outcome for each, in their order.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOf(
  registry: Registry,
  intents: readonly Intent[],
): Promise<Outcome[]> {
  const blocks = await blocksOf(registry, intents)
  const transactions = await readTransactions(registry, intents, blocks)
  return intents.map(({ kind, documentHash }, i) => {
    const blockNumber = blocks[i]
    if (typeof blockNumber !== 'number')
      return { status: blockNumber ?? 'absent' }
    const anchoring = transactions.get(keyOf(kind, documentHash))
    if (anchoring === undefined)
      throw new IssueError('chain_unavailable', 'a record without its event')
    return { status: 'anchored', ...anchoring }
  })
}

/**
 * As {@link outcomesOf}, of the intents of plans whose nonces are used: by their receipts where these show everything.
 *
 * @returns An outcome for each intent, in the order of the plans.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOfPlans(
  registry: Registry,
  plans: readonly Plan[],
): Promise<Outcome[]> {
  const shown =
    plans.length <= MOST_RECEIPTS
      ? await Promise.all(
          // Without the receipt there are still records and events; if the node is down, they say so.
          plans.map((plan) =>
            outcomesByReceipt(registry, plan).catch(() => undefined),
          ),
        )
      : []
  const outcomes = shown.flatMap((some) => some ?? [])
  const intents = plans.flatMap((plan) => plan.intents)
  return outcomes.length === intents.length
    ? outcomes
    : outcomesOf(registry, intents)
}

/**
 * As {@link outcomesOf}, in one request, by the registry's events in the receipt of a plan's newest transaction: an event is only
 * there when the record is.
 *
 * @returns `undefined` when they do not show every intent of the plan: an earlier attempt, or somebody else, may have anchored it.
 * @throws {IssueError} `chain_unavailable`.
 */
async function outcomesByReceipt(
  registry: Registry,
  { intents, attempts }: Plan,
): Promise<Outcome[] | undefined> {
  const [kind] = intents.map((intent) => intent.kind)
  const newest = attempts.at(-1)
  if (kind === undefined || newest === undefined) return undefined
  const shown = await registry.eventsOf(kind, newest.hash)
  const outcomes = intents.flatMap(({ documentHash }): Outcome[] => {
    const anchoring = shown.get(documentHash)
    return anchoring ? [{ status: 'anchored', ...anchoring }] : []
  })
  return outcomes.length === intents.length ? outcomes : undefined
}

/** @returns For each intent the block that has it, by its record; or why there is none. */
export async function blocksOf(
  registry: Registry,
  intents: readonly Intent[],
): Promise<(number | 'taken' | 'absent')[]> {
  const records = await registry.records(
    intents.map(({ documentHash }) => documentHash),
  )
  return intents.map((intent, i) =>
    blockOf(intent, records[i], registry.issuerId),
  )
}

function blockOf(
  intent: Intent,
  record: RegistryRecord | undefined,
  issuerId: number,
): number | 'taken' | 'absent' {
  // Block 0 is that of a record that is missing, and never later than a final block.
  if (!record?.issuerId || record.anchoredBlock === 0) return 'absent'
  if (record.issuerId !== issuerId) return 'taken'
  if (intent.kind === 'issue') return record.anchoredBlock
  return record.revokedBlock === 0 ? 'absent' : record.revokedBlock
}

/**
 * @param blocks For each intent the block that has it; anything but a number: none.
 * @returns Where they are by the events of these blocks, by `keyOf`.
 */
export async function readTransactions(
  registry: Registry,
  intents: readonly Intent[],
  blocks: readonly (number | string)[],
): Promise<Map<string, Anchoring>> {
  const wanted = new Map<string, [Intent['kind'], number]>()
  intents.forEach(({ kind }, i) => {
    const block = blocks[i]
    if (typeof block === 'number') wanted.set(`${kind} ${block}`, [kind, block])
  })
  const found = await Promise.all(
    [...wanted.values()].map(async ([kind, block]) =>
      [...(await registry.transactionsOf(kind, block))].map(
        ([documentHash, anchoring]) =>
          [keyOf(kind, documentHash), anchoring] as const,
      ),
    ),
  )
  return new Map(found.flat())
}
