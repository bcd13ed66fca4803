import type { PayloadStore } from '#promise/ports.ts'

/** @returns The hashes whose payload a store does not have. */
export async function missingIn(
  store: Pick<PayloadStore, 'get'>,
  hashes: readonly Uint8Array[],
): Promise<Uint8Array[]> {
  const read = await Promise.all(hashes.map((hash) => store.get(hash)))
  return hashes.filter((_, i) => read[i]?.status === 'missing')
}
