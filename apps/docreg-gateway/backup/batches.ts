import { createHash } from 'node:crypto'
import type { Batch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import type { Hex } from '#document/hex.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { RecordKey } from '#promise/record.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { readManifest } from '../sources.ts'
import { fetchPayloads } from './blocks.ts'
import { BackupError } from './contents.ts'
import type { Restored } from './restored.ts'

/** The number of batches whose records are read together. */
const CHUNK = 500

type Records = { records(keys: readonly RecordKey[]): Promise<{ anchoredBlock: number }[]> }

/**
 * @param roots The batches that are in a block, some at a time.
 * @returns The number of roots.
 * @throws {BackupError} when the chain has no record of a batch that was anchored.
 */
export async function checkBatchHistory(
  roots: AsyncIterable<readonly Hex[]>,
  registry: Records,
): Promise<number> {
  const batches = new Set<Hex>()
  let missing = 0
  for await (const some of roots) {
    const added = [...new Set(some)].filter((root) => !batches.has(root))
    const records = await registry.records(added.map((root) => ({ documentHash: root, root })))
    missing += records.filter(({ anchoredBlock }) => !anchoredBlock).length
    for (const root of added) batches.add(root)
  }
  if (missing > 0)
    throw new BackupError(
      `the chain has no record of ${missing} of ${batches.size} batches that were anchored: the node is behind, or RPC_URL is another chain with the same id`,
    )
  return batches.size
}

/** The batches that were issued after the backup. */
export type LaterBatches = {
  /** The number of batches that are on the chain and unknown to the backup. */
  batches: number
  /** The number of documents in batches with a known manifest. */
  documents: number
  /** The documentHashes of those whose payload no source has. */
  lost: Hex[]
  /** The roots of batches whose manifest no source has. Their documents are unknown. */
  unread: Hex[]
}

/**
 * Stores the blocks of later batches. Manifest and chunks come from the store or from other
 * sources; the batch blocks are computed from them.
 *
 * @param issued The roots with their manifests, from the registry's events.
 */
export async function fetchLaterBatches(
  restored: Restored,
  issued: ReadonlyMap<Hex, Hex>,
  { store, sources }: { store: PayloadStore; sources: readonly BlockSource[] },
): Promise<LaterBatches> {
  const later: [Hex, Hex][] = []
  for (const [root, manifest] of issued)
    if (!(await restored.hasBatch(root))) later.push([root, manifest])
  const result: LaterBatches = { batches: later.length, documents: 0, lost: [], unread: [] }
  for (const [root, manifest] of later) {
    const batch = await readManifest(manifest, [store, ...sources])
    if (batch?.root !== root) {
      result.unread.push(root)
      continue
    }
    const { lost, size } = await keep(batch, store, sources)
    result.documents += size
    result.lost.push(...lost)
    await restored.listBatch(batch)
  }
  return result
}

async function keep(
  batch: Batch,
  store: PayloadStore,
  sources: readonly BlockSource[],
): Promise<{ size: number; lost: Hex[] }> {
  const lost: Hex[] = []
  const put = (bytes: Uint8Array) => store.put(createHash('sha256').update(bytes).digest(), bytes)
  let some: Hex[] = []
  const putSome = async () => {
    lost.push(...(await fetchPayloads(some, store, sources)))
    some = []
  }
  for (const block of batch.blocks()) {
    await put(encodeBatchBlock(block))
    some.push(block.documentHash)
    if (some.length === CHUNK) await putSome()
  }
  await putSome()
  for (const chunk of batch.chunks()) await put(chunk)
  await put(batch.manifestBlock)
  return { size: batch.size, lost }
}
