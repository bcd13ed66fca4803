import { hkdfWithNode, openWithNode } from '#base/node-crypto.ts'
import { createOpenIndexed, type OpenIndexed } from '#documents/opening.ts'
import type { Identity } from '#parts/chain.ts'
import type { Config } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { CommandDatabase } from '#store/commands.ts'
import { createTombstones } from '#store/tombstones.ts'
import { openSources, readBlock } from '../sources.ts'

/** The new gateway's store, and the sources of its payloads. */
export type Payloads = {
  /**
   * Reads a payload from the store, or copies it from the sources into the store.
   *
   * @param hash The sha-256 of the payload.
   * @throws {InputError} `unreachable`
   */
  fetch(hash: Uint8Array): Promise<{ bytes: Uint8Array } | { why: 'missing' | 'erased' }>
  /** Stores a payload that was made here. */
  put(hash: Uint8Array, bytes: Uint8Array): Promise<void>
  open: OpenIndexed
}

export async function openPayloads(
  config: Config,
  { issuerId, issuerSecrets }: Identity,
  database: CommandDatabase,
): Promise<Payloads> {
  const store = createTombstones(database.isErased).guardStore(database.embedded)
  const sources = await openSources(config)
  const subkeys = subkeysOf(issuerSecrets)
  return {
    async fetch(hash) {
      const own = await store.get(hash)
      if (own.status === 'erased') return { why: 'erased' }
      const bytes = await readBlock(hash, [store, ...sources])
      if (!bytes) return { why: 'missing' }
      if (own.status !== 'found') await store.put(hash, bytes)
      return { bytes }
    },
    async put(hash, bytes) {
      await store.put(hash, bytes)
    },
    open: createOpenIndexed({
      issuerId,
      store,
      subkeys,
      opener: openWithNode,
      hkdf: hkdfWithNode,
    }),
  }
}
