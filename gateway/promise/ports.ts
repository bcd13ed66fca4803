import type { Hex } from '#document/hex.ts'
import type { BlockRead } from '#verifier/ports.ts'
import type {
  Anchored,
  Anchoring,
  BlockId,
  ReviewedIntents,
  SettledIntents,
  Standing,
} from './anchoring.ts'
import type { Intent, IssueIntent, QueuedIntent } from './intent.ts'
import type { Payload, PromisedPayload } from './payload.ts'
import type { Plan, Receipt, SignedTransaction } from './plan.ts'
import type { RecordKey, RegistryEvent, TrustedRecord } from './record.ts'

/**
 * Stores sealed documents by their sha-256 (32 bytes). Once `put` has resolved, the document
 * survives a kill and a power cut.
 */
export type PayloadStore = {
  /**
   * @returns Whether it inserted something that `remove` would undo; `false` when the block was
   * there before.
   */
  put(hash: Uint8Array, bytes: Uint8Array): Promise<boolean>
  get(hash: Uint8Array): Promise<BlockRead>
  /** @returns The hashes that it lost or never had; erased ones do not count. */
  missing(hashes: readonly Uint8Array[]): Promise<Uint8Array[]>
  /** Undoes one `put` that inserted. Not an erasure: it may be put again. */
  remove(hash: Uint8Array): Promise<void>
}

// The outbox keeps promises on disk, behind seven ports: for requests, the backlog, plans, fees,
// anchored intents, their blocks, and payloads. A method that changes something resolves when the
// change is durable.

/** The outbox for requests. */
export type Outbox = {
  /**
   * Adds an intent; does nothing when it is there already. A suspension and a release undo each
   * other, and may alternate any number of times: one that is on the chain already is queued
   * again, if the caller has seen that it was undone.
   *
   * @param promised Whether the caller will get `pending` in any case.
   * @param changedBlock For a revision: the block of the last change that the caller saw on the
   * chain; 0 = none. An intent that is anchored in a later block stays as it is.
   * @returns For a document to issue, whether it was added; of concurrent calls one adds it. For a
   * revision, `false` when the opposite is not on the chain yet, so that nothing was added;
   * once the new one is there, the opposite leaves the outbox. For a document that supersedes one
   * with another successor, `has_successor`: nothing was added.
   */
  add(
    intent: Intent,
    promised?: boolean,
    payload?: Payload,
    changedBlock?: number,
  ): Promise<boolean | 'has_successor'>
  /**
   * Once a caller has got `pending`, the intent may no longer be withdrawn.
   *
   * @returns `undefined` when it is not in the outbox (any more).
   */
  promise(kind: Intent['kind'], documentHash: Hex): Promise<Standing | undefined>
  /** Removes intents that were not promised and that no transaction ever carried. */
  withdraw(intents: readonly Intent[]): Promise<Withdrawn>
  /** @returns `undefined` when it is not in the outbox. */
  find(kind: Intent['kind'], documentHash: Hex): Promise<Standing | undefined>
}

export type Withdrawn = {
  /** The intents that are no longer in the outbox. The others are promised. */
  intents: Intent[]
  /** The documentHashes of the payloads that they inserted. */
  inserted: Hex[]
}

/** The intents that wait for a transaction. */
export type Backlog = {
  /** In order. */
  queued(): Promise<QueuedIntent[]>
  /** @param until Milliseconds of the Unix epoch. */
  setAside(intents: readonly Intent[], until: number): Promise<void>
  /** Writes the outcomes of waiting intents that need no transaction. */
  resolve(settled: SettledIntents): Promise<void>
}

/** The transactions in flight. */
export type Plans = {
  /** By nonce. */
  plans(): Promise<Plan[]>
  /**
   * Persists a plan, before its first broadcast.
   *
   * @param head The newest block; of suspensions and releases.
   */
  plan(transaction: SignedTransaction, intents: readonly Intent[], head?: number): Promise<Plan>
  /**
   * Persists another transaction for a plan's nonce, before its broadcast.
   *
   * @param intents The plan's intents that it carries. The others go back in the queue.
   */
  replace(plan: Plan, transaction: SignedTransaction, intents: readonly Intent[]): Promise<Plan>
  /**
   * Removes a plan with its outcome. Its other intents go back in the queue.
   *
   * @param fee Its cost in wei.
   */
  settle(plan: Plan, settled: SettledIntents, fee: bigint): Promise<void>
}

/** What the engine of one account needs of an outbox that gateways share. */
export type SharedBacklog = {
  /**
   * Gives waiting intents that no account has yet to this one, the oldest first.
   *
   * @returns Those.
   */
  claim(limit: number): Promise<Intent[]>
  /** As `claim`, only revisions of documents that this account has issued and are not final. */
  claimRevisions(limit: number): Promise<Intent[]>
  /**
   * Frees the waiting intents for another account. Not a suspension or a release that a transaction
   * has carried: it could be mined once more, after its opposite.
   */
  disclaim(): Promise<void>
  /** Takes over what other accounts left, but for what their transactions in flight carry. */
  adopt(): Promise<void>
}

/**
 * The accounts whose intents wait or are in flight, whichever gateway accepted them; and those whose
 * documents wait to be revised by them.
 */
export type BusyAccounts = {
  /** Addresses, lower case. */
  busyAccounts(): Promise<Hex[]>
  /** @returns How many intents no account has, counted to this limit. */
  countUnclaimed(limit: number): Promise<number>
}

/** The cost of settled plans. */
export type FeeLog = {
  /**
   * @param time Milliseconds of the Unix epoch.
   * @returns Wei of the plans settled since the minute of that time, rounded up to gwei.
   */
  feesSince(time: number): Promise<bigint>
}

/** The intents that are on the chain, in blocks that may not be final yet. */
export type Anchorings = {
  /**
   * Guards a document that is on the chain already until its block is final, as if this gateway had
   * sent it. Does nothing when it is in the outbox.
   */
  adopt(
    intent: IssueIntent,
    anchoring: Anchoring,
    payload?: Pick<Payload, 'sealed' | 'entry'>,
  ): Promise<void>
  /** Some of the intents in blocks up to this one, the oldest blocks first. */
  anchoredUpTo(blockNumber: number, limit: number): Promise<Anchored[]>
  /** Some of the intents in this block. */
  anchoredIn(block: BlockId, limit: number): Promise<Anchored[]>
  /**
   * Writes the findings of a look at the chain, in one transaction.
   *
   * @returns The dropped intents that are in the queue now. An intent whose opposite waits is not
   * among them: the opposite was requested last.
   */
  review(found: ReviewedIntents): Promise<Intent[]>
}

/** The blocks of those intents, each once, and whether the chain was seen to have it. */
export type AnchorBlocks = {
  /** Some of the blocks not seen on the chain, after this one, by number. */
  unseen(after: BlockId | undefined, limit: number): Promise<BlockId[]>
  /** The newest block seen on the chain. */
  newestSeen(): Promise<BlockId | undefined>
  /** Records whether the chain has these blocks. */
  note(blocks: readonly BlockId[], seen: boolean): Promise<void>
}

/** The payloads of documents to issue that the outbox stores or owns. */
export type PromisedPayloads = {
  /** The sealed bytes of every document to issue in the outbox, some at a time. */
  payloads(): AsyncIterable<readonly PromisedPayload[]>
  /**
   * An intent to issue no longer owns its payload, which then stays even if the intent is
   * withdrawn.
   */
  disown(documentHash: Hex): Promise<void>
}

/** The whole outbox. */
export type OutboxPorts = Outbox &
  Backlog &
  Plans &
  FeeLog &
  Anchorings &
  AnchorBlocks &
  PromisedPayloads

/**
 * What gateways remember about requests with an `Idempotency-Key`. It contains neither keys nor
 * documents' contents.
 */
export type IdempotencyLog = {
  /**
   * Remembers which document a key was first used for, for at least 24 hours.
   *
   * @param key A digest, 32 bytes.
   * @returns The documentHash of that first use; it differs from the argument when the key was used
   * for another document.
   */
  claim(key: Uint8Array, documentHash: Hex): Promise<Hex>
  /** @returns Whether the log remembers the key. */
  has(key: Uint8Array): Promise<boolean>
}

/** The balance of the gateway's account in wei, and its permissions. */
export type Readiness = {
  balance: bigint
  /** False when the issuer is closed; it can still revoke, suspend and release. */
  mayIssue: boolean
  /** Whether it may revoke, suspend and release. */
  mayRevoke: boolean
}

// The registry, through the gateway's account, behind four ports. Methods reject with an
// `IssueError`: `chain_unavailable` when the node did not answer, another code when the chain
// refuses the transaction.

/** The account that this gateway writes with. */
export type Account = {
  /** Rejects when this account cannot write now. */
  assertReady(): Promise<Readiness>
  /** The next nonce after the newest block: all lower ones are used. */
  nextNonce(): Promise<number>
  /**
   * The next nonce after the transactions in the node's pool, up to the first gap.
   */
  pooledNonce(): Promise<number>
  /**
   * The mined transaction that used a nonce; `undefined` when there is none, or when the nodes do
   * not keep the state of its block any more.
   */
  transactionWith(nonce: number): Promise<Hex | undefined>
}

export type PrepareOptions = {
  nonce: number
  /** Maximum wei that the transaction may cost; absent = any fee. */
  maxFee?: bigint
  /**
   * The transaction to replace, with the same nonce: fee and tip are at least 12.5 % higher, or
   * what the chain requires, whichever is higher.
   */
  replaced?: SignedTransaction
  /**
   * Whether a transaction with this nonce was signed before. Then one is made even if the call
   * would change nothing any more: the nonces after it wait.
   */
  isPlanned?: boolean
}

/** The price of a transaction. */
export type Quote = {
  /** As the node estimates it. */
  gas: bigint
  /** Wei, at the current price of gas. */
  fee: bigint
  /** Wei: the transaction may cost as much when the price rises. */
  maxFee: bigint
}

export type Quotes = {
  /** @throws {IssueError} when no such transaction can be made now. */
  quote(intents: readonly Intent[]): Promise<Quote>
}

/** Transactions of the account. */
export type Transactions = {
  /**
   * Makes and signs the transaction of intents that `goTogether`.
   *
   * @throws {IssueError} `too_large` when they do not fit in one transaction, or under `maxFee`;
   * `fee_too_high` when a single intent does not fit under `maxFee`.
   */
  prepare(intents: readonly Intent[], options: PrepareOptions): Promise<SignedTransaction>
  /** Whether it pays the fee that the chain requires now. */
  meetsCurrentFee(transaction: SignedTransaction): Promise<boolean>
  /**
   * Rejects with `fee_too_high` when a transaction of one intent would cost more.
   *
   * @param maxFee Wei; absent = any fee.
   */
  assertAffordable(maxFee?: bigint): Promise<void>
  /**
   * Sends it. Succeeds when a node has it already, or when its nonce is used.
   *
   * @returns `occupied` when the nodes refuse it and have another transaction with its nonce, which
   * it may have to replace.
   * @throws {IssueError} `registry_refused` when the nodes refuse it.
   */
  broadcast(transaction: SignedTransaction): Promise<'taken' | 'occupied'>
}

/** The registry's records and events of the issuer's documents. */
export type RegistryReader = {
  /** The issuer's record of each, in order; of a batch, with the size as `validUntil`. */
  records(keys: readonly RecordKey[]): Promise<TrustedRecord[]>
  /**
   * The transactions in a block that issued, revoked (or suspended) or released documents of the
   * issuer, by documentHash, and likewise batches, by root. `undefined` when no node keeps the events of that block any more.
   */
  transactionsOf(
    event: RegistryEvent,
    blockNumber: number,
  ): Promise<Map<Hex, Anchoring> | undefined>
  /** `undefined` when the transaction is not in a block, or no node keeps its receipt any more. */
  receiptOf(transactionHash: Hex): Promise<Receipt | undefined>
  /** Whether a node has the transaction, but not in a block. */
  isPooled(transactionHash: Hex): Promise<boolean>
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
  /**
   * The hash of the block that has this number now; `null` when the node does not have it.
   */
  blockHash(blockNumber: number): Promise<Hex | null>
  /**
   * The number of the newest final block; 0 (genesis) until another block is final. Rejects when it
   * is unknown.
   */
  finalizedBlock(): Promise<number>
}
