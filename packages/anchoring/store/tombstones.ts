import type { PayloadStore } from '#promise/ports.ts'
import type { BlockRead, BlockSource } from '#verifier/ports.ts'

/**
 * Whether a block was erased, by its sha-256. Rejects while that is unknown, except for a block
 * that a store may still have, because the unfinished erasures are known.
 */
export type IsBlockErased = (hash: Uint8Array) => Promise<boolean>

export type Tombstones = ReturnType<typeof createTombstones>

/**
 * The hashes of erased blocks. They are checked before every fetch, and the database checks them at
 * every put, so that no retry or fallback brings a block back.
 */
export function createTombstones(isErased: IsBlockErased) {
  return {
    isErased,
    /** A source that returns `erased` for blocks that have been erased here. */
    guardSource: (source: BlockSource): BlockSource => ({
      get: async (hash, options) =>
        (await isErased(hash)) ? { status: 'erased' } : source.get(hash, options),
    }),
    /**
     * A store that returns `erased` for erased blocks. A finished erasure leaves nothing in it, so
     * it is read even while it is unknown whether a block was erased.
     *
     * @param mirror Read after the store: a Kubo node, where other gateways also pin.
     */
    guardStore: (store: PayloadStore, mirror?: Pick<PayloadStore, 'get'>): PayloadStore => ({
      ...store,
      get: (hash) =>
        readAfter(
          async () => ((await isErased(hash)) ? { status: 'erased' } : MISSING),
          () =>
            mirror
              ? readAfter(
                  () => store.get(hash),
                  () => mirror.get(hash),
                )
              : store.get(hash),
        ),
    }),
  }
}

const MISSING: BlockRead = { status: 'missing' }

/** While the first one cannot be read, the other one may still have the block. */
async function readAfter(
  first: () => Promise<BlockRead>,
  other: () => Promise<BlockRead>,
): Promise<BlockRead> {
  const [near] = await Promise.allSettled([first()])
  if (near.status === 'fulfilled' && near.value.status !== 'missing') return near.value
  const read = await other()
  if (near.status === 'rejected' && read.status === 'missing') throw near.reason
  return read
}
