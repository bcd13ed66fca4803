import { type Document, encodeDocument } from '../../document/document.ts'
import { toHex } from '../../document/hex.ts'
import type { Hkdf } from '../../document/hkdf.ts'
import {
  deriveSealingKeys,
  type IssuerSubkeys,
  idempotentSalt,
  randomSalt,
} from '../../document/keys.ts'
import { encodePublicId } from '../../document/public-id.ts'
import type { Seal, Sealed } from '../../document/sealed.ts'
import { claimKey, isClaimed } from './idempotency.ts'
import type { IdempotencyLog } from './ports.ts'

/** Of the issuer secrets, the newest first. */
export type AllSubkeys = readonly [IssuerSubkeys, ...IssuerSubkeys[]]

/** Whose request it is, and what makes it the same request again. */
export type Repeatable = { tenant: string; idempotencyKey?: string }

export type SealedDocument = Sealed & { publicId: string }

export type Sealing = {
  /**
   * Seals a document with the newest issuer secret. A repeat of a request that came before that secret
   * gives what was sealed then, by the idempotency log. Where the log cannot tell (it forgets, and
   * another gateway has its own), the same document under each older secret follows: the chain
   * tells which of them stands.
   *
   * @throws {IssueError} `idempotency_key_reused` when the key was used for another document.
   */
  seal(
    document: Document,
    request: Repeatable,
  ): Promise<readonly [SealedDocument, ...SealedDocument[]]>
}

export function createSealing(deps: {
  subkeys: AllSubkeys
  idempotency: IdempotencyLog
  seal: Seal
  hkdf: Hkdf
}): Sealing {
  const { idempotency, hkdf } = deps
  const [newest, ...older] = deps.subkeys

  async function sealWith(
    subkeys: IssuerSubkeys,
    document: Document,
    { tenant, idempotencyKey }: Repeatable,
  ): Promise<SealedDocument> {
    const salt =
      idempotencyKey === undefined
        ? randomSalt()
        : idempotentSalt(subkeys, {
            tenant,
            idempotencyKey,
            itemIndex: 0,
            document: encodeDocument(document),
          })
    const keys = deriveSealingKeys(subkeys, salt, hkdf)
    const sealed = await deps.seal(document, keys)
    const publicId = encodePublicId({
      kind: 'single',
      issuerId: document.issuerId,
      hash: sealed.documentHash,
      documentKey: keys.documentKey,
    })
    return { ...sealed, publicId }
  }

  /** @returns Of the secret with which this request was first answered, if that was an older one. */
  async function firstUsed(request: Repeatable): Promise<IssuerSubkeys | undefined> {
    for (const subkeys of older) if (await isClaimed(idempotency, subkeys, request)) return subkeys
    return undefined
  }

  return {
    async seal(document, request) {
      const used = await firstUsed(request)
      const subkeys = used ?? newest
      const sealed = await sealWith(subkeys, document, request)
      const hash = toHex(sealed.documentHash)
      await claimKey(idempotency, subkeys, request, hash)
      if (used || request.idempotencyKey === undefined) return [sealed]
      const before = older.map((one) => sealWith(one, document, request))
      return [sealed, ...(await Promise.all(before))]
    },
  }
}
