import type { Hex } from '#document/hex.ts'
import { PUBLIC_ID_LENGTH } from '#document/public-id.ts'
import type { PackedDocuments } from './packed.ts'

/** A document of a batch, for the answer. */
export type IssuedLine = { publicId: string; documentHash: Hex } | { isErased: true }

/** The documents of a batch until they are answered for. */
export type Issued = {
  /** @param erased Those of them that have been erased. */
  set(documents: PackedDocuments, erased: ReadonlySet<Hex>): void
  /** @param place From 0, in the order of the upload. */
  at(place: number): IssuedLine
}

const HASH = 32

/** Takes 110 bytes of memory a document. */
export function createIssued(size: number): Issued {
  const hashes = Buffer.alloc(HASH * size)
  const publicIds = Buffer.alloc(PUBLIC_ID_LENGTH * size)
  const isErased = new Uint8Array(size)
  const hashAt = (place: number): Hex =>
    `0x${hashes.toString('hex', HASH * place, HASH * (place + 1))}`

  return {
    set(documents, erased) {
      const { first } = documents
      hashes.set(documents.hashes, HASH * first)
      publicIds.set(documents.publicIds, PUBLIC_ID_LENGTH * first)
      if (erased.size === 0) return
      const end = first + documents.hashes.length / HASH
      for (let place = first; place < end; place++)
        if (erased.has(hashAt(place))) isErased[place] = 1
    },
    at(place) {
      if (isErased[place]) return { isErased: true }
      const [start, end] = [PUBLIC_ID_LENGTH * place, PUBLIC_ID_LENGTH * (place + 1)]
      return { publicId: publicIds.toString('latin1', start, end), documentHash: hashAt(place) }
    },
  }
}
