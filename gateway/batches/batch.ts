import type { NewDeadline } from '#base/deadline.ts'
import type { FieldProblem } from '#document/errors.ts'
import type { Hex } from '#document/hex.ts'
import type { Quote } from '#promise/ports.ts'

/** The result for one line. */
export type BatchLine =
  /** The line is not a document. */
  | { line: number; problems: readonly FieldProblem[] }
  /** Of a repeat: the document has been erased since. */
  | { line: number; isErased: true }
  /** The line is a document; with its publicId and hash once its batch is issued. */
  | { line: number; publicId?: string; documentHash?: Hex }

export type BatchRequest = {
  body: AsyncIterable<Uint8Array>
  tenant: string
  /** Whose share of disk and work it takes. */
  share: string
  /** The only categories that the caller may issue; absent = all. */
  categories?: readonly string[]
  idempotencyKey?: string
  /** Whether one bad line stops all. */
  atomic: boolean
  /** Whether to issue nothing. */
  dryRun: boolean
  /** Milliseconds to wait for a block once all is stored. */
  wait: number
  newDeadline: NewDeadline
  /** Rejects when the caller may not issue any more. */
  assertAllowed(): Promise<void>
}

export type BatchOutcome =
  /** Nothing was issued: no line is good, or one is bad and the request is atomic. */
  | { status: 'refused' }
  | { status: 'checked'; size: number; quote: Quote }
  /** `pending`: it will be anchored, whatever happens to this process. */
  | {
      status: 'valid' | 'pending'
      root: Hex
      transactionHash: Hex | null
      /** Whether it had been promised or anchored before this request. */
      replayed: boolean
    }

export type BatchAnswer = {
  outcome: BatchOutcome
  /** In order; made as they are read. */
  lines: AsyncGenerator<BatchLine>
  /** Frees what the lines are made of. */
  close(): Promise<void>
}

/** Issues all documents of an upload by one Merkle root. */
export type Batches = {
  /** Reads the whole upload first. Rejects when nothing was promised. */
  issue(request: BatchRequest): Promise<BatchAnswer>
  /** Deletes what an earlier process stored of batches that it did not promise. */
  start(): void
}
