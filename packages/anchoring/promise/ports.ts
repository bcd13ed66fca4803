import type { Hex } from '#document/hex.ts'
import type { BlockRead } from '#verifier/ports.ts'
import type { Action, IssueAction } from './action.ts'
import type { Anchored, Anchoring, BlockId, Found, Outcome } from './anchoring.ts'
import type { IndexEntry } from './document-index.ts'
import type { RecordKey, RegistryEvent, TrustedRecord } from './record.ts'
import type { Member, Receipt, Send, SignedTransaction, UsedIn, Waiting } from './send.ts'

/**
 * Stores sealed documents by their sha-256 (32 bytes). Once `put` has resolved, the document
 * survives a kill and a power cut.
 */
export type PayloadStore = {
  put(hash: Uint8Array, bytes: Uint8Array): Promise<void>
  get(hash: Uint8Array): Promise<BlockRead>
}

/** What is written in one transaction with a document to issue. */
export type Payload = {
  /** The sealed bytes, never plaintext. */
  bytes?: Uint8Array
  /** The entry for the index of documents. */
  entry?: IndexEntry | undefined
}

/** What is to be pinned on a Kubo node. Only the gateway that leads uses it. */
export type MirrorRows = {
  /**
   * @returns The CID of the group that was pinned last; `null` before the first one, `undefined`
   * before `begin`.
   */
  root(): Promise<Uint8Array | null | undefined>
  /** Writes that all payloads are to be pinned, also those that are pinned already. */
  begin(): Promise<void>
  /** Deletes what is to be pinned, because the settings name no node. */
  forget(): Promise<void>
  /** @returns Some payloads to pin next, without erased ones; `undefined` when all are pinned. */
  next(): Promise<Unpinned | undefined>
  /** @param root The CID of their group; absent when nothing was pinned. */
  done(some: Unpinned, root: Uint8Array | undefined): Promise<void>
}

export type Unpinned = {
  /** Also of payloads that are gone, which a gateway that was killed may have pinned. */
  hashes: readonly Uint8Array[]
  payloads: readonly { hash: Uint8Array; bytes: Uint8Array }[]
  /** The rows that name them; absent while all are being pinned. */
  rows?: readonly number[]
}

// What was accepted is on disk, and is never taken back. It waits, or a send carries it. Requests
// write what waits; only the gateway that leads writes the rest. A method that changes something
// resolves when the change is durable.

/** What requests write and read. */
export type Outbox = {
  /**
   * Adds an action; does nothing when it is already there. A suspension and a release undo each
   * other and may alternate any number of times. One that is already on the chain is added again if
   * the caller has seen that it was undone.
   *
   * @param more.payload For a document to issue.
   * @param more.changedBlock For a revision, the block of the last change that the caller saw on the
   * chain; 0 = none. An action that is anchored in a later block stays as it is.
   * @returns For a document to issue, whether it was added; of concurrent calls one adds it. For a
   * revision, `false` when nothing was added because the opposite is not on the chain yet. For a
   * document that supersedes one with another successor, `has_successor`, and for another document
   * of the same idempotency key, `key_reused`: nothing was added.
   * @throws {IssueError} `outcome_unknown` when no answer came. A repeat does no harm.
   */
  add(action: Action, more?: { payload?: Payload; changedBlock?: number }): Promise<Added>
  /** @returns `undefined` when it is unknown, or in a final block. */
  find(kind: Action['kind'], documentHash: Hex): Promise<Found | undefined>
}

/** See `Outbox`. */
export type Added = boolean | 'has_successor' | 'key_reused'

/** The longest time for which an action that the chain refuses is held back. */
export const MAX_HOLD_MS = 300_000

/**
 * Who sends. `own`: the accounts of the only gateway, so that all others send nothing any more;
 * absent when other gateways may have other accounts.
 */
export type Sender = { account: Hex; own?: readonly Hex[] | undefined }

/** What waits for a send, in the order of the requests. */
export type Queue = {
  /** @returns The oldest that may go now. */
  next(sender: Sender, options: { now: number; limit: number }): Promise<Waiting[]>
  /** @returns How many wait, and how many are held back of these; counted up to a limit. */
  count(now: number, limit: number): Promise<{ queued: number; held: number }>
  /** @returns The newest place. */
  newest(): Promise<number>
  /** @returns The accounts that alone may send some of what waits. */
  carriers(): Promise<Hex[]>
  /**
   * Holds back what the chain refused, so that it delays no others.
   *
   * @param tries How often it has been refused by now.
   * @param until When to try it again; milliseconds of the Unix epoch.
   */
  hold(some: readonly Member[], tries: number, until: number): Promise<void>
  /** Holds back all documents to issue; `null` = lets them go. */
  holdIssues(until: number | null): Promise<void>
  /** Writes the outcomes of what needs no transaction. */
  resolve(found: readonly (Member & { outcome: Outcome })[]): Promise<void>
}

/** The sends in flight. */
export type Sends = {
  /** @returns The sends of all accounts whose nonces are not used, by nonce. */
  inFlight(): Promise<Send[]>
  /** @returns The nonces from this one on that sends of this account have which are not final. */
  openNonces(account: Hex, from: number): Promise<number[]>
  /**
   * Stores a send before its first broadcast, with all of these members or not at all.
   *
   * @param members None for an empty transfer.
   * @param head For suspensions and releases, the newest block.
   */
  plan(
    sender: Sender,
    transaction: SignedTransaction,
    members: readonly Member[],
    head?: number,
  ): Promise<Send>
  /**
   * Stores another transaction for the nonce of a send before its broadcast.
   *
   * @param carried How many of the first members it carries. The others wait until the nonce is
   * used.
   */
  replace(send: Send, transaction: SignedTransaction, carried: number): Promise<Send>
  /**
   * Writes that the nonce of a send is used, and settles each member by itself.
   *
   * @param outcomes Those of the members, in their order.
   * @param fee The cost in wei.
   */
  settle(send: Send, outcomes: readonly Outcome[], usedIn: UsedIn, fee: bigint): Promise<void>
}

/** The cost of sends. */
export type FeeLog = {
  /**
   * @param time Milliseconds of the Unix epoch.
   * @returns The wei spent by sends settled since that time, rounded up to gwei.
   */
  feesSince(time: number): Promise<bigint>
}

/** The blocks of sends that are not final, each once, and whether it was seen on the chain. */
export type SentBlocks = {
  /** @returns Some of the blocks that were not seen on the chain, after this one, by number. */
  unseen(after: BlockId | undefined, limit: number): Promise<BlockId[]>
  /** @returns The newest blocks that were seen on the chain, the newest first. */
  newestSeen(limit: number): Promise<BlockId[]>
  /** @returns Some of the blocks up to this number, the oldest first. */
  upTo(blockNumber: number, limit: number): Promise<BlockId[]>
  /** Records whether the chain has these blocks. */
  note(blocks: readonly BlockId[], seen: boolean): Promise<void>
  /** Writes that a block is final. @returns What its sends carry. */
  finish(block: BlockId): Promise<Anchored[]>
  /**
   * Writes that the chain has these blocks no more. The sends of this issuer's accounts are in
   * flight again, with everything that they carry.
   *
   * @returns The number of these.
   */
  lose(blocks: readonly BlockId[]): Promise<number>
  /** @returns The sends in a block that no account of this database made. */
  ofOthers(block: BlockId): Promise<{ id: number; members: Member[] }[]>
  /**
   * Writes where the members of such a send are now.
   *
   * @param outcomes Those of the members, in their order.
   */
  move(send: number, members: readonly Member[], outcomes: readonly Outcome[]): Promise<void>
}

/** Documents that another gateway may have issued. */
export type Guarding = {
  /**
   * Guards a document that is already on the chain until its block is final, as if this gateway had
   * sent it. Does nothing when it is known.
   */
  guard(action: IssueAction, anchoring: Anchoring, payload?: Pick<Payload, 'entry'>): Promise<void>
}

/** The ports of the outbox that any gateway uses. */
export type OutboxPorts = Outbox & Guarding

/** What requests need of the gateway that leads, which may be another one. */
export type Leader = {
  /** @throws {IssueError} when nothing can be anchored at the moment, as far as is known. */
  assertOpen(): void
  /** @throws {IssueError} when the issuer is closed, as far as is known: only revisions are done. */
  assertMayIssue(): void
  /**
   * Waits until an action of the outbox is anchored, together with other waiting actions.
   *
   * @param wait Milliseconds until `pending` is the answer.
   * @param isNew Whether this request has just added it, so that nobody has an outcome yet.
   * @returns `anchored`, `pending` or `moot`.
   * @throws {IssueError} when it can never be anchored: nothing was done and nothing will be.
   */
  submit(action: Action, wait: number, isNew?: boolean): Promise<Outcome>
  /** Something waits for the gateway that leads: looks now. */
  wake(): void
  /** Sends are in flight again: goes on with them. */
  resume(): Promise<void>
}

/** Finds documents by the `Idempotency-Key` of their first request, for 400 days. */
export type RequestLog = {
  /** @param request A digest of 16 bytes. */
  find(request: Uint8Array): Promise<Hex | undefined>
}

/** The balance of the gateway's account in wei, and its permissions. */
export type Readiness = {
  balance: bigint
  /** False when the issuer is closed; it can still revoke, suspend and release. */
  mayIssue: boolean
  /** Whether the account may revoke, suspend and release. */
  mayRevoke: boolean
}

// The registry as seen through the gateway's account. It has four ports. Methods reject with an
// `IssueError`: `chain_unavailable` when the node did not answer, another code when the chain
// refuses the transaction.

/** The account that this gateway writes with. */
export type Account = {
  /** Rejects when this account cannot write at the moment. */
  assertReady(): Promise<Readiness>
  /** @returns The next nonce after the newest block. All lower ones are used. */
  nextNonce(): Promise<number>
  /** @returns The next nonce after the transactions in the node's pool, up to the first gap. */
  pooledNonce(): Promise<number>
  /**
   * @returns The mined transaction that used a nonce; `undefined` when there is none, or when no
   * node still has the state of its block.
   */
  transactionWith(nonce: number): Promise<Hex | undefined>
}

export type PrepareOptions = {
  nonce: number
  /** The maximum wei that the transaction may cost; absent = any fee. */
  maxFee?: bigint
  /**
   * The transaction to replace, with the same nonce. The new fee and tip are at least 12.5 %
   * higher, or what the chain requires if that is more.
   */
  replaced?: SignedTransaction
  /**
   * The last transaction that was signed with this nonce. Another one is then made even if its call
   * would change nothing, because the nonces after it wait.
   */
  planned?: SignedTransaction
}

/** The price of a transaction. */
export type Quote = {
  /** The gas that the node estimates. */
  gas: bigint
  /** The cost in wei at the current price of gas. */
  fee: bigint
  /** The maximum cost in wei, if the price rises. */
  maxFee: bigint
}

export type Quotes = {
  /** @throws {IssueError} when no such transaction can be made at the moment. */
  quote(actions: readonly Action[]): Promise<Quote>
}

/** Transactions of the account. */
export type Transactions = {
  /**
   * Makes and signs the transaction of actions that `goTogether`; without any, an empty transfer of
   * the account to itself, which only uses the nonce.
   *
   * @throws {IssueError} `too_large` when they do not fit in one transaction, or under `maxFee`;
   * `fee_too_high` when a single action does not fit under `maxFee`.
   */
  prepare(actions: readonly Action[], options: PrepareOptions): Promise<SignedTransaction>
  /** @returns Whether it pays the fee that the chain requires now. */
  meetsCurrentFee(transaction: SignedTransaction): Promise<boolean>
  /**
   * Rejects with `fee_too_high` when a transaction like the last one of a single action would cost
   * more.
   *
   * @param maxFee A number of wei; absent = any fee.
   */
  assertAffordable(maxFee?: bigint): Promise<void>
  /**
   * Sends a transaction. Succeeds also when a node already has it, or when its nonce is used.
   *
   * @returns `occupied` when the nodes refuse it because they have another transaction with its
   * nonce, which it may have to replace.
   * @throws {IssueError} `registry_refused` when the nodes refuse it; `fee_too_high` when it offers
   * less than the chain requires now.
   */
  broadcast(transaction: SignedTransaction): Promise<'taken' | 'occupied'>
}

/** Reads the registry's records and events of the issuer's documents. */
export type RegistryReader = {
  /**
   * @returns The issuer's record for each key, in order. The record of a batch has the size as
   * `validUntil`.
   */
  records(keys: readonly RecordKey[]): Promise<TrustedRecord[]>
  /**
   * @returns The transactions in a block that issued, revoked (or suspended) or released documents
   * of the issuer, by documentHash, and likewise batches, by root; `undefined` when no node still
   * has the events of that block.
   */
  transactionsOf(
    event: RegistryEvent,
    blockNumber: number,
  ): Promise<Map<Hex, Anchoring> | undefined>
  /**
   * @returns `undefined` when the transaction is not in a block, or no node still has its
   * receipt.
   */
  receiptOf(transactionHash: Hex): Promise<Receipt | undefined>
}

/** The newest block. */
export type Head = {
  number: number
  /** Seconds of the Unix epoch. */
  timestamp: number
}

/** The blocks of the chain. */
export type Blocks = {
  head(): Promise<Head>
  /** Rejects when the node does not have it. */
  block(blockNumber: number): Promise<Head>
  /**
   * @returns The hash of the block that now has this number; `null` when the node does not have it.
   */
  blockHash(blockNumber: number): Promise<Hex | null>
  /**
   * @returns The number of the newest final block; 0 (genesis) until another block is final.
   * Rejects when it is unknown.
   */
  finalizedBlock(): Promise<number>
}
