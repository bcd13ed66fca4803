import { createHash } from 'node:crypto'
import { fromHex, type Hex } from '#document/hex.ts'
import type { PayloadStore } from '#promise/ports.ts'
import type { BlockSource } from '#verifier/ports.ts'

/**
 * Copies the payloads that a store lacks from other sources.
 *
 * @returns DocumentHashes whose payload no source has.
 * @throws {IssueError} `store_unavailable` when the store cannot write.
 */
export async function fetchPayloads(
  documentHashes: readonly Hex[],
  store: PayloadStore,
  sources: readonly BlockSource[],
): Promise<Hex[]> {
  const lost: Hex[] = []
  for (const documentHash of documentHashes) {
    const hash = fromHex(documentHash)
    if (await firstOf([store], hash)) continue
    const bytes = await firstOf(sources, hash)
    if (bytes) await store.put(hash, bytes)
    else lost.push(documentHash)
  }
  return lost
}

/** @returns The block from the first source that has it with the right hash. */
export async function firstOf(
  sources: readonly BlockSource[],
  hash: Uint8Array,
): Promise<Uint8Array | undefined> {
  for (const source of sources) {
    const read = await source.get(hash).catch(() => undefined)
    if (read?.status !== 'found') continue
    const actual = createHash('sha256').update(read.bytes).digest()
    if (actual.equals(hash)) return read.bytes
  }
  return undefined
}
