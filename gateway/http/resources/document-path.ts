import type { Deadline } from '#base/deadline.ts'
import { encodeEntry } from '#document/batch/entry.ts'
import { rootOf } from '#document/batch/tree.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodePublicId } from '#document/public-id.ts'
import type { FoundDocument } from '#documents/find.ts'
import { type Grant, tenantOf } from '#keys/grant.ts'
import { IssueError } from '#promise/errors.ts'
import type { RecordKey } from '#promise/record.ts'
import { readBatch } from '#verifier/checks/batch.ts'
import type { BatchPath, DocumentKey } from '#verifier/ports.ts'
import { keyOf } from '#verifier/verify.ts'
import { ApiError, unverifiable } from '../core/errors.ts'
import type { AppDeps } from '../deps.ts'

// A request names a document by its publicId or its documentHash, or a document of a batch by root
// and hash. `FindDocument` decides whether the API key may use it.

/** What finding a named document needs. */
export type NamingDeps = Pick<AppDeps, 'addresses' | 'findDocument' | 'verifyOptions'>

export type DocumentName = { publicId: string } | RecordKey

const HASH = /^0x[0-9a-f]{64}$/i

/** @param text A publicId or a documentHash, as in a path. */
export function nameIn(text: string): DocumentName {
  return HASH.test(text) ? { documentHash: text.toLowerCase() as Hex } : { publicId: text }
}

/**
 * @param text A publicId, which is returned unchanged, or a documentHash.
 * @throws {ApiError} `not_found`; `erased`; `unverifiable` when the batch block is missing, or the
 * payload that leads to the publicId.
 */
export async function publicIdOf(
  deps: NamingDeps,
  grant: Grant,
  text: string,
  deadline: Deadline,
): Promise<string> {
  const name = nameIn(text)
  if ('publicId' in name) {
    // A document of another issuer is returned too, because it is on the chain.
    if (tenantOf(grant) === null) return text
    if (decodePublicId(text).issuerId !== deps.addresses.issuerId) throw notFound()
    await findNamed(deps, grant, name, deadline)
    return text
  }
  const { found } = await findNamed(deps, grant, name, deadline)
  const opening = await found.open()
  if (opening.status === 'erased') throw new ApiError('erased', 'the document has been erased')
  if (opening.status === 'opened') return opening.publicId
  if (!found.isIndexed) throw notFound()
  throw unverifiable([{ check: 'content', outcome: 'unknown', code: 'missing' }])
}

/** A document to change. */
export type Changeable = {
  /** The key of the record to change. */
  key: RecordKey
  /** For a document in a batch, the expiry in its leaf: seconds of the Unix epoch, 0 = never. */
  validUntil: number
  /** @returns `null` when the document was named by its hash and its payload is lost or erased. */
  publicId(): Promise<string | null>
  /** @returns The key of its record, as far as its batch block is known. */
  documentKey(): Promise<DocumentKey>
}

/**
 * @throws {ApiError} `not_found` for a document that the key may not use; `category_not_allowed`;
 * `unverifiable` when the batch block, which leads to the batch of a publicId, is missing.
 * @throws {IssueError} `other_issuer` when a publicId names an issuer that this gateway does not
 * write for.
 */
export async function changeableOf(
  deps: NamingDeps,
  grant: Grant,
  name: DocumentName,
  deadline: Deadline,
): Promise<Changeable> {
  const { found, documentHash, root, batch } = await findNamed(deps, grant, name, deadline)
  if (!found.mayChange)
    throw new ApiError('category_not_allowed', 'the API key may not change this category')
  const { issuerId } = deps.addresses
  const documentKey = { issuerId, documentHash, ...(batch && { batch }) }
  return {
    key: { documentHash, ...(root !== undefined && { root }) },
    validUntil: batch?.validUntil ?? found.validUntil,
    async publicId() {
      if ('publicId' in name) return name.publicId
      const opening = await found.open()
      return opening.status === 'opened' ? opening.publicId : null
    },
    documentKey: async () =>
      'publicId' in name ? documentKey : ((await found.open()).key ?? documentKey),
  }
}

type Named = RecordKey & { batch?: BatchPath }

/** @throws {ApiError} as {@link changeableOf}. */
export async function findNamed(
  deps: NamingDeps,
  grant: Grant,
  name: DocumentName,
  deadline: Deadline,
): Promise<Named & { found: FoundDocument }> {
  const named: Named = 'publicId' in name ? await read(deps, name.publicId, deadline) : name
  const found = await deps.findDocument(named, grant)
  if (!found) throw notFound()
  const root = named.root ?? found.root
  return { ...named, found, ...(root !== null && { root }) }
}

/**
 * @returns The document of a publicId. For one in a batch, its batch block must prove this, because
 * the block can come from strangers.
 * @throws {FormatError} `public_id_…`.
 */
async function read(
  { addresses: { registry, issuerId: ours }, verifyOptions: { blocks } }: NamingDeps,
  publicId: string,
  deadline: Deadline,
): Promise<Named> {
  const decoded = decodePublicId(publicId)
  const { kind, issuerId } = decoded
  if (issuerId !== ours) throw new IssueError('other_issuer', `a document of issuer ${issuerId}`)
  if (kind === 'single') return keyOf(decoded)
  const { check, key } = await deadline.within((signal) =>
    readBatch(decoded, registry, blocks, { signal }),
  )
  if (check.outcome === 'unknown') throw unverifiable([check])
  if (!key?.batch || !leadsToRoot(key.documentHash, key.batch)) throw notFound()
  return { documentHash: key.documentHash, root: key.batch.root, batch: key.batch }
}

function leadsToRoot(documentHash: Hex, { root, validUntil, proof }: BatchPath): boolean {
  const entry = encodeEntry({ documentHash: fromHex(documentHash), validUntil })
  return toHex(rootOf(entry, proof)) === root
}

function notFound(): ApiError {
  return new ApiError('not_found', 'no such document')
}
