import type { Hex } from '#document/hex.ts'
import { isReleased } from '#verifier/status.ts'
import { type Action, EVENTS, type IssueAction } from './action.ts'
import { ABSENT, type Anchoring, type Outcome, UNSEEN, type Undone } from './anchoring.ts'
import { IssueError } from './errors.ts'
import type { Account, Blocks, RegistryReader } from './ports.ts'
import {
  isInBatch,
  type RegistryEvent,
  revocationBy,
  revocationOf,
  type TrustedRecord,
} from './record.ts'
import type { Receipt, Send, UsedIn } from './send.ts'

/**
 * The maximum number of issuing sends that are read by receipt. For more, records and events take
 * fewer calls.
 */
const MAX_RECEIPTS = 2

/**
 * Reads the outcomes of actions from records and their events, because an earlier attempt or
 * another gateway of the issuer may have anchored them.
 *
 * @param heads For each action, the newest block when it was planned, if a transaction that may
 * have carried it is in a block.
 * @returns An outcome for each action, in the same order.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOf(
  registry: RegistryReader,
  actions: readonly Action[],
  heads: readonly (number | undefined)[] = [],
): Promise<Outcome[]> {
  const records = await registry.records(actions)
  const places = actions.map((action, i) => placeOf(action, records[i], heads[i]))
  const transactions = await readTransactions(
    registry,
    places.filter((place) => 'blockNumber' in place),
  )
  return actions.map(({ documentHash }, i) => {
    const place = places[i] ?? ABSENT
    if (!('blockNumber' in place)) return place
    const inBlock = transactions.get(keyOfPlace(place))
    const anchoring = inBlock ? inBlock.get(documentHash) : forgotten(place)
    if (anchoring === undefined)
      throw new IssueError('chain_unavailable', 'the record has no event')
    return { status: 'anchored', ...anchoring, ...reasonAt(place) }
  })
}

/** Same as {@link outcomesOf}, for one action. */
export async function outcomeOf(registry: RegistryReader, action: Action): Promise<Outcome> {
  const [outcome] = await outcomesOf(registry, [action])
  return outcome ?? ABSENT
}

/**
 * Same as {@link outcomesOf}, for the members of sends whose nonces are used. The receipts are used
 * if they show everything.
 *
 * @returns The outcomes of each send, in the order of its members.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function outcomesOfSends(
  registry: RegistryReader,
  sends: readonly Send[],
): Promise<Outcome[][]> {
  const receipts = await Promise.all(
    sends.map((send) => {
      const issues = send.members.some(({ action }) => action.kind === 'issue')
      if (issues && sends.length > MAX_RECEIPTS) return undefined
      // Without a receipt, records and events decide. If the node is down, reading them throws.
      return receiptOf(registry, send).catch(() => undefined)
    }),
  )
  const shown = sends.map(({ members }, i) =>
    members.map(({ action }) => outcomeIn(action, receipts[i])),
  )
  const unknown = sends.flatMap(({ members, head }, i) =>
    members
      .filter((_, j) => shown[i]?.[j] === undefined)
      // A failed transaction has changed nothing, whatever the records show.
      .map(({ action }) => ({
        action,
        head: receipts[i]?.succeeded === false ? undefined : head,
      })),
  )
  const read = await outcomesOf(
    registry,
    unknown.map(({ action }) => action),
    unknown.map(({ head }) => head),
  )
  return shown.map((some) => some.map((outcome) => outcome ?? read.shift() ?? ABSENT))
}

/**
 * @param outcomes Those of its members.
 * @returns The block of a send whose nonce is used.
 * @throws {IssueError} `chain_unavailable`.
 */
export async function usedIn(
  deps: { account: Pick<Account, 'nextNonce'>; registry: RegistryReader; blocks: Blocks },
  send: Send,
  outcomes: readonly Outcome[],
): Promise<UsedIn> {
  const own = new Set(send.attempts.map(({ hash }) => hash))
  const isOwn = (outcome: Outcome) =>
    outcome.status === 'anchored' &&
    outcome.blockHash !== UNSEEN &&
    own.has(outcome.transactionHash ?? '0x')
  const place = outcomes.find(isOwn) ?? (await receiptOf(deps.registry, send))
  if (place && 'blockHash' in place) {
    const { blockNumber, blockHash, transactionHash } = place
    return { blockNumber, blockHash, transactionHash }
  }
  const { number } = await deps.blocks.head()
  const blockHash = (await deps.blocks.blockHash(number)) ?? UNSEEN
  // A reorg may have come since the nonce was read, and the block be of the new fork.
  if ((await deps.account.nextNonce()) <= send.nonce)
    throw new IssueError('chain_unavailable', 'the nonce is not used any more')
  return { blockNumber: number, blockHash, transactionHash: null }
}

/**
 * @returns The receipt of the send's transaction that is in a block; `undefined` when no node has
 *   one.
 * @throws {IssueError} `chain_unavailable`.
 */
async function receiptOf(
  registry: RegistryReader,
  { attempts }: Send,
): Promise<(Receipt & { transactionHash: Hex }) | undefined> {
  for (const { hash } of attempts.toReversed()) {
    const receipt = await registry.receiptOf(hash)
    if (receipt !== undefined) return { ...receipt, transactionHash: hash }
  }
  return undefined
}

/**
 * Same as {@link outcomeOf}, from the receipt of a send. For revisions it shows more than records,
 * which have only the last one.
 *
 * @returns `undefined` when it does not show the action: another gateway may have anchored it, or
 * the record is not as intended.
 */
function outcomeIn(
  action: Action,
  receipt?: Receipt & { transactionHash: Hex },
): Outcome | undefined {
  if (receipt === undefined || !isDone(action, receipt)) return undefined
  const { blockNumber, blockHash, transactionHash } = receipt
  return {
    status: 'anchored',
    blockNumber,
    blockHash,
    transactionHash,
    ...reasonIn(receipt, action),
  }
}

/**
 * @returns Whether a transaction has done what an action wants. The registry skips a revision that
 * would change nothing or is not allowed. Somebody else was then first, and the transaction has no
 * event of it.
 */
export function isDone({ kind, documentHash }: Action, receipt: Receipt): boolean {
  if (kind === 'issue') return receipt.succeeded && receipt.issued.has(documentHash)
  const reason = receipt.revised.get(documentHash)
  return receipt.succeeded && reason !== undefined && revocationBy(reason) === REVISED[kind]
}

/** The state of a record after each revision. */
const REVISED = { revoke: 'final', suspend: 'suspended', release: 'released' } as const

/** @returns The reason of a final revocation; see {@link Anchoring}. */
export function reasonIn(
  { revised }: Receipt,
  { kind, documentHash }: Action,
): { reason?: number } {
  const reason = revised.get(documentHash)
  return kind === 'revoke' && reason !== undefined ? { reason } : {}
}

/** The place of an event; `reason` is set for a final revocation. */
export type Place = { event: RegistryEvent; blockNumber: number; reason?: number }

/** @returns The reason of a final revocation; see {@link Anchoring}. */
export function reasonAt({ reason }: Pick<Place, 'reason'>): { reason?: number } {
  return reason === undefined ? {} : { reason }
}

/**
 * A record has only the last change. If that change came after the action was planned, it also came
 * after the action's transaction, which would have undone it otherwise.
 *
 * @param head A block that is not after the action's own, and that was the newest when the action
 * was planned or later; absent = the action may not be on the chain.
 * @returns The place of the event of an action according to a record, or why there is none.
 */
export function placeOf(
  action: Action,
  record: TrustedRecord | undefined,
  head = Number.POSITIVE_INFINITY,
): Place | Undone {
  // Block 0 means that there is no record, so it must not count as final. The record of a document
  // in a batch has no block of its own.
  if (!record || (record.anchoredBlock === 0 && !isInBatch(action))) return ABSENT
  if (action.kind === 'issue') return placeOfIssue(action, record)
  const revocation = revocationOf(record)
  const place = { event: EVENTS[action.kind], blockNumber: record.revokedBlock }
  const undone: Undone = record.revokedBlock > head ? { status: 'moot' } : ABSENT
  switch (action.kind) {
    case 'revoke':
      return revocation === 'final' ? { ...place, reason: record.reason } : ABSENT
    case 'suspend':
      if (revocation === 'final') return { status: 'moot' }
      if (revocation !== 'suspended') return undone
      // A release that does not count has no event of a suspension.
      return isReleased(record) ? { status: 'moot' } : place
    case 'release':
      if (revocation === 'suspended') return undone
      return revocation === 'released' ? place : { status: 'moot' }
  }
}

function placeOfIssue({ validUntil }: IssueAction, record: TrustedRecord): Place | Undone {
  if (record.distrusted) return { status: 'distrusted' }
  if (record.validUntil !== validUntil) return { status: 'conflict' }
  return { event: 'issued', blockNumber: record.anchoredBlock }
}

/** @returns The anchoring of an action whose events no node still has, from the record. */
function forgotten({ blockNumber }: Place): Anchoring {
  return { blockNumber, blockHash: UNSEEN, transactionHash: null }
}

/**
 * @returns The transactions of the events at each place, by {@link keyOfPlace} and documentHash;
 * `undefined` for a place whose events no node still has.
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
