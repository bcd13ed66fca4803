import { sha256 } from '@noble/hashes/sha2.js'
import type { Batch } from '#document/batch/batch.ts'
import { encodeBatchBlock } from '#document/batch/block.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { readSealedHeader } from '#document/sealed.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { inParallel } from '../parallel.ts'
import type { DocumentTable } from './documents.ts'
import type { DocumentFinding } from './findings.ts'
import type { Phases } from './phases.ts'

/** The number of concurrent requests to IPFS gateways. */
const MAX_AT_A_TIME = 16

/** Checks that the sources have the sealed bytes of each document that was issued alone. */
export async function checkPayloads(
  table: DocumentTable,
  sources: readonly BlockSource[],
  phases: Phases,
): Promise<void> {
  phases.begin('Checking payloads', table.alone)
  const indexes = function* () {
    for (let index = 0; index < table.alone; index++) yield index
  }
  await inParallel(indexes(), MAX_AT_A_TIME, async (index) => {
    await checkSealed(table, index, sources)
    phases.advance(1)
  })
  phases.end()
}

/**
 * Checks the sealed bytes and the batch block of each document in a batch. Batch blocks are
 * computed from the manifest, so the bytes of one that is found need no further check.
 *
 * @param first The index of the first document.
 */
export async function checkBatchPayloads(
  table: DocumentTable,
  batch: Batch,
  first: number,
  sources: readonly BlockSource[],
): Promise<void> {
  let index = first
  await inParallel(batch.blocks(), MAX_AT_A_TIME, async (block) => {
    const own = index++
    await checkSealed(table, own, sources)
    const { check, bytes } = await readPayload(sha256(encodeBatchBlock(block)), sources)
    if (!bytes) table.mark(own, findingOf('batch_block', check.code))
  })
}

async function checkSealed(
  table: DocumentTable,
  index: number,
  sources: readonly BlockSource[],
): Promise<void> {
  const hash: Hex = table.hashAt(index)
  const { check, bytes } = await readPayload(fromHex(hash), sources)
  if (!bytes) table.mark(index, findingOf('payload', check.code))
  else if (!isSealed(bytes)) table.mark(index, 'payload_malformed')
}

/** @param code The code of the check of a block that was not read. */
export function findingOf(what: 'payload' | 'batch_block', code: string): DocumentFinding {
  if (code === 'wrong_bytes') return 'payload_wrong_bytes'
  return code === 'unreachable' ? `${what}_unreachable` : `${what}_missing`
}

function isSealed(bytes: Uint8Array): boolean {
  try {
    readSealedHeader(bytes)
    return true
  } catch (error) {
    if (error instanceof FormatError) return false
    throw error
  }
}
