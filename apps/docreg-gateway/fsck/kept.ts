import { createHash } from 'node:crypto'
import { fromHex, type Hex } from '#document/hex.ts'
import type { KeptRows } from '#store/kept-rows.ts'
import type { BlockSource } from '#verifier/ports.ts'

/** The data of a gateway, read-only. */
export type Kept = Omit<KeptRows, 'payloads'> & {
  /** Checks the bytes under a hash. */
  payload(hash: Hex): Promise<'good' | 'missing' | 'damaged'>
  /** The payloads, whose bytes are not checked. */
  store: BlockSource
}

/** @param more The sources of payloads besides the database. */
export function keptOf(rows: KeptRows, more: readonly BlockSource[]): Kept {
  const store: BlockSource = {
    async get(hash) {
      for (const source of [rows.payloads, ...more]) {
        const read = await source.get(hash)
        if (read.status === 'found') return read
      }
      return { status: 'missing' }
    },
  }
  return {
    ...rows,
    store,
    async payload(hash) {
      const read = await store.get(fromHex(hash))
      if (read.status !== 'found') return 'missing'
      const digest = createHash('sha256').update(read.bytes).digest()
      return digest.equals(fromHex(hash)) ? 'good' : 'damaged'
    },
  }
}
