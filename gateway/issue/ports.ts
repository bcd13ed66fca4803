import type { Hex } from '../../document/hex.ts'
import type { BlockRead, RegistryRecord } from '../../verifier/ports.ts'

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

/** What the outbox stores about the payload of a document to issue. */
export type Payload = {
  /**
   * Whether the intent inserted it in the store: only then is it removed with the intent.
   */
  inserted: boolean
  /**
   * The sealed bytes (never plaintext), to restore them in a payload store that lost them; absent
   * when the store is in the same database.
   */
  sealed?: Uint8Array
}

/** A document to issue. */
export type IssueIntent = {
  kind: 'issue'
  documentHash: Hex
  /** Seconds of the Unix epoch; 0 = never expires. */
  validUntil: number
}

/** A document to revoke permanently, to suspend, or to release from a suspension. */
export type RevisionIntent =
  | {
      kind: 'revoke'
      documentHash: Hex
      /** RFC 5280 reason code of a final revocation. */
      reason: number
    }
  | { kind: 'suspend'; documentHash: Hex }
  | { kind: 'release'; documentHash: Hex }

/** A change to make on the chain. There is one of each kind for a document. */
export type Intent = IssueIntent | RevisionIntent

/** A signed transaction: `raw` is broadcast, every time the same bytes. */
export type SignedTransaction = {
  nonce: number
  hash: Hex
  raw: Hex
  gasLimit: bigint
  /** Wei per unit of gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A nonce, its intents, and every transaction signed for it, the newest last. */
export type Plan = {
  id: number
  nonce: number
  intents: readonly Intent[]
  attempts: readonly SignedTransaction[]
}

/** A block as it was seen. After a reorg, another block has its number. */
export type BlockId = { blockNumber: number; blockHash: Hex }

/**
 * Where an intent is anchored; `transactionHash` is `null` when no node keeps its block any more.
 */
export type Anchoring = BlockId & { transactionHash: Hex | null }

/** Placeholder for the hash of a block that was not read yet. */
export const UNSEEN: Hex = '0x'

/**
 * An intent that is on the chain, in a block that may not be final yet. A later change applies only
 * while the outbox still has it there.
 */
export type Anchored = { intent: Intent; anchoring: Anchoring }

/** An intent that a reorg moved. */
export type Moved = Anchored & { now: Anchoring }

/** The receipt of a transaction. */
export type Receipt = BlockId & {
  /** Whether the call of the registry succeeded. */
  succeeded: boolean
  /** The documents that it issued. */
  issued: ReadonlySet<Hex>
  /** Its cost in wei; `undefined` when the node does not report it. */
  fee?: bigint
}

/** The registry's events about a document; a suspension is a revocation there. */
export type RegistryEvent = 'issued' | 'revoked' | 'released'

/** A record, and whether it reads Distrusted. */
export type TrustedRecord = RegistryRecord & { distrusted: boolean }

/**
 * An intent in the outbox (a revocation with the reason of its first request), and its state.
 * `transactionHash` is that of its newest attempt, or of the one that anchored it; `promised`: a
 * caller may have been told `pending`.
 */
export type Standing = { intent: Intent } & (
  | { anchored: false; promised: boolean; transactionHash: Hex | null }
  | { anchored: true; transactionHash: Hex | null }
)

/** An intent that waits for a transaction. */
export type QueuedIntent = {
  intent: Intent
  /** Not before this time, since the chain refused it; milliseconds of the Unix epoch. */
  asideUntil: number | null
}

/** The outcomes of some intents, as the outbox needs them. */
export type Resolution = {
  anchored: readonly Anchored[]
  /** Can never be anchored, or there is nothing to do: they leave the outbox. */
  gone: readonly Intent[]
}

// The outbox keeps promises on disk, behind seven ports: for requests, the backlog, plans, fees,
// anchored intents, their blocks, and payloads. A method that changes something resolves when the
// change is durable.

/** The outbox for requests. */
export type Outbox = {
  /**
   * Adds an intent; does nothing when it is there already. A suspension and a release undo each
   * other, and may alternate any number of times: one that is on the chain already is queued
   * again.
   *
   * @param promised Whether the caller will be told `pending` in any case.
   * @returns For a document to issue, whether it was added; of concurrent calls one adds it. For a
   * revision, `false` when the opposite is not on the chain yet, so that nothing was added;
   * once the new one is there, the opposite leaves the outbox.
   */
  add(intent: Intent, promised?: boolean, payload?: Payload): Promise<boolean>
  /**
   * Once a caller has been told `pending`, the intent may no longer be withdrawn.
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
  resolve(outcome: Resolution): Promise<void>
}

/** The transactions in flight. */
export type Plans = {
  /** By nonce. */
  plans(): Promise<Plan[]>
  /** Persists a plan, before its first broadcast. */
  plan(transaction: SignedTransaction, intents: readonly Intent[]): Promise<Plan>
  /**
   * Persists another transaction for a plan's nonce, before its broadcast.
   *
   * @param intents The plan's intents that it carries. The others go back in the queue.
   */
  replace(plan: Plan, transaction: SignedTransaction, intents: readonly Intent[]): Promise<Plan>
  /**
   * Removes a plan with its outcome. Intents that the outcome does not name go back in the queue.
   *
   * @param fee Its cost in wei.
   */
  settle(plan: Plan, outcome: Resolution, fee: bigint): Promise<void>
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
   *
   * @param sealed As in `Payload`.
   */
  adopt(intent: IssueIntent, anchoring: Anchoring, sealed?: Uint8Array): Promise<void>
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
  review(found: Review): Promise<Intent[]>
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

/** What a look at the chain found about anchored intents. */
export type Review = {
  /** Final, or can never be anchored: they leave the outbox. */
  gone: readonly Anchored[]
  /** A reorg moved them. */
  moved: readonly Moved[]
  /** A reorg dropped them: back in the queue. */
  dropped: readonly Anchored[]
}

export type PromisedPayload = { documentHash: Hex; sealed: Uint8Array }

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
}

/** Transactions of the account. */
export type Transactions = {
  /**
   * Makes and signs the transaction of intents of one kind (and one reason).
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
  /** The issuer's record of each hash, in order. */
  records(documentHashes: readonly Hex[]): Promise<TrustedRecord[]>
  /**
   * The transactions in a block that issued, revoked (or suspended) or released documents of the
   * issuer, by documentHash. `undefined` when no node keeps the events of that block any more.
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
   * The number of the newest final block; 0, the genesis block, if there is no other. Rejects when
   * it is unknown.
   */
  finalizedBlock(): Promise<number>
}
