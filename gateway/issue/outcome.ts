import type { Hex } from '../../document/hex.ts'
import { IssueError } from './errors.ts'
import { EVENTS, revocationOf } from './intent.ts'
import {
  type Anchoring,
  type Intent,
  type IssueIntent,
  type Plan,
  type Receipt,
  type RegistryEvent,
  type RegistryReader,
  type TrustedRecord,
  UNSEEN,
} from './ports.ts'

/** Plans to issue whose receipts are read together; of more, records and events are fewer requests. */
const MAX_RECEIPTS = 2

/**
 * What the chain says of an intent.
 *
 * - `conflict`: the issuer has a record under this hash with another expiry, so that this one can
 *   never be issued.
 * - `distrusted`: the record under this hash reads Distrusted. Issuing it again would make it valid;
 *   that is for an operator to decide.
 * - `moot`: there is nothing to do: a final revocation stands, or nothing is suspended.
 * - `absent`: it is not on the chain.
 */
export type Outcome = ({ status: 'anchored' } & Anchoring) | Undone
type Undone = { status: 'conflict' | 'distrusted' | 'moot' | 'absent' }

/**
 * Reads what became of intents, by records and their events: an earlier attempt, or another gateway
 * of the issuer, may have anchored them.
 *
 * @returns An outcome for each, in their order.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOf(
  registry: RegistryReader,
  intents: readonly Intent[],
): Promise<Outcome[]> {
  const records = await registry.records(intents.map(({ documentHash }) => documentHash))
  const places = intents.map((intent, i) => placeOf(intent, records[i]))
  const transactions = await readTransactions(
    registry,
    places.filter((place) => 'blockNumber' in place),
  )
  return intents.map(({ documentHash }, i) => {
    const place = places[i] ?? ABSENT
    if (!('blockNumber' in place)) return place
    const inBlock = transactions.get(keyOfPlace(place))
    if (inBlock === undefined) return { status: 'anchored', ...forgotten(place) }
    const anchoring = inBlock.get(documentHash)
    if (anchoring === undefined)
      throw new IssueError('chain_unavailable', 'a record without its event')
    return { status: 'anchored', ...anchoring }
  })
}

/** As {@link outcomesOf}, of one intent. */
export async function outcomeOf(registry: RegistryReader, intent: Intent): Promise<Outcome> {
  const [outcome] = await outcomesOf(registry, [intent])
  return outcome ?? ABSENT
}

/**
 * As {@link outcomesOf}, of the intents of plans whose nonces are used: by their receipts where
 * these show everything.
 *
 * @returns An outcome for each intent, in the order of the plans.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOfPlans(
  registry: RegistryReader,
  plans: readonly Plan[],
): Promise<Outcome[]> {
  const shown = await Promise.all(
    plans.map((plan) => {
      const issues = plan.intents.some(({ kind }) => kind === 'issue')
      if (issues && plans.length > MAX_RECEIPTS) return undefined
      // Without the receipt there are still records and events; if the node is down, they say so.
      return outcomesByReceipt(registry, plan).catch(() => undefined)
    }),
  )
  const unknown = plans.filter((_, i) => shown[i] === undefined)
  const read = await outcomesOf(
    registry,
    unknown.flatMap(({ intents }) => intents),
  )
  return plans.flatMap(({ intents }, i) => shown[i] ?? read.splice(0, intents.length))
}

/**
 * As {@link outcomesOf}, by the receipts of a plan's transactions. Of revisions these say more than
 * records, which show the last one only.
 *
 * @returns `undefined` when they do not show every intent of the plan: another gateway may have
 *   anchored it, or a record stands that is not as intended.
 * @throws {IssueError} `chain_unavailable`.
 */
async function outcomesByReceipt(
  registry: RegistryReader,
  { intents, attempts }: Plan,
): Promise<Outcome[] | undefined> {
  for (const { hash } of attempts.toReversed()) {
    const receipt = await registry.receiptOf(hash)
    if (receipt === undefined) continue
    if (!intents.every((intent) => isDone(intent, receipt))) return undefined
    const { blockNumber, blockHash } = receipt
    const anchoring = { blockNumber, blockHash, transactionHash: hash }
    return intents.map(() => ({ status: 'anchored', ...anchoring }))
  }
  return undefined
}

/**
 * Whether the transaction that carried an intent did what it could. A list leaves out a revision
 * that changes nothing, or that may change nothing: there is nothing left to do then.
 */
export function isDone({ kind, documentHash }: Intent, { succeeded, issued }: Receipt): boolean {
  return succeeded && (kind !== 'issue' || issued.has(documentHash))
}

/** Where an event is. */
export type Place = { event: RegistryEvent; blockNumber: number }

const ABSENT: Undone = { status: 'absent' }

/** @returns The event that a record says there is of an intent; or why there is none. */
export function placeOf(intent: Intent, record: TrustedRecord | undefined): Place | Undone {
  // Block 0 is that of a record that is missing, and never later than a final block.
  if (!record?.anchoredBlock) return ABSENT
  if (intent.kind === 'issue') return placeOfIssue(intent, record)
  const revocation = revocationOf(record)
  const place = { event: EVENTS[intent.kind], blockNumber: record.revokedBlock }
  switch (intent.kind) {
    case 'revoke':
      return revocation === 'final' ? place : ABSENT
    case 'suspend':
      if (revocation === 'final') return { status: 'moot' }
      return revocation === 'suspended' ? place : ABSENT
    case 'release':
      if (revocation === 'suspended') return ABSENT
      return revocation === 'released' ? place : { status: 'moot' }
  }
}

function placeOfIssue({ validUntil }: IssueIntent, record: TrustedRecord): Place | Undone {
  if (record.distrusted) return { status: 'distrusted' }
  if (record.validUntil !== validUntil) return { status: 'conflict' }
  return { event: 'issued', blockNumber: record.anchoredBlock }
}

/** What is left of a place whose events no node keeps: the record decides. */
function forgotten({ blockNumber }: Place): Anchoring {
  return { blockNumber, blockHash: UNSEEN, transactionHash: null }
}

/**
 * @returns By {@link keyOfPlace}, the transactions of the events there, by documentHash; nothing for a
 *   place whose events no node keeps any more.
 */
export async function readTransactions(
  registry: RegistryReader,
  places: readonly Place[],
): Promise<Map<string, Map<Hex, Anchoring> | undefined>> {
  const wanted = new Map(places.map((place) => [keyOfPlace(place), place]))
  const found = await Promise.all(
    [...wanted].map(async ([key, { event, blockNumber }]) => {
      const anchorings = await registry.transactionsOf(event, blockNumber)
      return [key, anchorings] as const
    }),
  )
  return new Map(found)
}

export function keyOfPlace({ event, blockNumber }: Place): string {
  return `${event} ${blockNumber}`
}
