import { encodeEntry } from '../../document/batch/entry.ts'
import { rootOf } from '../../document/batch/tree.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { decodePublicId } from '../../document/public-id.ts'
import { readBatch } from '../../verifier/checks/batch.ts'
import type { BlockSource } from '../../verifier/ports.ts'
import type { Deadline } from '../deadline.ts'
import { IssueError } from '../issue/errors.ts'
import type { RecordKey } from '../issue/record.ts'
import { unverifiable } from './errors.ts'
import type { Addresses } from './present.ts'

/** The record to change, and the expiry of a document in a batch. */
export type RevisedKey = RecordKey & { validUntil?: number }

/**
 * @param sources Where batch blocks are.
 * @returns The key of the record that revises the document of a publicId.
 * @throws {FormatError} `public_id_…`.
 * @throws {IssueError} `other_issuer` when it names an issuer that this gateway does not write for;
 * `not_issued` for a batch block that proves nothing.
 * @throws {ApiError} `unverifiable` when its batch block cannot be read.
 */
export async function revisedKeyOf(
  publicId: string,
  { registry, issuerId: ours }: Addresses,
  sources: readonly BlockSource[],
  deadline: Deadline,
): Promise<RevisedKey> {
  const decoded = decodePublicId(publicId)
  const { kind, hash, issuerId } = decoded
  if (issuerId !== ours) throw new IssueError('other_issuer', `a document of issuer ${issuerId}`)
  if (kind === 'single') return { documentHash: toHex(hash) }
  const { check, key } = await deadline.within((signal) =>
    readBatch(decoded, registry, sources, { signal }),
  )
  if (check.outcome === 'unknown') throw unverifiable([check])
  if (!key?.batch || !leadsToRoot(key.documentHash, key.batch))
    throw new IssueError('not_issued', 'the batch block proves nothing')
  const { root, validUntil } = key.batch
  return { documentHash: key.documentHash, root, validUntil }
}

type Path = { root: Hex; validUntil: number; proof: Uint8Array }

function leadsToRoot(documentHash: Hex, { root, validUntil, proof }: Path): boolean {
  const entry = encodeEntry({ documentHash: fromHex(documentHash), validUntil })
  return toHex(rootOf(entry, proof)) === root
}
