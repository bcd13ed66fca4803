import { encodeUtf8 } from '#document/bytes.ts'
import { type Document, encodeDocument } from '#document/document.ts'
import { toHex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import {
  createSaltSource,
  deriveSealingKeys,
  type Hmac,
  type IssuerSubkeys,
  idempotentSalt,
} from '#document/keys.ts'
import { encodePublicId } from '#document/public-id.ts'
import type { Seal, Sealed } from '#document/sealed.ts'
import { createIndexEntryOf } from './blind-index.ts'
import type { IndexEntry } from './document-index.ts'
import type { RequestLog } from './ports.ts'

/** The subkeys of all issuer secrets, the newest first. */
export type AllSubkeys = readonly [IssuerSubkeys, ...IssuerSubkeys[]]

/** The values that identify a repeat of a request. */
export type Repeatable = { tenant: string; idempotencyKey?: string }

export type SealedDocument = Sealed & { publicId: string; entry: IndexEntry }

export type Sealing = {
  /**
   * Seals a document with the newest issuer secret. If the request was first sealed with an older
   * secret, a repeat gives the same result: it is found by its key. Where the key is unknown (another
   * gateway has its own database), the results of all older secrets follow, and the chain shows
   * which one was issued.
   *
   * @returns The document, and those that the same request may have given before.
   */
  seal(
    document: Document,
    request: Repeatable,
  ): Promise<readonly [SealedDocument, ...SealedDocument[]]>
}

/** The bytes of the digest of an idempotency key. */
const REQUEST_BYTES = 16

export function createSealing(deps: {
  subkeys: AllSubkeys
  requests: RequestLog
  seal: Seal
  hkdf: Hkdf
  hmac: Hmac
}): Sealing {
  const { requests, hkdf, hmac } = deps
  const [newest, ...older] = deps.subkeys
  const oldest = older.at(-1) ?? newest
  const nextSalt = createSaltSource()
  const indexEntryOf = createIndexEntryOf(hkdf)

  async function sealWith(
    subkeys: IssuerSubkeys,
    document: Document,
    { tenant, idempotencyKey }: Repeatable,
    digest: Uint8Array | undefined,
  ): Promise<SealedDocument> {
    const encoded = encodeDocument(document)
    const item = { tenant, itemIndex: 0, document: encoded }
    const salt =
      idempotencyKey === undefined
        ? nextSalt()
        : idempotentSalt(subkeys, { ...item, idempotencyKey }, hmac)
    const keys = deriveSealingKeys(subkeys, salt, hkdf)
    const sealed = await deps.seal(document, keys, encoded)
    const publicId = encodePublicId({
      kind: 'single',
      issuerId: document.issuerId,
      hash: sealed.documentHash,
      documentKey: keys.documentKey,
    })
    const entry = indexEntryOf(subkeys, document, tenant)
    return { ...sealed, publicId, entry: digest ? { ...entry, request: digest } : entry }
  }

  /**
   * A keyed hash is used, because a client's key may be guessable: an order number, a name. The
   * oldest secret stays, so that one digest finds all requests.
   */
  function digestOf({ tenant, idempotencyKey }: Repeatable): Uint8Array | undefined {
    if (idempotencyKey === undefined) return undefined
    const text = encodeUtf8(JSON.stringify(['idempotency-log', tenant, idempotencyKey]))
    return hmac(oldest.salt, text).subarray(0, REQUEST_BYTES)
  }

  return {
    async seal(document, request) {
      const digest = digestOf(request)
      const sealedWith = (subkeys: IssuerSubkeys) => sealWith(subkeys, document, request, digest)
      const sealed = await sealedWith(newest)
      if (digest === undefined || older.length === 0) return [sealed]
      const known = await requests.find(digest)
      if (known === toHex(sealed.documentHash)) return [sealed]
      const before = await Promise.all(older.map(sealedWith))
      const first = before.find(({ documentHash }) => toHex(documentHash) === known)
      return first ? [first] : [sealed, ...before]
    },
  }
}
