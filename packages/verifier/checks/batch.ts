import { type BatchBlock, decodeBatchBlock } from '../../document/batch/block.ts'
import { FormatError } from '../../document/errors.ts'
import type { PublicId } from '../../document/public-id.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import type { BlockSource, DocumentKey, ReadOptions } from '../ports.ts'
import type { Check } from '../verdict.ts'
import { readPayload } from './payload.ts'

/**
 * Reads the batch block of a document, which links its publicId to its record.
 *
 * The registry checks whether the proof leads to the root. An erased block counts as unknown: it
 * contains nothing about a subject, so nobody has a reason to erase it.
 *
 * @param publicId A publicId of kind 2.
 * @param registry The CAIP-10 account ID of the registry to trust.
 * @returns The registry query, absent unless the check passes; and the block, absent when no source
 * has it.
 */
export async function readBatch(
  { hash, issuerId }: PublicId,
  registry: RegistryId,
  sources: readonly BlockSource[],
  options: ReadOptions = {},
): Promise<{ check: Check; key?: DocumentKey; bytes?: Uint8Array }> {
  const { check, bytes } = await readPayload(hash, sources, options)
  if (!bytes) return { check: { ...check, check: 'batch', outcome: 'unknown' } }
  const block = decode(bytes)
  const code = problemOf(block, issuerId, registry)
  if (!block || code) return { check: failed(code ?? 'batch_malformed'), bytes }
  const { documentHash, root, validUntil, proof } = block
  return {
    check: { check: 'batch', outcome: 'pass', code: 'read' },
    key: { issuerId, documentHash, batch: { root, validUntil, proof } },
    bytes,
  }
}

function decode(bytes: Uint8Array): BatchBlock | undefined {
  try {
    return decodeBatchBlock(bytes)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}

/** `size` and `manifest` are not compared with the chain. */
function problemOf(
  block: BatchBlock | undefined,
  issuerId: number,
  registry: RegistryId,
): string | undefined {
  if (!block) return 'batch_malformed'
  if (block.registry !== registry) return 'other_registry'
  return block.issuerId === issuerId ? undefined : 'other_issuer'
}

function failed(code: string): Check {
  return { check: 'batch', outcome: 'fail', code }
}
