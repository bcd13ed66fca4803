import type { Hex } from '../../document/hex.ts'
import type { VerifyOptions } from '../../verifier/verify.ts'
import type { Deadline } from '../deadline.ts'
import type { FindDocument } from '../documents/find.ts'
import type { Grant } from '../grant.ts'
import { IssueError } from '../issue/errors.ts'
import { ApiError, unverifiable } from './errors.ts'
import type { Addresses } from './present.ts'
import { type RevisedKey, revisedKeyOf } from './revised-key.ts'

// A path names a document by its publicId, or by its documentHash. Everybody can read the hashes on
// the chain, so a hash names documents of the key's tenant only; with `admin`, of all.

export type PathDeps = {
  findDocument: FindDocument
  addresses: Addresses
  verifyOptions: Pick<VerifyOptions, 'blocks'>
}

const HASH = /^0x[0-9a-f]{64}$/i
export const isHash = (text: string) => HASH.test(text)

/**
 * @param text A publicId, returned as it is, or a documentHash.
 * @throws {ApiError} `not_found`; `erased`; `unverifiable` when the payload, which leads to the
 *   publicId, is missing.
 */
export async function publicIdOf(deps: PathDeps, grant: Grant, text: string): Promise<string> {
  if (!isHash(text)) return text
  const found = await findFor(deps, grant, text)
  if (!found) throw new ApiError('not_found', 'no such document')
  const opening = await found.open()
  if (opening.status === 'erased') throw new ApiError('erased', 'the document has been erased')
  if (opening.status === 'opened') return opening.publicId
  if (!found.isIndexed) throw new ApiError('not_found', 'no such document')
  throw unverifiable([{ check: 'content', outcome: 'unknown', code: 'missing' }])
}

/** A document to change. */
export type Changeable = RevisedKey & {
  /** `null` when it was named by its hash and its payload is lost or erased. */
  publicId: string | null
}

/**
 * @param text A publicId or a documentHash.
 * @throws {IssueError} `other_issuer` when a publicId names an issuer that this gateway does not
 *   write for; `not_issued` when a hash is not a document of the key's tenant.
 * @throws {ApiError} `unverifiable` when the batch block, which leads to its batch, is missing.
 */
export async function changeableOf(
  deps: PathDeps,
  grant: Grant,
  text: string,
  deadline: Deadline,
): Promise<Changeable> {
  const { addresses, verifyOptions } = deps
  if (!isHash(text)) {
    const key = await revisedKeyOf(text, addresses, verifyOptions.blocks, deadline)
    return { ...key, publicId: text }
  }
  const found = await findFor(deps, grant, text)
  if (!found) throw new IssueError('not_issued', 'no such document of this tenant')
  const opening = await found.open()
  const publicId = opening.status === 'opened' ? opening.publicId : null
  const { documentHash, isBatch } = found
  if (!isBatch) return { documentHash, publicId }
  const { batch } = opening.key ?? {}
  if (!batch) throw unverifiable([{ check: 'batch', outcome: 'unknown', code: 'missing' }])
  return { documentHash, root: batch.root, validUntil: batch.validUntil, publicId }
}

/** @returns The document of this tenant that a hash names. */
export function findFor({ findDocument }: PathDeps, { tenant, scopes }: Grant, text: string) {
  return findDocument(text.toLowerCase() as Hex, scopes.includes('admin') ? null : tenant)
}
