import { fromHex, type Hex } from '#document/hex.ts'
import type { PayloadStore } from '#promise/ports.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import type { BlockSource } from '#verifier/ports.ts'

/**
 * Copies the payloads that a store lacks from other sources.
 *
 * @returns The documentHashes whose payload no source has.
 * @throws {IssueError} `store_unavailable` when the store cannot be written.
 */
export async function fetchPayloads(
  documentHashes: readonly Hex[],
  store: PayloadStore,
  sources: readonly BlockSource[],
): Promise<Hex[]> {
  const lost: Hex[] = []
  for (const documentHash of documentHashes) {
    const hash = fromHex(documentHash)
    if ((await readPayload(hash, [store])).bytes) continue
    const { bytes } = await readPayload(hash, sources)
    if (bytes) await store.put(hash, bytes)
    else lost.push(documentHash)
  }
  return lost
}
