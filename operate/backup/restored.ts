import type { Hex } from '#document/hex.ts'
import type { Intent } from '#promise/intent.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { ErasureList } from '#store/erasure-list.ts'
import type { Binding } from '#store/stores.ts'
import type { IsBlockErased } from '#store/tombstones.ts'
import type { Side } from '../tables/rows.ts'

/** Promised, and not on the chain when the backup was made. */
export type Waiting = { id: number; kind: Intent['kind']; documentHash: Hex; root: Hex | null }

/** A database that was restored from a backup, and that no gateway uses. */
export type Restored = {
  side: Side
  /** @throws {BackupError} when it is damaged, or belongs to another registry, issuer or secret. */
  assertUsable(binding: Binding): Promise<void>
  /** @returns How many erasures of the list it did not have. */
  mergeErasures(list: ErasureList): Promise<number>
  waiting(): Promise<Waiting[]>
  drop(ids: readonly number[]): Promise<void>
  /** @returns The newest block of the history; -1 when it is empty. */
  newestBlock(): Promise<number>
  /** @returns Whether it knows a document or batch by its intent. */
  isPromised(hash: Hex): Promise<boolean>
  /** @returns Whether a batch is in the history. */
  hasBatch(root: Hex): Promise<boolean>
  /** Lists a batch for keys with `admin`: whose it was is not known. */
  listBatch(batch: { root: Hex; size: number; manifest: Hex }): Promise<void>
  /** Payloads in the database. */
  store: PayloadStore
  isErased: IsBlockErased
}
