import type { Hex } from '#document/hex.ts'
import type { RegistryAccount, RegistryStatus } from '#verifier/ports.ts'
import type { Header } from '#verifier/proof/header.ts'
import { NO_ACCOUNT, registryStatusOf } from '#verifier/status.ts'
import type { Recount } from '../manifest.ts'
import { time } from '../report.ts'
import type { YoungRule } from './account-age.ts'
import type { ListedBatch } from './batches.ts'
import type { FindingLog, IssuerFinding } from './findings.ts'
import type { AuditedBatch, IssuerAudit } from './result.ts'
import { distrustedRevision, subjectOf } from './revisions.ts'
import type { IssuerState } from './state.ts'

type BatchFinding = [code: IssuerFinding, subject: string]

/** Adds the findings about each batch. */
export function judgeBatches(
  batches: readonly ListedBatch[],
  recounts: ReadonlyMap<Hex, Recount>,
  about: { header: Header; state: IssuerState; young: YoungRule; findings: FindingLog },
): AuditedBatch[] {
  const { header, state, young, findings } = about
  return batches.map((batch) => {
    const { root, record } = batch
    const account = state.accounts.get(record.accountIndex)
    // A batch has no expiry.
    const status = registryStatusOf({
      record: { ...record, validUntil: 0 },
      account: account ?? NO_ACCOUNT,
      revoker: state.accounts.get(record.revokerIndex) ?? null,
      blockTime: header.blockTime,
    })
    const recount = recounts.get(root)
    const found: BatchFinding[] =
      status === 'not_issued'
        ? [['batch_never_issued', root]]
        : [
            ...findingsOfAnchoring(batch, account, recount),
            ...findingsOfStatus(batch, status, state),
            ...(young(record) ? [['batch_young_account', root] as BatchFinding] : []),
          ]
    for (const [code, subject] of found) findings.add(code, subject)
    return {
      ...batch,
      status,
      account: status === 'not_issued' ? null : (account?.account ?? null),
      recount: recount === undefined ? ('not_asked' as const) : recount,
      findings: found.map(([code]) => code),
    }
  })
}

function findingsOfAnchoring(
  { root, record, event }: ListedBatch,
  account: RegistryAccount | undefined,
  recount: Recount | undefined,
): BatchFinding[] {
  const found: BatchFinding[] = []
  const contradicts =
    event !== null &&
    (event.block !== record.anchoredBlock ||
      event.account !== account?.account ||
      event.size !== record.validUntil)
  if (contradicts) found.push(['batch_event_contradicts', root])
  if (recount === 'no_manifest') found.push(['batch_manifest_unknown', root])
  else if (recount === 'unreadable') found.push(['batch_manifest_unreadable', root])
  else if (recount === 'unreachable') found.push(['batch_manifest_unreachable', root])
  else if (recount) found.push(['batch_not_recounted', `${root}: ${recount}`])
  return found
}

function findingsOfStatus(
  { root, record }: ListedBatch,
  status: RegistryStatus,
  { accounts }: IssuerState,
): BatchFinding[] {
  const found: BatchFinding[] = []
  if (status === 'revoked' || status === 'superseded') found.push(['batch_revoked', root])
  if (status === 'suspended') found.push(['batch_suspended', root])
  if (status === 'distrusted') found.push(['batch_distrusted', root])
  const revision = distrustedRevision(record, accounts)
  if (revision) found.push([`batch_${revision}`, subjectOf(revision, root, record)])
  return found
}

type Judged = Pick<
  IssuerAudit,
  'issuer' | 'accounts' | 'proposal' | 'documents' | 'batches' | 'adminEvents'
>

/** Adds the findings about the issuer and its accounts. */
export function judgeIssuer(
  { issuer, accounts, proposal, documents, batches, adminEvents }: Judged,
  findings: FindingLog,
  expected: readonly Hex[],
): void {
  const missing = documents.count - documents.found
  if (missing > 0) findings.add('documents_missing', undefined, missing)
  const found = batches.listed.filter(({ status }) => status !== 'not_issued').length
  if (batches.count > found) findings.add('batches_missing', undefined, batches.count - found)
  for (const { account, distrustedFrom, retiredBlock } of accounts.values()) {
    if (expected.length > 0 && !expected.includes(account))
      findings.add('account_unexpected', account)
    if (distrustedFrom !== 0)
      findings.add('account_distrusted', `${account} from block ${distrustedFrom}`)
    else if (retiredBlock !== 0)
      findings.add('account_retired', `${account} in block ${retiredBlock}`)
  }
  if (proposal)
    findings.add('recovery_pending', `${proposal.account}, from ${time(proposal.acceptFrom)} on`)
  if (issuer.closedBlock !== 0) findings.add('issuer_closed', `in block ${issuer.closedBlock}`)
  for (const event of adminEvents) {
    const where = `block ${event.block}, transaction ${event.transactionHash}`
    if (event.event === 'issuer_renamed')
      findings.add('issuer_renamed', `to "${event.name}", ${event.uri}, ${where}`)
    if (event.event === 'recovery_accepted')
      findings.add('recovery_accepted', `${event.account}, ${where}`)
  }
}
