import { hash } from 'node:crypto'
import { RecentMap } from '#base/recent-map.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { OpenedDocuments } from '#verifier/ports.ts'

/**
 * The maximum size of all documents together, as JSON, which is enough for about 60,000 of the
 * usual length.
 */
const MAX_CHARACTERS = 24 * 1024 * 1024
/** A document is forgotten after one to two of these periods since it was last verified. */
const MAX_AGE_MS = 600_000

/** The opened documents of a gateway, which can erase documents. */
export type GatewayDocuments = OpenedDocuments & {
  /** Forgets all documents, because it is not known which of them belong to one documentHash. */
  clear(): void
}

/**
 * Caches opened documents in memory only. Keys are not stored: an entry is found by a hash of
 * documentHash and documentKey. The documents are stored as JSON, which takes a fraction of the
 * memory of objects.
 *
 * @param isErased Checked for each document. An erased document is not found, and while this fails
 * none is.
 */
export function createOpenedDocuments(
  isErased: (documentHash: Uint8Array) => Promise<boolean>,
): GatewayDocuments {
  const texts = new RecentMap<string>(MAX_CHARACTERS, (text) => text.length)
  let aging = false

  function startAging(): void {
    if (aging) return
    aging = true
    setTimeout(() => {
      texts.age()
      aging = false
      if (!texts.isEmpty()) startAging()
    }, MAX_AGE_MS).unref()
  }

  async function mayBeErased(documentHash: Hex): Promise<boolean> {
    try {
      return await isErased(fromHex(documentHash))
    } catch {
      // The caller then reads the payload and finds out what is wrong.
      return true
    }
  }

  return {
    async get(documentHash, documentKey) {
      const text = texts.get(idOf(documentHash, documentKey))
      if (text === undefined || (await mayBeErased(documentHash))) return undefined
      return JSON.parse(text)
    },
    async add(documentHash, documentKey, document) {
      // The document may have been erased while it was being opened.
      if (await mayBeErased(documentHash)) return
      texts.add(idOf(documentHash, documentKey), JSON.stringify(document))
      startAging()
    },
    clear: () => texts.clear(),
  }
}

function idOf(documentHash: Hex, documentKey: Uint8Array): string {
  const key = Buffer.from(documentKey.buffer, documentKey.byteOffset, documentKey.length)
  return hash('sha256', documentHash + key.toString('latin1'), 'binary')
}
