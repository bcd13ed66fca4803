import { fromHex } from '../../document/hex.ts'
import type { PayloadStore, PromisedPayloads } from './ports.ts'

/**
 * At the start: puts back the payloads that the store has lost of what is promised or not final. What the chain says of each is
 * read by the batcher and the finality watch, which take up the same rows.
 *
 * @returns How many were put back.
 */
export async function mendStore(outbox: PromisedPayloads, store: PayloadStore): Promise<number> {
  let mended = 0
  for await (const { documentHash, sealed } of outbox.payloads()) {
    const hash = fromHex(documentHash)
    const { status } = await store.get(hash)
    if (status !== 'missing') continue
    await store.put(hash, sealed)
    mended++
  }
  return mended
}
