import { randomBytes } from 'node:crypto'
import { type Hex, toHex } from '#document/hex.ts'
import type { Action, IssueAction, RevisionAction } from '#promise/action.ts'
import type { Anchoring, Outcome } from '#promise/anchoring.ts'
import type { IndexEntry } from '#promise/document-index.ts'
import type { Member, Send, SignedTransaction } from '#promise/send.ts'
import { ACCOUNT, type WholeOutbox, waitingFor } from '#test/support/outbox.ts'

// What the tests of the outbox are about: documents, transactions, and what becomes of them.

export const hash = (): Hex => toHex(randomBytes(32))

/** The expiry of every document, as its record has it. */
const VALID_UNTIL = 7

export const ENTRY: IndexEntry = {
  issuedOn: 1,
  validUntil: VALID_UNTIL,
  subject: 1n,
  category: 2n,
  tenant: null,
}

export const issueOf = (more: Partial<IssueAction> = {}): IssueAction => ({
  kind: 'issue',
  documentHash: hash(),
  validUntil: VALID_UNTIL,
  ...more,
})
export const suspendOf = (documentHash: Hex): RevisionAction => ({ kind: 'suspend', documentHash })
export const releaseOf = (documentHash: Hex): RevisionAction => ({ kind: 'release', documentHash })
export const revokeOf = (documentHash: Hex, reason = 1): RevisionAction => ({
  kind: 'revoke',
  documentHash,
  reason,
})

export const signed = (nonce: number): SignedTransaction => ({
  nonce,
  hash: hash(),
  raw: hash(),
  gasLimit: 3n,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
})

/** @returns A place on the chain, in a block and a transaction of its own. */
export const placeIn = (blockNumber: number): Anchoring => ({
  blockNumber,
  blockHash: hash(),
  transactionHash: hash(),
})

export const anchoredAt = (place: Anchoring): Outcome => ({ status: 'anchored', ...place })

/** Finds actions in what waits. */
export async function membersOf(
  outbox: Pick<WholeOutbox, 'next'>,
  actions: readonly Action[],
  account = ACCOUNT,
): Promise<Member[]> {
  const waiting = await waitingFor(outbox, account)
  return actions.map(({ kind, documentHash }) => {
    const found = waiting.find(
      ({ action }) => action.kind === kind && action.documentHash === documentHash,
    )
    if (!found) throw new Error(`${kind} ${documentHash} does not wait`)
    return { action: found.action, place: found.place }
  })
}

/** Plans a send of actions that wait. */
export async function plan(
  outbox: Pick<WholeOutbox, 'next' | 'plan'>,
  actions: readonly Action[],
  { nonce = 0, account = ACCOUNT }: { nonce?: number; account?: Hex } = {},
): Promise<Send> {
  const members = await membersOf(outbox, actions, account)
  return outbox.plan({ account }, signed(nonce), members)
}

/** @returns The transaction of a send in a block. */
export function ownPlace({ attempts }: Send, { blockNumber, blockHash }: Anchoring): Anchoring {
  return { blockNumber, blockHash, transactionHash: attempts.at(-1)?.hash ?? null }
}

/** Settles a send whose transaction has done everything. @returns Where that is. */
export async function settleAll(
  outbox: Pick<WholeOutbox, 'settle'>,
  send: Send,
  block: Anchoring = placeIn(5),
): Promise<Anchoring> {
  const place = ownPlace(send, block)
  const outcomes = send.members.map(() => anchoredAt(place))
  await outbox.settle(send, outcomes, { ...place }, 0n)
  return place
}

/** Sends actions that wait, in a block. */
export async function anchorAll(
  outbox: Pick<WholeOutbox, 'next' | 'plan' | 'settle'>,
  actions: readonly Action[],
  { nonce, account, block = placeIn(5) }: { nonce?: number; account?: Hex; block?: Anchoring } = {},
): Promise<Anchoring> {
  const options = { ...(nonce !== undefined && { nonce }), ...(account && { account }) }
  return settleAll(outbox, await plan(outbox, actions, options), block)
}

/** Notes an outcome of an action that waits, without a transaction of this gateway. */
export async function resolve(
  outbox: Pick<WholeOutbox, 'next' | 'resolve'>,
  action: Action,
  outcome: Outcome,
): Promise<void> {
  const [member] = await membersOf(outbox, [action])
  if (member) await outbox.resolve([{ ...member, outcome }])
}
