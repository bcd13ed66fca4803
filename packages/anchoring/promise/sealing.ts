import { encodeUtf8 } from '#document/bytes.ts'
import { type Document, encodeDocument } from '#document/document.ts'
import { type Hex, toHex } from '#document/hex.ts'
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
import { IssueError } from './errors.ts'
import type { IdempotencyLog } from './ports.ts'

/** The subkeys of all issuer secrets, the newest first. */
export type AllSubkeys = readonly [IssuerSubkeys, ...IssuerSubkeys[]]

/** The values that identify a repeat of a request. */
export type Repeatable = { tenant: string; idempotencyKey?: string }

export type SealedDocument = Sealed & { publicId: string; entry: IndexEntry }

/** A sealed document, and those that the same request may have given before. */
type SealedRequest = {
  candidates: readonly [SealedDocument, ...SealedDocument[]]
  /**
   * Claims the idempotency key for the first candidate, before it is promised.
   *
   * @throws {IssueError} `idempotency_key_reused` when the key was used for another document.
   */
  claim(): Promise<void>
}

export type Sealing = {
  /**
   * Seals a document with the newest issuer secret. If the idempotency log knows that a request was
   * first sealed with an older secret, a repeat gives the same result. The log may not know (it
   * forgets, and another gateway has its own): then the results of all older secrets follow, and
   * the chain shows which one was issued.
   */
  seal(document: Document, request: Repeatable): Promise<SealedRequest>
}

export function createSealing(deps: {
  subkeys: AllSubkeys
  idempotency: IdempotencyLog
  seal: Seal
  hkdf: Hkdf
  hmac: Hmac
}): Sealing {
  const { idempotency, hkdf, hmac } = deps
  const [newest, ...older] = deps.subkeys
  const nextSalt = createSaltSource()
  const indexEntryOf = createIndexEntryOf(hkdf)

  async function sealWith(
    subkeys: IssuerSubkeys,
    document: Document,
    { tenant, idempotencyKey }: Repeatable,
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
    return { ...sealed, publicId, entry }
  }

  /** A keyed hash is used, because a client's key may be guessable: an order number, a name. */
  function keyOf({ salt }: IssuerSubkeys, { tenant, idempotencyKey }: Repeatable) {
    if (idempotencyKey === undefined) return undefined
    return hmac(salt, encodeUtf8(JSON.stringify(['idempotency-log', tenant, idempotencyKey])))
  }

  /**
   * Claims a request's idempotency key for its document. The documentHash stands for the whole
   * body, because it is derived from the key and the exact bytes that were sealed.
   *
   * @throws {IssueError} `idempotency_key_reused` when the key was used for another document.
   */
  async function claimKey(subkeys: IssuerSubkeys, request: Repeatable, documentHash: Hex) {
    const key = keyOf(subkeys, request)
    if (key === undefined || (await idempotency.claim(key, documentHash)) === documentHash) return
    throw new IssueError(
      'idempotency_key_reused',
      'the Idempotency-Key was used for another document',
    )
  }

  /** @returns The subkeys with which this request was first sealed, unless these are the newest. */
  async function firstUsed(request: Repeatable): Promise<IssuerSubkeys | undefined> {
    for (const subkeys of older) {
      const key = keyOf(subkeys, request)
      if (key && (await idempotency.has(key))) return subkeys
    }
    return undefined
  }

  return {
    async seal(document, request) {
      const used = await firstUsed(request)
      const subkeys = used ?? newest
      const sealed = await sealWith(subkeys, document, request)
      const isCertain = used !== undefined || request.idempotencyKey === undefined
      const before = isCertain ? [] : older.map((one) => sealWith(one, document, request))
      return {
        candidates: [sealed, ...(await Promise.all(before))],
        claim: () => claimKey(subkeys, request, toHex(sealed.documentHash)),
      }
    },
  }
}
