import type { IssuerSubkeys } from '#document/keys.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import type { Checked, Rules } from './lines.ts'
import type { PackedBlocks, PackedDocuments } from './packed.ts'

/** Lines that were checked. */
export type CheckedLines = Checked & {
  /** The numbers of those that are not documents, ascending. */
  badLines: Uint32Array
}

/** What to seal, and for whom. */
export type SealOrder = {
  rules: Rules
  registry: RegistryId
  issuerId: number
  subkeys: IssuerSubkeys
  /** Of the index. */
  tenant: string
  /** What the salts of the documents are made of; see `idempotentSalt`. */
  salt: { tenant: string; idempotencyKey: string }
}

export type SealedRoot = Pick<KnownBatch, 'root' | 'size' | 'manifest'>

/** Stores what is made of a batch. It is durable when they resolve. */
export type SealedParts = {
  keep(blocks: PackedBlocks): Promise<void>
  index(documents: PackedDocuments & { batch: SealedRoot }): Promise<void>
}

/** Checks and seals documents beside the event loop. */
export type Sealer = {
  /**
   * @param chunks NDJSON.
   * @returns `undefined` when there are more than `maxLines`.
   */
  check(
    chunks: AsyncIterable<Uint8Array>,
    rules: Rules,
    maxLines: number,
  ): Promise<CheckedLines | undefined>
  /**
   * Seals the documents of NDJSON, and builds their batch.
   *
   * @returns The batch once all parts are kept. Rejects as they do.
   */
  seal(chunks: AsyncIterable<Uint8Array>, order: SealOrder, parts: SealedParts): Promise<SealedRoot>
}
