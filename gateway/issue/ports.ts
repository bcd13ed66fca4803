import type { Hex } from '../../document/hex.ts'
import type { BlockRead, RegistryRecord } from '../../verifier/ports.ts'

/** Keeps sealed documents by their sha-256 (32 bytes). What `put` resolved for survives a kill and a power cut. */
export type PayloadStore = {
  /** @returns Whether it inserted something that `remove` would take back; `false` when the block was there before. */
  put(hash: Uint8Array, bytes: Uint8Array): Promise<boolean>
  get(hash: Uint8Array): Promise<BlockRead>
  /** Takes back one `put` that inserted. Not erasure: it may be put again. */
  remove(hash: Uint8Array): Promise<void>
}

/** What the outbox keeps of the payload of a document to issue. */
export type Payload = {
  /** Whether the intent inserted it in the store: only then does it go when the intent is withdrawn. */
  inserted: boolean
  /**
   * The sealed bytes (never plaintext), so that a payload store that lost them can be mended; absent
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

/** A document to revoke for good, to suspend, or to release from a suspension. */
export type RevisionIntent =
  | {
      kind: 'revoke'
      documentHash: Hex
      /** RFC 5280 reason code of a final revocation. */
      reason: number
    }
  | { kind: 'suspend'; documentHash: Hex }
  | { kind: 'release'; documentHash: Hex }

/** Something that is to happen on the chain. One of a kind for a document. */
export type Intent = IssueIntent | RevisionIntent

/** A signed transaction: `raw` is what is broadcast, again and again the same bytes. */
export type SignedTransaction = {
  nonce: number
  hash: Hex
  raw: Hex
  gasLimit: bigint
  /** Wei for a unit of gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** A nonce, the intents that it is for, and every transaction signed for it; the newest last. */
export type Plan = {
  id: number
  nonce: number
  intents: readonly Intent[]
  attempts: readonly SignedTransaction[]
}

/** A block as it was seen. After a reorg another has its number. */
export type BlockId = { blockNumber: number; blockHash: Hex }

/** Where an intent is anchored; `transactionHash` is `null` where no node keeps its block any more. */
export type Anchoring = BlockId & { transactionHash: Hex | null }

/** In place of the hash of a block that is yet to be looked at. */
export const UNSEEN: Hex = '0x'

/**
 * An intent that is on the chain, in a block that may not be final yet. What is done to it later is
 * only done while it is still there in the outbox.
 */
export type Anchored = { intent: Intent; anchoring: Anchoring }

/** An intent that is elsewhere on the chain now. */
export type Moved = Anchored & { now: Anchoring }

/** What the receipt of a transaction shows. */
export type Receipt = BlockId & {
  /** A call of the registry that succeeded has done all that it could do. */
  succeeded: boolean
  /** The documents that it issued. */
  issued: ReadonlySet<Hex>
  /** What it cost, in wei; `undefined` when the node does not say. */
  fee?: bigint
}

/** What the registry logs about a document; a suspension is a revocation there. */
export type RegistryEvent = 'issued' | 'revoked' | 'released'

/** A record, and whether it reads Distrusted. */
export type TrustedRecord = RegistryRecord & { distrusted: boolean }

/**
 * An intent as it is in the outbox (a revocation with the reason of the first request for it), and where
 * it stands; `transactionHash` is that of its newest attempt, or of the one that anchored it;
 * `promised`: a caller was told that it will be anchored.
 */
export type Standing = { intent: Intent } & (
  | { anchored: false; promised: boolean; transactionHash: Hex | null }
  | { anchored: true; transactionHash: Hex | null }
)

/** An intent that waits for a transaction. */
export type QueuedIntent = {
  intent: Intent
  /** Milliseconds of the Unix epoch: not before then, since the chain refused it on its own. */
  asideUntil: number | null
}

/** What the chain shows of some intents. */
export type Resolution = {
  anchored: readonly Anchored[]
  /** They leave the outbox: they can never be anchored, or there is nothing to do. */
  gone: readonly Intent[]
}

// The outbox is what was promised, on disk, behind five ports: for requests, for what waits, for what is in flight, for what is on
// the chain, and for payloads. Every method that changes something resolves when its change is durable.

/** For those who ask that something is anchored. */
export type Outbox = {
  /**
   * Adds an intent; does nothing when the same is there already. To suspend and to release undo each
   * other, and so may follow each other any number of times: one that is on the chain already goes
   * back in the queue, to be done again.
   *
   * @param promised Whether the caller will be told `pending`, whatever comes.
   * @returns For a document to issue, whether it was added; of concurrent calls one adds it. For
   *   anything else, `false` when the opposite is not on the chain yet, so that nothing was added;
   *   once the new one is there, the opposite leaves the outbox.
   */
  add(intent: Intent, promised?: boolean, payload?: Payload): Promise<boolean>
  /**
   * Once a caller has been told `pending`, the intent may no longer be withdrawn.
   *
   * @returns Where it stands; `undefined` when it is not in the outbox (any more).
   */
  promise(kind: Intent['kind'], documentHash: Hex): Promise<Standing | undefined>
  /** Takes back intents that were not promised and that no transaction ever carried. */
  withdraw(intents: readonly Intent[]): Promise<Withdrawn>
  /** Where an intent stands; `undefined` when it is not in the outbox. */
  find(kind: Intent['kind'], documentHash: Hex): Promise<Standing | undefined>
}

export type Withdrawn = {
  /** Those that are no longer in the outbox. The others are promised. */
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
  /** What became of intents that wait for a transaction, and need none. */
  resolve(outcome: Resolution): Promise<void>
}

/** The transactions in flight. */
export type Plans = {
  /** By nonce. */
  plans(): Promise<Plan[]>
  /** Before the first broadcast: which intents this transaction carries. */
  plan(transaction: SignedTransaction, intents: readonly Intent[]): Promise<Plan>
  /**
   * Before its broadcast: another transaction for the nonce of a plan.
   *
   * @param intents Of those of the plan, the ones that it carries. The others go back in the queue.
   */
  replace(plan: Plan, transaction: SignedTransaction, intents: readonly Intent[]): Promise<Plan>
  /**
   * After the chain showed what became of a plan; it is done with, and what is not named goes back in the queue.
   *
   * @param fee What it has cost, in wei.
   */
  settle(plan: Plan, outcome: Resolution, fee: bigint): Promise<void>
}

/** What settled plans have cost. */
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
   * Guards a document that is on the chain already, until its block is final, as if it had been sent
   * from here. Does nothing when it is in the outbox.
   *
   * @param sealed As in `Payload`.
   */
  adopt(intent: IssueIntent, anchoring: Anchoring, sealed?: Uint8Array): Promise<void>
  /** The blocks with intents that are not final yet, by number. */
  blocks(): Promise<BlockId[]>
  /** Some of the intents in blocks up to this one, those of the oldest blocks first. */
  anchoredUpTo(blockNumber: number, limit: number): Promise<Anchored[]>
  /** Some of the intents in this block. */
  anchoredIn(block: BlockId, limit: number): Promise<Anchored[]>
  /**
   * After a look at the chain; all of it at once.
   *
   * @returns The dropped intents that are in the queue now. Not among them are those whose opposite waits: that one was asked for
   *   last.
   */
  review(found: Review): Promise<Intent[]>
}

/** What a look at the chain found of intents that were anchored. */
export type Review = {
  /** They leave the outbox: final, or never to be. */
  gone: readonly Anchored[]
  /** A reorg has put them elsewhere. */
  moved: readonly Moved[]
  /** A reorg dropped them: back in the queue. */
  dropped: readonly Anchored[]
}

/** The payloads of documents to issue, as far as the outbox keeps or owns them. */
export type PromisedPayloads = {
  /** The sealed bytes of every document to issue that is in the outbox. */
  payloads(): AsyncIterable<{ documentHash: Hex; sealed: Uint8Array }>
  /** The payload of an intent to issue is no longer its own: it stays whatever becomes of the intent. */
  disown(documentHash: Hex): Promise<void>
}

/** What gateways remember of requests with an `Idempotency-Key`. It holds no key and nothing of a document. */
export type IdempotencyLog = {
  /**
   * Remembers which document a key was first used for, for at least 24 hours.
   *
   * @param key A digest, 32 bytes.
   * @returns The documentHash of that first use: the given one, or another when the key was used for another document.
   */
  claim(key: Uint8Array, documentHash: Hex): Promise<Hex>
  /** @returns Whether the key was claimed, and is remembered. */
  has(key: Uint8Array): Promise<boolean>
}

/** What the gateway's account has left for gas, in wei, and what it may do. */
export type Readiness = {
  balance: bigint
  /** False when the issuer is closed, which still revokes, suspends and releases. */
  mayIssue: boolean
  /** Whether it may revoke, suspend and release. */
  mayRevoke: boolean
}

// The registry, through the gateway's account, behind four ports. Methods reject with an `IssueError`: `chain_unavailable` when the
// node did not answer, another code when the chain would not take the transaction.

/** The one account that this gateway writes with. */
export type Account = {
  /**
   * Rejects when this account cannot write now.
   */
  assertReady(): Promise<Readiness>
  /** The nonce that follows the newest block: all below are used. */
  nextNonce(): Promise<number>
  /** The nonce that follows the transactions in the node's pool, as far as these can be mined one after the other. */
  pooledNonce(): Promise<number>
}

export type PrepareOptions = {
  nonce: number
  /** Maximum wei that the transaction may cost; absent = any fee. */
  maxFee?: bigint
  /** A transaction with the same nonce: fee and tip are at least 12.5 % higher, unless the chain asks for more. */
  replaced?: SignedTransaction
}

/** Transactions of the account. */
export type Transactions = {
  /**
   * Makes and signs the transaction of intents of one kind (and one reason).
   *
   * @throws {IssueError} `too_large` when so many do not fit in a transaction, or in what it may cost; `fee_too_high` when a single
   *   one does not.
   */
  prepare(intents: readonly Intent[], options: PrepareOptions): Promise<SignedTransaction>
  /** Whether it pays what the chain asks for now. */
  meetsCurrentFee(transaction: SignedTransaction): Promise<boolean>
  /**
   * Rejects with `fee_too_high` when a transaction of one intent would cost more.
   *
   * @param maxFee Wei; absent = any fee.
   */
  assertAffordable(maxFee?: bigint): Promise<void>
  /**
   * Sends it. A node that has it already, or has used its nonce, is success.
   *
   * @returns `occupied` when the nodes do not take it and have another transaction with its nonce, which it may have to replace.
   * @throws {IssueError} `registry_refused` when the nodes answered that they do not take it.
   */
  broadcast(transaction: SignedTransaction): Promise<'taken' | 'occupied'>
}

/** What the registry has of the issuer's documents. */
export type RegistryReader = {
  /** The record of each hash under the issuer, in their order. */
  records(documentHashes: readonly Hex[]): Promise<TrustedRecord[]>
  /**
   * The transactions in a block that issued, revoked (or suspended) or released documents of the
   * issuer, by documentHash. `undefined` when no node keeps the events of that block any more.
   */
  transactionsOf(
    event: RegistryEvent,
    blockNumber: number,
  ): Promise<Map<Hex, Anchoring> | undefined>
  /** `undefined` when the transaction is in no block, or no node keeps its receipt any more. */
  receiptOf(transactionHash: Hex): Promise<Receipt | undefined>
  /** Whether a node has the transaction, and no block has it. */
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
  /** The hash of the block that has this number now; `null` when the node has none, or not any more. */
  blockHash(blockNumber: number): Promise<Hex | null>
  /** The number of the newest final block; 0, the genesis block, while there is no other. Rejects when it is unknown. */
  finalizedBlock(): Promise<number>
}
