import { sha256 } from '@noble/hashes/sha2.js'
import { buildBatch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { type Document, validUntilOf } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import { deriveSealingKeys, deriveSubkeys } from '#document/keys.ts'
import {
  type Choice,
  choicesOf,
  createPresentation,
  type Presentation,
} from '#document/presentation.ts'
import { encodePublicId } from '#document/public-id.ts'
import { seal } from '#document/sealed.ts'
import type { MemoryRegistry } from './memory-registry.ts'

/** A sealed document and its holder's data. */
export type Held = {
  document: Document
  documentKey: Uint8Array
  documentHash: Uint8Array
  sealed: Uint8Array
  publicId: string
  batchBlock?: Uint8Array
}

const subkeys = deriveSubkeys(new Uint8Array(32).fill(7))

/** Seals a document and issues it, alone or in a batch of five. */
export async function hold(
  document: Document,
  { salt, inBatch = false }: { salt: Uint8Array; inBatch?: boolean },
  registry: MemoryRegistry,
): Promise<Held> {
  const keys = deriveSealingKeys(subkeys, salt)
  const { bytes: sealed, documentHash } = await seal(document, keys)
  const { issuerId } = document
  const { documentKey } = keys
  const held = { document, documentKey, documentHash, sealed }
  if (!inBatch) {
    registry.issue(documentHash, validUntilOf(document))
    const hash = documentHash
    const id = { kind: 'single', issuerId, hash, documentKey } as const
    return { ...held, publicId: encodePublicId(id) }
  }
  const entry = { documentHash, validUntil: validUntilOf(document) }
  const others = [0, 1, 2, 3].map((i) => ({
    documentHash: sha256(Uint8Array.of(...salt, i)),
    validUntil: 0,
  }))
  const batch = await buildBatch(document, [entry, ...others])
  registry.issueBatch(batch.root)
  const block = batch.blockOf(documentHash)
  if (!block) throw new Error(`no ${toHex(documentHash)} in its batch`)
  const batchBlock = encodeBatchBlock(block)
  const hash = sha256(batchBlock)
  const id = { kind: 'batch', issuerId, hash, documentKey } as const
  return { ...held, batchBlock, publicId: encodePublicId(id) }
}

/** Presents a document with its sealed bytes; discloses everything by default. */
export function present(
  { publicId, sealed, batchBlock, document }: Held,
  choose: Choice = choicesOf(document),
  includeSealed = true,
): Promise<Presentation> {
  return createPresentation({
    publicId,
    sealed,
    choose,
    includeSealed,
    ...(batchBlock && { batchBlock }),
  })
}
