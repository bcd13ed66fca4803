import type { Hex } from '#document/hex.ts'
import type { Hkdf } from '#document/hkdf.ts'
import type { IssuerSubkeys } from '#document/keys.ts'
import { type Grant, tenantOf } from '#keys/grant.ts'
import { type BlindField, blindIndexOf } from '#promise/blind-index.ts'
import type { DocumentIndex } from '#promise/document-index.ts'
import type { RecordKey } from '#promise/record.ts'
import type { OpenIndexed, Opening } from './opening.ts'

/** A document of this issuer that an API key may retrieve and change. */
export type FoundDocument = {
  isIndexed: boolean
  /** The root of its batch; `null` when the index knows of none. */
  root: Hex | null
  /** Seconds of the Unix epoch; 0 = it never expires, or the expiry is unknown. */
  validUntil: number
  /** See `IndexedDocument`; `null` also when it is not indexed. */
  createdAt: number | null
  /** Whether its category is one that the key may issue and change. */
  mayChange: boolean
  open(): Promise<Opening>
}

/**
 * Decides which documents an API key may use, however it names them. Everybody can read hashes on
 * the chain, and a publicId is shown to strangers, so neither is a permission: the document must
 * belong to the key's tenant and be in the named batch. Only the index knows tenants. A document
 * that only the chain knows (after a recovery, or issued elsewhere) is for `admin` keys.
 *
 * @returns `undefined` when the key may not know whether there is such a document.
 */
export type FindDocument = (named: RecordKey, grant: Grant) => Promise<FoundDocument | undefined>

export function createFindDocument(deps: {
  index: Pick<DocumentIndex, 'find'>
  open: OpenIndexed
  subkeys: readonly IssuerSubkeys[]
  hkdf: Hkdf
}): FindDocument {
  const { index, open } = deps

  const isBlind = (field: BlindField, value: string, blind: bigint | null) =>
    deps.subkeys.some((subkeys) => blindIndexOf(subkeys, field, value, deps.hkdf) === blind)

  return async ({ documentHash, root }, grant) => {
    const tenant = tenantOf(grant)
    const indexed = await index.find(documentHash)
    if (!indexed) {
      if (tenant !== null) return undefined
      return {
        isIndexed: false,
        root: null,
        validUntil: 0,
        createdAt: null,
        mayChange: true,
        open: () => open({ documentHash, batchBlock: null }),
      }
    }
    if (tenant !== null && tenant !== indexed.tenant) return undefined
    if (root !== undefined && root !== indexed.root) return undefined
    return {
      isIndexed: true,
      root: indexed.root,
      validUntil: indexed.validUntil,
      createdAt: indexed.createdAt,
      mayChange:
        grant.categories?.some((one) => isBlind('category', one, indexed.category)) ?? true,
      open: () => open(indexed),
    }
  }
}
