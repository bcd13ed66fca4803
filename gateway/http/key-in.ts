import type { PublicId } from '../../document/public-id.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { readBatch } from '../../verifier/checks/batch.ts'
import type { BlockSource, DocumentKey } from '../../verifier/ports.ts'
import { keyOf } from '../../verifier/verify.ts'

/**
 * @param registry CAIP-10.
 * @returns The key of a document's record; of a batch it is in the batch block. Absent when there
 * is no such block; `isOutage` says that the store did not answer about it.
 */
export async function keyIn(
  publicId: PublicId,
  registry: RegistryId,
  store: BlockSource,
): Promise<{ key?: DocumentKey; isOutage: boolean }> {
  if (publicId.kind === 'single') return { key: keyOf(publicId), isOutage: false }
  const { key, check } = await readBatch(publicId, registry, [store])
  return { ...(key && { key }), isOutage: check.code === 'unreachable' }
}
