import { fromHex, type Hex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import { LIST_SIZE } from './status-list.ts'

/** A document as a credential shows it. */
export type Listed = {
  documentHash: Hex
  /** The root of its batch; absent = issued alone. */
  root?: Hex | undefined
}

/** A place in a status list. Lists have numbers from 1 on. */
export type Slot = { list: number; index: number }

/** A document, and whether it was erased here. */
export type Known = Listed & { erased: boolean }

/** A document that is in a list. */
export type Entry = Known & { index: number }

/** What the index of documents knows. */
export type KnownDocuments = {
  documents: Known[]
  /** The number of documents that are on the chain and were issued alone. */
  alone: number
  /** The number of batches of which it knows all documents. */
  batches: number
}

/** The places of documents in status lists, which never change. */
export type StatusSlots = {
  /**
   * Gives a document the first free index of those that a list offers. It keeps the slot that it
   * has. The result is durable when the promise resolves.
   */
  take(listed: Listed, indexesIn: (list: number) => readonly number[]): Promise<Slot>
  /**
   * @returns The entries of a list; `undefined` when there is no such list. A list is lost when
   * other documents may be in it, because the database was made again from a backup or the chain.
   */
  entries(list: number): Promise<{ entries: Entry[]; isLost: boolean } | undefined>
  known(): Promise<KnownDocuments>
}

/** How many indexes a list offers to a document. */
const OFFERED = 2
const INDEX_BYTES = 4

/**
 * @returns The indexes that a list offers to a document. They look random, so they tell neither the
 * document nor the order, and follow from the issuer secret, so they can be found again.
 */
export function indexesOf(
  { index }: Pick<IssuerSubkeys, 'index'>,
  { documentHash, root }: Listed,
  list: number,
  hkdf: Hkdf,
): number[] {
  const key = fromHex(root === undefined ? documentHash : `${documentHash}${root.slice(2)}`)
  const bytes = hkdf(key, index)(`document-registry/v1/status-list/${list}`, INDEX_BYTES * OFFERED)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return Array.from({ length: OFFERED }, (_, i) => view.getUint32(INDEX_BYTES * i) % LIST_SIZE)
}
