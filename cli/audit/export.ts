import { appendFile } from 'node:fs/promises'
import type { Hex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import type { Eip1193Provider } from '../../verifier/ports.ts'
import {
  type CompletenessOptions,
  MAX_KEYS,
  verifyCompleteness,
} from '../../verifier/proof/completeness.ts'
import { createCompletenessProof } from '../../verifier/readers/completeness.ts'
import { InputError } from '../errors.ts'
import { readLines } from '../lines.ts'
import { assertHead, readHead } from './journal.ts'
import type { Phases } from './phases.ts'
import { type AsOf, pinBlock, withCollection } from './run.ts'

/** A list, and how much of what the registry counts it has. */
export type ExportedList = {
  status: 'complete' | 'incomplete'
  asOf: { blockNumber: number; blockHash: Hex | null; blockTime: number }
  documents: { count: number; listed: number }
  batches: { count: number; listed: number }
}

/**
 * Writes an issuer's list with its proofs: events first, as in a checkpoint, then lines of proofs
 * of completeness (docs/formats.md §16), each of at most 100,000 documents, all of one block. A
 * file that is there is brought up to date: events that the node has dropped since stay in it.
 *
 * @throws {ChainError} when the chain cannot be read.
 */
export async function exportList(
  provider: Eip1193Provider,
  file: string,
  options: {
    registry: RegistryId
    issuerId: number
    from: number
    asOf?: number | undefined
    phases: Phases
  },
): Promise<AsOf> {
  const { registry, issuerId, asOf, phases } = options
  return withCollection({ ...options, provider, checkpoint: file }, async (collection, request) => {
    const header = await pinBlock(request, registry, asOf)
    await collection.advance(header.blockNumber)
    const documents = collection.ledger.documents()
    const roots = [...collection.ledger.batches.keys()]
    const parts = Math.max(1, Math.ceil(Math.max(documents.length, roots.length) / MAX_KEYS))
    phases.begin('Proving', parts)
    const lines: string[] = []
    for (let part = 0; part < parts; part++) {
      const [start, end] = [part * MAX_KEYS, (part + 1) * MAX_KEYS]
      const count = Math.max(0, Math.min(end, documents.length) - start)
      const proof = await createCompletenessProof(provider, registry, issuerId, {
        documentHashes: Array.from({ length: count }, (_, i) => documents.hashAt(start + i)),
        roots: roots.slice(start, end),
        block: header.blockNumber,
      })
      lines.push(`${JSON.stringify({ proof })}\n`)
      phases.advance(1)
    }
    phases.end()
    for (const line of lines) await appendFile(file, line)
    return header
  })
}

/**
 * Checks the proofs in the file of an export. Asks nobody.
 *
 * @throws {InputError} `unreadable` for a file without proofs, `other_registry`, `other_issuer`,
 * and `unproven` with the reason when a proof proves nothing.
 */
export async function checkExport(
  file: string,
  issuerId: number,
  options: CompletenessOptions,
): Promise<ExportedList> {
  const head = await readHead(file)
  if (!head) throw new InputError('unreadable', 'the file is not an export')
  assertHead(head, options.registry, issuerId)
  const keys = { documents: new Set<Hex>(), batches: new Set<Hex>() }
  let total: Pick<ExportedList, 'asOf' | 'documents' | 'batches'> | undefined
  for await (const { line } of readLines(file)) {
    if (!line.startsWith('{"proof":')) continue
    const listing = verifyCompleteness(line.slice('{"proof":'.length, -1), options)
    if (listing.status === 'unverifiable')
      throw new InputError('unproven', `${listing.code}: ${listing.message}`)
    const { asOf, documents, batches } = listing
    if (listing.issuerId !== issuerId)
      throw new InputError('other_issuer', `a proof is for issuer ${listing.issuerId}`)
    if (total && total.asOf.blockHash !== asOf.blockHash)
      throw new InputError('unproven', 'the proofs are of several blocks')
    for (const { documentHash } of documents.listed) keys.documents.add(documentHash)
    for (const { root } of batches.listed) keys.batches.add(root)
    total = {
      asOf,
      documents: { count: documents.count, listed: keys.documents.size },
      batches: { count: batches.count, listed: keys.batches.size },
    }
  }
  if (!total) throw new InputError('unreadable', 'the file has no proof: its export was cut off')
  const isComplete =
    total.documents.count === total.documents.listed && total.batches.count === total.batches.listed
  return { status: isComplete ? 'complete' : 'incomplete', ...total }
}
