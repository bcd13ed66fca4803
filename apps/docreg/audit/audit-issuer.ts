import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { BlockSource, RegistryAccount, RegistryRecord } from '#verifier/ports.ts'
import type { Header } from '#verifier/proof/header.ts'
import { slotsOfIssuer } from '#verifier/proof/slots.ts'
import type { Request } from '#verifier/readers/request.ts'
import type { SlotProver } from '#verifier/readers/slot-prover.ts'
import { type RevisedSlot, recordInBatch } from '#verifier/status.ts'
import type { Recount } from '../manifest.ts'
import { readAges, type YoungRule } from './account-age.ts'
import { type ListedBatch, recountBatches } from './batches.ts'
import type { DocumentTable, TableEntry } from './documents.ts'
import type { FindingLog } from './findings.ts'
import { judgeBatches, judgeIssuer } from './judge.ts'
import type { Ledger } from './ledger.ts'
import { createLines } from './lines.ts'
import { checkPayloads } from './payloads.ts'
import type { Phases } from './phases.ts'
import { openListed } from './public-ids.ts'
import type { IssuerAudit } from './result.ts'
import { type IssuerState, proveRecords, proveSome, readIssuerState } from './state.ts'
import { summarize } from './summary.ts'

export type AuditOptions = {
  request: Request
  registry: RegistryId
  issuerId: number
  header: Header
  sources: readonly BlockSource[]
  /** Whether to fetch and hash every sealed document and batch block. */
  payloads: boolean
  /** A file of publicIds, for totals by category. */
  publicIds?: string | undefined
  /** Accounts that the auditor knows; empty = any account is accepted. */
  expectedAccounts: readonly Hex[]
  /** A document counts as that of a young account for this many seconds. */
  youngSeconds: number
  phases: Phases
  /** The findings so far. */
  findings: FindingLog
}

/**
 * Audits what a ledger says about an issuer against the registry's storage at one block.
 *
 * @throws {ChainError} when the chain cannot be read; `state_unavailable` and `proof_invalid` also
 * when the chain has moved on meanwhile.
 */
export async function auditIssuer(
  prover: SlotProver,
  ledger: Ledger,
  options: AuditOptions,
): Promise<IssuerAudit> {
  const { issuerId, header, sources, phases, registry, findings } = options
  const slots = slotsOfIssuer(issuerId)
  const state = await readIssuerState(prover, issuerId)

  const roots = [...ledger.batches.values()]
  phases.begin('Proving batches', roots.length)
  const { scratch } = ledger
  const ofRoots = roots.map(({ root }) => slots.batch(root))
  const anchors = await proveSome(prover, ofRoots, { scratch, phases })
  phases.end()
  const listed = roots.map((batch, i) => ({ ...batch, record: anchors[i] as RegistryRecord }))

  const table = ledger.documents()
  const issued = listed.filter(({ record }) => record.anchoredBlock !== 0)
  const recounts =
    sources.length > 0 ? await recountBatches(table, issued, options) : new Map<Hex, Recount>()

  phases.begin('Proving documents', table.length)
  const ofDocument = (i: number) => slots.record(table.hashAt(i))
  await proveRecords(prover, {
    scratch,
    count: table.length,
    slotOf: ofDocument,
    take: table.setOwn,
    phases,
  })
  phases.end()
  const readingOf = readingsIn(issued, state)
  const recordOf = (entry: TableEntry) => readingOf(entry).record

  const young = await readAges(options.request, state.accounts, options.youngSeconds)
  const found = markRecords(table, recordOf, { header, state, young })
  if (options.payloads) await checkPayloads(table, sources, phases)
  if (options.publicIds !== undefined)
    await openListed(options.publicIds, table, {
      registry,
      sources,
      findings,
      phases,
      recordOf,
      issuer: state.issuer,
      blockTime: header.blockTime,
      batchOf: (root) => indexOfRoot(issued, root),
    })

  const batches = judgeBatches(listed, recounts, { header, state, young, findings })
  const audit = {
    ...state,
    documents: { count: state.issuer.documentCount, found },
    batches: { count: state.issuer.batchCount, listed: batches },
    inBatches: table.length - table.alone,
    adminEvents: ledger.adminEvents,
  }
  judgeIssuer(audit, findings, options.expectedAccounts)
  const lines = createLines(table, readingOf, {
    blockTime: header.blockTime,
    accounts: state.accounts,
    rootOf: (batch) => issued[batch]?.root ?? null,
  })
  const summary = summarize(lines, findings)
  const isComplete = found === audit.documents.count && issued.length === audit.batches.count
  return {
    ...audit,
    status: isComplete ? 'complete' : 'incomplete',
    findings: findings.list(),
    summary,
    lines,
  }
}

/** A record, and the account that last revoked, suspended or released it. */
type Revised = RevisedSlot<RegistryAccount | null>

/** @returns A function that assembles what the registry says about a document. */
function readingsIn(batches: readonly ListedBatch[], { accounts }: IssuerState) {
  const revised = (record: RegistryRecord): Revised => ({
    record,
    revoker: accounts.get(record.revokerIndex) ?? null,
  })
  return ({ batch, validUntil, own }: TableEntry): Revised => {
    const anchored = batch === null ? undefined : batches[batch]?.record
    if (!anchored) return revised(own)
    return recordInBatch(revised(own), revised(anchored), validUntil ?? 0)
  }
}

function indexOfRoot(batches: readonly ListedBatch[], root: Hex): number | undefined {
  const index = batches.findIndex((batch) => batch.root === root)
  return index < 0 ? undefined : index
}

/** @returns The number of documents that were issued alone. */
function markRecords(
  table: DocumentTable,
  recordOf: (entry: TableEntry) => RegistryRecord,
  { header, state, young }: { header: Header; state: IssuerState; young: YoungRule },
): number {
  let found = 0
  for (const { index, ...entry } of table.entries()) {
    const record = recordOf(entry)
    const { event, batch } = entry
    table.setBlock(index, record.anchoredBlock)
    if (record.anchoredBlock === 0) {
      table.mark(index, 'never_issued')
      continue
    }
    if (batch === null) found++
    const account = state.accounts.get(record.accountIndex)
    const contradicts =
      event !== null &&
      (event.block !== record.anchoredBlock ||
        event.account !== account?.account ||
        event.validUntil !== record.validUntil)
    if (contradicts) table.mark(index, 'event_contradicts')
    if (record.anchoredBlock > header.blockNumber || record.anchoredAt > header.blockTime)
      table.mark(index, 'dated_after_block')
    if (record.setAside) table.mark(index, 'set_aside')
    if (young(record)) table.mark(index, 'young_account')
  }
  return found
}
