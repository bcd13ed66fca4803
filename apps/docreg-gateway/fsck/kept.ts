import { createHash } from 'node:crypto'
import { fromHex, type Hex } from '#document/hex.ts'
import type { KeptRows } from '#store/kept-rows.ts'
import type { BlockSource } from '#verifier/ports.ts'

/** The data of a gateway, read-only. */
export type Kept = Omit<KeptRows, 'payloads'> & {
  /** Checks the bytes under a hash. `unpinned` = the Kubo node lacks them. */
  payload(hash: Hex): Promise<'good' | 'missing' | 'damaged' | 'unpinned'>
  /** The payloads, whose bytes are not checked. */
  store: BlockSource
}

/** @param kubo The Kubo node, if there is one. */
export function keptOf(rows: KeptRows, kubo?: BlockSource): Kept {
  const store: BlockSource = {
    async get(hash) {
      const read = await rows.payloads.get(hash)
      return kubo && read.status !== 'found' ? kubo.get(hash) : read
    },
  }
  return {
    ...rows,
    store,
    async payload(hash) {
      const read = await store.get(fromHex(hash))
      if (read.status !== 'found') return 'missing'
      const digest = createHash('sha256').update(read.bytes).digest()
      if (!digest.equals(fromHex(hash))) return 'damaged'
      return kubo && (await kubo.get(fromHex(hash))).status === 'missing' ? 'unpinned' : 'good'
    },
  }
}
