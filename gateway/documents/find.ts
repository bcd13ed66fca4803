import type { Hex } from '../../document/hex.ts'
import type { Hkdf } from '../../document/hkdf.ts'
import type { IssuerSubkeys } from '../../document/keys.ts'
import { blindIndexOf } from '../blind-index.ts'
import type { DocumentIndex } from '../document-index.ts'
import type { OpenIndexed, Opening } from './opening.ts'

/** A document of this issuer that was looked for by its hash. */
export type FoundDocument = {
  documentHash: Hex
  isIndexed: boolean
  /** Whether it is in a batch. */
  isBatch: boolean
  open(): Promise<Opening>
}

/**
 * @param tenant Whose documents; `null` for those of all tenants, also ones that the index does not
 *   have: another gateway may have issued them.
 * @returns `undefined` when it is not a document of this tenant.
 */
export type FindDocument = (
  documentHash: Hex,
  tenant: string | null,
) => Promise<FoundDocument | undefined>

export function createFindDocument(deps: {
  index: Pick<DocumentIndex, 'find'>
  open: OpenIndexed
  subkeys: readonly IssuerSubkeys[]
  hkdf: Hkdf
}): FindDocument {
  const { index, open } = deps
  return async (documentHash, tenant) => {
    const tenants =
      tenant === null
        ? undefined
        : deps.subkeys.map((subkeys) => blindIndexOf(subkeys, 'tenant', tenant, deps.hkdf))
    const indexed = await index.find(documentHash, tenants)
    if (!indexed && tenant !== null) return undefined
    const { batchBlock } = indexed ?? { batchBlock: null }
    return {
      documentHash,
      isIndexed: indexed !== undefined,
      isBatch: batchBlock !== null,
      open: () => open({ documentHash, batchBlock }),
    }
  }
}
