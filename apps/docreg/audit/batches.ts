import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { BlockSource, RegistryRecord } from '#verifier/ports.ts'
import { type Recount, recountListed } from '../manifest.ts'
import type { DocumentTable } from './documents.ts'
import type { LedgerBatch } from './ledger.ts'
import { checkBatchPayloads } from './payloads.ts'
import type { Phases } from './phases.ts'

/** A batch with its proven record, in which `validUntil` is its size. */
export type ListedBatch = LedgerBatch & { record: RegistryRecord }

/**
 * Recounts batches from their manifests, one after another, and adds their documents to the table.
 *
 * @returns Why a batch was not recounted, by its root; `null` = all of its documents are listed.
 */
export async function recountBatches(
  table: DocumentTable,
  batches: readonly ListedBatch[],
  options: {
    registry: RegistryId
    issuerId: number
    sources: readonly BlockSource[]
    /** Whether to also check the payloads of their documents. */
    payloads: boolean
    phases: Phases
  },
): Promise<Map<Hex, Recount>> {
  const { registry, issuerId, sources, payloads, phases } = options
  const recounts = new Map<Hex, Recount>()
  phases.begin('Recounting batches', batches.length)
  for (const [number, { root, manifest, record }] of batches.entries()) {
    const about = { registry, issuerId, blocks: sources }
    const listed = { root, size: record.validUntil }
    const recount = await recountListed(listed, manifest, about, async (batch) => {
      const firsts = Array.from(batch.chunks(), (chunk) => table.addChunk(number, chunk))
      if (payloads) await checkBatchPayloads(table, batch, firsts[0] ?? 0, sources)
    })
    recounts.set(root, recount)
    phases.advance(1)
  }
  phases.end()
  return recounts
}
