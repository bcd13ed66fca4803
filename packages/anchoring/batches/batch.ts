import type { NewDeadline } from '#base/deadline.ts'
import type { FieldProblem } from '#document/errors.ts'
import type { Hex } from '#document/hex.ts'
import type { Quote } from '#promise/ports.ts'

/** The result for one line. */
export type BatchLine =
  /** The line is not a document. */
  | { line: number; problems: readonly FieldProblem[] }
  /** When the request is repeated: the document has since been erased. */
  | { line: number; isErased: true }
  /** The line is a document. It has a publicId and hash once its batch is issued. */
  | { line: number; publicId?: string; documentHash?: Hex }

export type BatchRequest = {
  body: AsyncIterable<Uint8Array>
  tenant: string
  /** Who issues it; see `formatActor`. */
  actor?: string
  /** The owner of the share of disk and work that the request uses. */
  share: string
  /** The only categories that the caller may issue; absent = all. */
  categories?: readonly string[]
  idempotencyKey?: string
  /** Whether one bad line stops the whole batch. */
  atomic: boolean
  /** Whether to check only, and issue nothing. */
  dryRun: boolean
  /** How long to wait for a block once everything is stored, in milliseconds. */
  wait: number
  newDeadline: NewDeadline
  /** Rejects when the caller may no longer issue. */
  assertAllowed(): Promise<void>
}

/** About how many seconds a run of the documents takes, as a batch or one by one. */
export type Durations = { batch: number; single: number }

/** The cost in wei of issuing the documents without a batch, each alone or together in groups. */
export type Unbatched = { alone: bigint; grouped: bigint }

export type BatchOutcome =
  /** Nothing was issued, because all lines are bad, or one is bad and the request is atomic. */
  | { status: 'refused' }
  | {
      status: 'checked'
      size: number
      quote: Quote
      unbatched: Unbatched
      durations: Durations
    }
  /** `pending` = the batch will be anchored, whatever happens to this process. */
  | {
      status: 'valid' | 'pending'
      root: Hex
      transactionHash: Hex | null
      /** Whether the batch had been promised or anchored before this request. */
      replayed: boolean
    }

export type BatchAnswer = {
  outcome: BatchOutcome
  /** The results in order, made while they are read. */
  lines: AsyncGenerator<BatchLine>
  /** Frees the memory from which the lines are made. */
  close(): Promise<void>
}

/** Issues all documents of an upload with one Merkle root. */
export type Batches = {
  /** Reads the whole upload first. Rejects when nothing was promised. */
  issue(request: BatchRequest): Promise<BatchAnswer>
  /** Deletes what an earlier process stored for batches that it did not promise. */
  start(): void
}
