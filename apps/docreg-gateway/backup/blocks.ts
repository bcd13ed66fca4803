import { fromHex, type Hex } from '#document/hex.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { readBlock } from '../sources.ts'

/**
 * Copies the payloads that a store lacks from other sources.
 *
 * @returns The documentHashes whose payload no source has.
 * @throws {IssueError} `store_unavailable` when the store cannot be written.
 * @throws {InputError} `unreachable`
 */
export async function fetchPayloads(
  documentHashes: readonly Hex[],
  store: PayloadStore,
  sources: readonly BlockSource[],
): Promise<Hex[]> {
  const lost: Hex[] = []
  for (const documentHash of documentHashes) {
    const hash = fromHex(documentHash)
    if (await readBlock(hash, [store])) continue
    const bytes = await readBlock(hash, sources)
    if (bytes) await store.put(hash, bytes)
    else lost.push(documentHash)
  }
  return lost
}
