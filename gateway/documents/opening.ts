import { type BatchBlock, decodeBatchBlock } from '#document/batch/block.ts'
import type { Document } from '#document/document.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import { deriveSealingKeys, type IssuerSubkeys } from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import { type Opener, readSealedHeader } from '#document/sealed.ts'
import type { IndexedDocument } from '#promise/document-index.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { DocumentKey } from '#verifier/ports.ts'

/** A document that the gateway opened with the issuer secret. */
type OpenedDocument = {
  status: 'opened'
  publicId: string
  document: Document
  /** The key of its record. */
  key: DocumentKey
}

/**
 * `missing` = the store has no such payload, or none of the issuer secrets opens it. The key of its
 * record is then absent if its batch block is missing too.
 */
export type Opening = OpenedDocument | { status: 'missing' | 'erased'; key?: DocumentKey }

/** Opens documents of this issuer by their hash, and returns their publicIds. */
export type OpenIndexed = (
  indexed: Pick<IndexedDocument, 'documentHash' | 'batchBlock'>,
) => Promise<Opening>

/**
 * The `kid` of a sealed document is the salt from which its key was derived with the newest secret
 * at that time. So each secret is tried, as in a recovery.
 *
 * Rejects with an `IssueError` `store_unavailable`.
 */
export function createOpenIndexed(deps: {
  issuerId: number
  store: PayloadStore
  /** The subkeys of every issuer secret. */
  subkeys: readonly IssuerSubkeys[]
  opener: Opener
  hkdf: Hkdf
}): OpenIndexed {
  const { issuerId, store, opener } = deps

  async function openWithAny(sealed: Uint8Array) {
    for (const subkeys of deps.subkeys) {
      const found = await openWith(subkeys, sealed)
      if (found) return found
    }
    return undefined
  }

  async function openWith(subkeys: IssuerSubkeys, sealed: Uint8Array) {
    try {
      const { salt } = readSealedHeader(sealed)
      const { documentKey } = deriveSealingKeys(subkeys, salt, deps.hkdf)
      const document = opener.decodeOpened(await opener.open(sealed, documentKey), documentKey)
      return { document, documentKey }
    } catch (error) {
      if (error instanceof FormatError) return undefined
      throw error
    }
  }

  async function readBatchBlock(hash: Hex): Promise<BatchBlock | undefined> {
    const block = await store.get(fromHex(hash))
    return block.status === 'found' ? decodeBatchBlock(block.bytes) : undefined
  }

  return async ({ documentHash, batchBlock }) => {
    const payload = await store.get(fromHex(documentHash))
    const block = batchBlock === null ? undefined : await readBatchBlock(batchBlock)
    const key =
      batchBlock === null || block
        ? { issuerId, documentHash, ...(block && { batch: block }) }
        : undefined
    if (payload.status !== 'found') return { status: payload.status, ...(key && { key }) }
    const opened = await openWithAny(payload.bytes)
    if (!opened || !key) return { status: 'missing', ...(key && { key }) }
    const { document, documentKey } = opened
    const publicId = encodePublicId({
      kind: block ? 'batch' : 'single',
      issuerId,
      hash: fromHex(batchBlock ?? documentHash),
      documentKey,
    })
    return { status: 'opened', publicId, document, key }
  }
}
