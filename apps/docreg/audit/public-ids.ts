import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import { decodePublicId, type PublicId } from '#document/public-id.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { readBatch } from '#verifier/checks/batch.ts'
import { checkContent } from '#verifier/checks/content.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import type { BlockSource, RegistryIssuer, RegistryRecord } from '#verifier/ports.ts'
import { readLines } from '../lines.ts'
import { inParallel } from '../parallel.ts'
import type { DocumentTable, TableEntry } from './documents.ts'
import type { DocumentFinding, FindingLog } from './findings.ts'
import { findingOf } from './payloads.ts'
import type { Phases } from './phases.ts'

/** A publicId anywhere in a line, so that a CSV file can be used too. */
const PUBLIC_ID = /(?<![A-Za-z0-9])[1-9A-HJ-NP-Za-km-z]{70,80}(?![A-Za-z0-9])/
const MAX_AT_A_TIME = 16

type Options = {
  registry: RegistryId
  issuer: RegistryIssuer
  sources: readonly BlockSource[]
  /** The time of the audited block. */
  blockTime: number
  /** The place of a batch, by its root. */
  batchOf(root: Hex): number | undefined
  recordOf(entry: TableEntry): RegistryRecord
  findings: FindingLog
  phases: Phases
}

/**
 * Opens the documents whose publicIds are in a file, compares them with their records, and stores
 * their categories. Nothing else of a document is kept.
 */
export async function openListed(
  file: string,
  table: DocumentTable,
  options: Options,
): Promise<void> {
  const { findings, phases } = options
  phases.begin('Opening documents', table.length)
  let number = 0
  await inParallel(readLines(file, { unfinished: true }), MAX_AT_A_TIME, async ({ line }) => {
    const where = `line ${++number}`
    const [text] = PUBLIC_ID.exec(line) ?? []
    // The line is a header or empty.
    if (text === undefined) return
    phases.advance(1)
    const publicId = decode(text)
    if (publicId === undefined) findings.add('public_id_malformed', where)
    else if (publicId.issuerId !== options.issuer.id) findings.add('public_id_other_issuer', where)
    else await openOne(publicId, where, table, options)
  })
  phases.end()
}

async function openOne(
  publicId: PublicId,
  where: string,
  table: DocumentTable,
  options: Options,
): Promise<void> {
  const { registry, issuer, sources, findings } = options
  const place = await placeOf(publicId, options)
  if (place === 'unreachable') {
    findings.add('public_id_unreachable', where)
    return
  }
  const index = place && table.find(place.documentHash, place.batch)
  if (place === undefined || index === undefined) {
    findings.add('public_id_not_listed', where)
    return
  }
  const { check, bytes } = await readPayload(fromHex(place.documentHash), sources)
  if (!bytes) {
    table.mark(index, findingOf('payload', check.code))
    return
  }
  const reading = { record: options.recordOf(table.at(index)), issuer }
  const { checks, document } = await checkContent(bytes, publicId.documentKey, registry, reading)
  if (!document) {
    const bad = checks.find(({ outcome }) => outcome !== 'pass')
    table.mark(index, findingOfContent(bad?.check, bad?.code))
    return
  }
  table.setCategory(index, document.category)
  if (Date.parse(document.issuedAt) / 1000 > options.blockTime) table.mark(index, 'dated_in_future')
}

/** @returns The place of the document; `undefined` when no source has its batch block. */
async function placeOf(
  publicId: PublicId,
  { registry, sources, batchOf }: Options,
): Promise<{ documentHash: Hex; batch: number | null } | 'unreachable' | undefined> {
  if (publicId.kind === 'single') return { documentHash: toHex(publicId.hash), batch: null }
  const { check, key } = await readBatch(publicId, registry, sources)
  if (check.code === 'unreachable') return 'unreachable'
  const batch = key?.batch && batchOf(key.batch.root)
  return key && batch !== undefined ? { documentHash: key.documentHash, batch } : undefined
}

function findingOfContent(check: string | undefined, code: string | undefined): DocumentFinding {
  if (check === 'key') return 'wrong_key'
  return code === 'other_registry' || code === 'other_issuer' || code === 'other_expiry'
    ? code
    : 'content_malformed'
}

function decode(text: string): PublicId | undefined {
  try {
    return decodePublicId(text)
  } catch (error) {
    if (error instanceof FormatError) return undefined
    throw error
  }
}
