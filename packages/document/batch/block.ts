import * as v from 'valibot'
import { decodeBase64url, encodeBase64url } from '../base64url.ts'
import { encodeUtf8, equalBytes } from '../bytes.ts'
import { fromCanonical } from '../canonical.ts'
import { FormatError, refusingAs } from '../errors.ts'
import { fromHex } from '../hex.ts'
import { bytes32, issuerId, registry } from '../members.ts'
import { encodeEntry, MAX_VALID_UNTIL } from './entry.ts'
import { size } from './manifest.ts'
import { isProofLength, NODE, rootOf } from './tree.ts'

/**
 * Leads from the publicId of a document in a batch to its record. It contains the root that anchors
 * the document, and the proof of this.
 */
export type BatchBlock = Omit<v.InferOutput<typeof schema>, 'proof' | 'v'> & {
  /** The siblings from the leaf upwards, 32 bytes each. */
  proof: Uint8Array
}

/** More bytes than any batch block has. */
const MAX_BYTES = 4096

const schema = v.strictObject({
  documentHash: bytes32,
  issuerId,
  manifest: bytes32,
  proof: v.string(),
  registry,
  root: bytes32,
  size,
  v: v.literal(1),
  validUntil: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_VALID_UNTIL)),
})

/**
 * @example
 * ```ts
 * const block = decodeBatchBlock(batchBlock)
 * toHex(encodeBatchBlock(block)) === toHex(batchBlock) // => true
 * ```
 */
export function encodeBatchBlock(block: BatchBlock): Uint8Array {
  const { documentHash, issuerId, manifest, registry, root, size, validUntil } = block
  const proof = encodeBase64url(block.proof)
  // The members are ASCII and in the order of RFC 8785, so JSON.stringify writes the same bytes.
  const members = {
    documentHash,
    issuerId,
    manifest,
    proof,
    registry,
    root,
    size,
    v: 1,
    validUntil,
  }
  return encodeUtf8(JSON.stringify(members))
}

/**
 * @throws {FormatError} `batch_malformed`, also for a proof whose length does not match the size.
 * Whether the proof leads to the root is checked by {@link provesRoot} and the registry.
 *
 * @example
 * ```ts
 * const block = decodeBatchBlock(batchBlock)
 * block.size // => 1
 * ```
 */
export function decodeBatchBlock(bytes: Uint8Array): BatchBlock {
  return refusingAs('batch_malformed', 'invalid batch block', () => {
    const { success, output } = v.safeParse(
      schema,
      bytes.length <= MAX_BYTES ? fromCanonical(bytes) : undefined,
    )
    if (!success) throw new FormatError('batch_malformed', 'the batch block has invalid members')
    const { v: _, proof: text, ...members } = output
    const proof = decodeBase64url(text)
    if (!isProofLength(proof.length / NODE, members.size))
      throw new FormatError('batch_malformed', 'the proof has the wrong length')
    return { ...members, proof }
  })
}

/**
 * @returns Whether the proof leads from the document to the root.
 *
 * @example
 * ```ts
 * const block = decodeBatchBlock(batchBlock)
 * provesRoot(block) // => true
 * provesRoot({ ...block, validUntil: 1 }) // => false
 * ```
 */
export function provesRoot(block: BatchBlock): boolean {
  const { validUntil, proof } = block
  const documentHash = fromHex(block.documentHash)
  const entry = encodeEntry({ documentHash, validUntil })
  return equalBytes(rootOf(entry, proof), fromHex(block.root))
}
