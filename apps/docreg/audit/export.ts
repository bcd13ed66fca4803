import { appendFile, stat, truncate } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { Eip1193Provider } from '#verifier/ports.ts'
import { type CompletenessOptions, verifyCompleteness } from '#verifier/proof/completeness.ts'
import { slotsOfIssuer } from '#verifier/proof/slots.ts'
import { createCompletenessProof } from '#verifier/readers/completeness.ts'
import { InputError } from '../errors.ts'
import { readLines } from '../lines.ts'
import { assertHead, readHead } from './journal.ts'
import { type Newer, readNewer, unknownIssuer } from './known-issuer.ts'
import type { Ledger } from './ledger.ts'
import type { Phases } from './phases.ts'
import { type AsOf, withCollection } from './run.ts'
import { openScratch } from './scratch.ts'
import { inTrieOrder } from './trie-order.ts'

/** A list, and how much it has of what the registry counts. */
export type ExportedList = {
  status: 'complete' | 'incomplete'
  asOf: { blockNumber: number; blockHash: Hex | null; blockTime: number }
  documents: { count: number; listed: number }
  batches: { count: number; listed: number }
}

export type ExportOptions = {
  registry: RegistryId
  issuerId: number
  from: number
  asOf?: number | undefined
  phases: Phases
}

/**
 * The number of documents and of batches in one proof, which are in memory together. Documents of a
 * proof are neighbours in the storage trie, so that many small proofs are hardly longer than one.
 */
const MAX_KEYS_PER_PROOF = 5_000

/**
 * Writes an issuer's list with its proofs: events first, as in a checkpoint, then lines with proofs
 * of completeness (docs/formats.md §16), each of at most 5,000 documents, all at one block. An
 * existing file is updated: events that the node has since dropped stay in it.
 *
 * @throws {ChainError} when the chain cannot be read.
 */
export async function exportList(
  provider: Eip1193Provider,
  file: string,
  options: ExportOptions,
): Promise<{ header: AsOf; newer: Newer }> {
  const { phases } = options
  using scratch = openScratch()
  const about = { ...options, provider, checkpoint: file, scratch }
  return await withCollection(about, async (collection, pinned) => {
    const { header } = pinned
    const newer = await readNewer(options, pinned)
    await collection.advance(header.blockNumber)
    const { size } = await stat(file)
    try {
      await appendProofs(file, collection.ledger, {
        ...options,
        provider,
        block: header.blockNumber,
      })
    } catch (error) {
      // The next attempt is at another block.
      await truncate(file, size)
      throw error
    } finally {
      phases.end()
    }
    return { header, newer }
  })
}

async function appendProofs(
  file: string,
  ledger: Ledger,
  about: Pick<ExportOptions, 'registry' | 'issuerId' | 'phases'> & {
    provider: Eip1193Provider
    block: number
  },
): Promise<void> {
  const { provider, registry, issuerId, block, phases } = about
  const documents = ledger.documents()
  const roots = [...ledger.batches.keys()]
  const slots = slotsOfIssuer(issuerId)
  const slotOf = (index: number) => slots.record(documents.hashAt(index))
  const sorted = inTrieOrder(ledger.scratch, documents.length, slotOf)
  const parts = Math.max(
    1,
    Math.ceil(Math.max(documents.length, roots.length) / MAX_KEYS_PER_PROOF),
  )
  phases.begin('Proving', documents.length + roots.length)
  try {
    for (let part = 0; part < parts; part++) {
      const documentHashes: Hex[] = []
      while (documentHashes.length < MAX_KEYS_PER_PROOF) {
        const { value, done } = sorted.next()
        if (done) break
        documentHashes.push(documents.hashAt(value.index))
      }
      const some = roots.slice(part * MAX_KEYS_PER_PROOF, (part + 1) * MAX_KEYS_PER_PROOF)
      const keys = { documentHashes, roots: some, block }
      const proof = await createCompletenessProof(provider, registry, issuerId, keys)
      await appendFile(file, `${JSON.stringify({ proof })}\n`)
      phases.advance(documentHashes.length + some.length)
    }
  } finally {
    sorted.return(undefined)
  }
}

/**
 * Checks the proofs in the file of an export, offline.
 *
 * @throws {InputError} `unreadable` for a file without proofs, `other_registry`, `other_issuer`,
 * `unknown_issuer`, and `unproven` with the reason when a proof is invalid.
 */
export async function checkExport(
  file: string,
  issuerId: number,
  options: CompletenessOptions,
): Promise<ExportedList> {
  const head = await readHead(file)
  if (!head) throw new InputError('unreadable', 'the file was not written by docreg export')
  assertHead(head, options.registry, issuerId)
  using scratch = openScratch()
  const keys = {
    documents: createKeySet(scratch, 'documents'),
    batches: createKeySet(scratch, 'batches'),
  }
  let total: Pick<ExportedList, 'asOf' | 'documents' | 'batches'> | undefined
  for await (const { line } of readLines(file)) {
    if (!line.startsWith('{"proof":')) continue
    const listing = verifyCompleteness(line.slice('{"proof":'.length, -1), options)
    if (listing.status === 'unverifiable')
      throw new InputError('unproven', `${listing.code}: ${listing.message}`)
    const { asOf, documents, batches } = listing
    if (listing.issuerId !== issuerId)
      throw new InputError(
        'other_issuer',
        `the file has a proof for another issuer, ${listing.issuerId}`,
      )
    if (!listing.isRegistered)
      throw await unknownIssuer({ registry: options.registry, issuerId, block: asOf.blockNumber })
    if (total && total.asOf.blockHash !== asOf.blockHash)
      throw new InputError('unproven', 'the proofs are for different blocks')
    for (const { documentHash } of documents.listed) keys.documents.add(documentHash)
    for (const { root } of batches.listed) keys.batches.add(root)
    total = {
      asOf,
      documents: { count: documents.count, listed: keys.documents.size() },
      batches: { count: batches.count, listed: keys.batches.size() },
    }
  }
  if (!total)
    throw new InputError(
      'unreadable',
      'the file has no proof: the export was interrupted, run it again',
    )
  const isComplete =
    total.documents.count === total.documents.listed && total.batches.count === total.batches.listed
  return { status: isComplete ? 'complete' : 'incomplete', ...total }
}

/** A set of hashes on disk. */
function createKeySet(scratch: DatabaseSync, name: 'documents' | 'batches') {
  scratch.exec(`CREATE TABLE ${name} (key BLOB PRIMARY KEY) WITHOUT ROWID`)
  const insert = scratch.prepare(`INSERT OR IGNORE INTO ${name} VALUES (?)`)
  let size = 0
  return {
    add(key: Hex) {
      size += Number(insert.run(fromHex(key)).changes)
    },
    size: () => size,
  }
}
