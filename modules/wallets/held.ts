import { decodeBatchBlock } from '#document/batch/block.ts'
import type { Document } from '#document/document.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { Check, VerdictStatus } from '#verifier/verdict.ts'
import { type VerifyOptions, verifyPublicId } from '#verifier/verify.ts'

/** A document as it stands on the chain now, with the bytes of a credential if it is valid. */
export type Held =
  | {
      status: 'valid'
      document: Document
      documentHash: Hex
      sealed: Uint8Array
      batchBlock?: Uint8Array
      /** The root of its batch. */
      root?: Hex
    }
  | { status: Exclude<VerdictStatus, 'valid'>; checks: readonly Check[] }

/**
 * Reads the document of a publicId, with a new verdict. One that lacks bytes is `unverifiable`.
 *
 * @throws {FormatError} `public_id_…`
 */
export type ReadHeld = (publicId: string) => Promise<Held>

/** @param optionsOf Returns the options of a verdict that begins now. */
export function createReadHeld(store: PayloadStore, optionsOf: () => VerifyOptions): ReadHeld {
  return async (publicId) => {
    const decoded = decodePublicId(publicId)
    const { status, checks, document, blockchainProof } = await verifyPublicId(decoded, optionsOf())
    if (status !== 'valid') return { status, checks }
    const { documentHash } = blockchainProof ?? {}
    if (!document || !documentHash) return { status: 'unverifiable', checks }
    const sealed = await store.get(fromHex(documentHash))
    const block = decoded.kind === 'batch' ? await store.get(decoded.hash) : undefined
    if (sealed.status !== 'found' || (block && block.status !== 'found'))
      return { status: 'unverifiable', checks }
    return {
      status,
      document,
      documentHash,
      sealed: sealed.bytes,
      ...(block && { batchBlock: block.bytes, root: decodeBatchBlock(block.bytes).root }),
    }
  }
}
