import type { Hex } from '../../document/hex.ts'
import type { BlockRead, RegistryStatus } from '../../verifier/ports.ts'

/** Keeps sealed documents by their sha-256 (32 bytes). What `put` resolved for survives a kill and a power cut. */
export type PayloadStore = {
  put(hash: Uint8Array, bytes: Uint8Array): Promise<void>
  get(hash: Uint8Array): Promise<BlockRead>
  /** Forgets a block that was never anchored. Not erasure: it may be put again. */
  remove(hash: Uint8Array): Promise<void>
}

/** Something that is to happen on the chain. */
export type Intent = {
  kind: 'issue'
  documentHash: Hex
  /** Seconds of the Unix epoch; 0 = never expires. */
  validUntil: number
}

/** A signed transaction: `raw` is what is broadcast, again and again the same bytes. */
export type SignedTransaction = { nonce: number; hash: Hex; raw: Hex }

/** Where an intent is anchored. */
export type Anchoring = { blockNumber: number; transactionHash: Hex }

/** A transaction that was signed and is not known to have happened, with the intents that it carries. */
export type Plan = { transaction: SignedTransaction; intents: Intent[] }

/** An intent that is on the chain, in a block that may not be final yet. */
export type Anchored = { intent: Intent; anchoring: Anchoring }

/** Where an intent stands; `transactionHash` is that of its newest attempt, or of the one that anchored it. */
export type Standing =
  | { anchored: false; transactionHash: Hex | null }
  | { anchored: true; transactionHash: Hex }

/** What was promised, on disk. Each method resolves when its change is durable. */
export type Outbox = {
  /**
   * Adds an intent; does nothing when the same is there already.
   *
   * @param sealed The sealed bytes (never plaintext), so that a payload store that lost them can be mended.
   */
  add(intent: Intent, sealed: Uint8Array): Promise<void>
  /** Takes back intents that nobody was told of and no transaction ever carried. */
  withdraw(intents: readonly Intent[]): Promise<void>
  /** Before broadcast: which transaction carries which intents. */
  plan(plan: Plan): Promise<void>
  /** After the chain showed them. */
  anchored(anchored: readonly Anchored[]): Promise<void>
  /** Back in the queue: their transaction did not anchor them, or a reorg dropped it. */
  requeue(intents: readonly Intent[]): Promise<void>
  /** Leaves the outbox: final, or never to be. */
  remove(intents: readonly Intent[]): Promise<void>
  /** What waits for a transaction, in order. */
  queued(): Intent[]
  /** The transaction that was in flight, if any. */
  openPlan(): Plan | undefined
  /** What is on the chain and not final yet, in order. */
  notFinal(): Anchored[]
  /** Where an intent stands; `undefined` when it is not in the outbox. */
  find(documentHash: Hex): Standing | undefined
}

/** What the registry says of a hash. */
export type Holder = { issuerId: number; blockNumber: number }

/**
 * The registry, through the gateway's account. Methods reject with an `IssueError`: `chain_unavailable` when the node did not
 * answer, `registry_refused` when the chain would not take the transaction.
 */
export type Registry = {
  /** CAIP-10. */
  readonly registry: string
  readonly issuerId: number
  /** Rejects when this account cannot issue now. */
  assertReady(): Promise<void>
  /** Makes and signs the transaction of these intents, with the account's next nonce and an estimate of the gas. */
  prepare(intents: readonly Intent[]): Promise<SignedTransaction>
  /** Sends it; a node that has it already is success. */
  broadcast(transaction: SignedTransaction): Promise<void>
  /** Whether the nonce was used, by this transaction or another. */
  isNonceUsed(transaction: SignedTransaction): Promise<boolean>
  /** The holder of each hash, in their order; `undefined` for a hash that has no record. */
  holders(documentHashes: readonly Hex[]): Promise<(Holder | undefined)[]>
  /** The status of a document, as of the newest block. */
  statusOf(documentHash: Hex): Promise<RegistryStatus>
  /** The transactions that anchored these hashes in this block, by hash. */
  transactionsOf(blockNumber: number): Promise<Map<Hex, Hex>>
  /** The number of the newest final block. */
  finalizedBlock(): Promise<number>
}
