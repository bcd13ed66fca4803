import { decodePublicId } from '#document/public-id.ts'
import { parseRegistryId } from '#document/registry-id.ts'
import type { BlockchainProof, VerdictStatus } from '#verifier/index.ts'
import { networkOf } from '#verifier/network.ts'
import type { Sources } from './config.ts'
import { doubtOf, isToCompare } from './doubt.ts'
import { type Findings, isAhead, isOutdated, type PageVerdict, shownStatus } from './findings.ts'
import { maybe, showAgo, showDate, showDay, showList, showNumber, t } from './i18n.ts'
import { identityOf } from './identity.ts'
import { isExcerpt, type Subject } from './input.ts'
import type { Done, Phase } from './state.ts'
import type { TextKey } from './strings/en.ts'

/**
 * An issuer's name next to these statuses would lend them its reputation, so only the details show
 * it.
 */
export const NAMELESS: readonly string[] = ['wrong_key', 'tampered']

/** @returns The verdict in one line. */
export function headlineOf(phase: Done): string {
  const status = shownStatus(phase)
  const doubt = doubtOf(phase)
  if (doubt !== undefined) return t(`valid.${doubt}`)
  return isOutdated(phase)
    ? t(`${pastOf(status)}.past`, {
        date: showDay(phase.verdict.asOf?.blockTime ?? 0),
      })
    : t(`${status}.title`)
}

/** @param status The status that may be outdated. */
function pastOf(status: VerdictStatus): 'valid' | 'suspended' | 'not_issued' {
  return status === 'valid' || status === 'suspended' ? status : 'not_issued'
}

/**
 * @returns The sentences below the title: the meaning of the verdict, and the reason if it is not
 * valid.
 */
export function linesOf(phase: Done): string[] {
  return [
    meaningOf(phase),
    ...(phase.verdict.status === 'superseded' ? [successorOf(phase)] : []),
    ...reasonsOf(phase),
    ...(phase.saidErased ? [t('erased.here')] : []),
  ]
}

/** @returns Where the newer document is, because the registry does not name it. */
function successorOf({ newer }: Done): string {
  return t(newer === undefined ? 'superseded.ask' : 'superseded.held')
}

function meaningOf(findings: Findings): string {
  const { verdict } = findings
  const status = shownStatus(findings)
  if (isOutdated(findings)) return t(`${pastOf(status)}.past.text`)
  if (isRecordedAlone(verdict)) return t('unverifiable.recorded')
  const { blockchainProof: proof, fields } = verdict
  if (status === 'suspended' && proof?.releasedAt)
    return t('suspended.released', { date: showDay(proof.releasedAt) })
  return t(`${status}.text`, {
    date: dateOf(status, proof, fields?.expiresAt),
    reason: maybe(`reason.${proof?.reason}`) ?? proof?.reason ?? '',
  })
}

/** Whether the chain has a valid record and only the content is missing. */
function isRecordedAlone({ status, checks }: PageVerdict): boolean {
  const has = (name: string, outcome: string) =>
    checks.some((c) => c.check === name && c.outcome === outcome)
  return (
    status === 'unverifiable' &&
    has('chain', 'pass') &&
    has('record', 'pass') &&
    has('payload', 'unknown')
  )
}

function dateOf(
  status: VerdictStatus,
  proof: BlockchainProof | null,
  expiresAt: string | undefined,
): string {
  if (status === 'expired') {
    if (expiresAt !== undefined) return showDate(expiresAt)
    return proof?.validUntil ? showDay(proof.validUntil - 1) : ''
  }
  return proof?.revokedAt ? showDay(proof.revokedAt) : ''
}

/** @returns Why the document could not be checked, or not with the nodes. */
function reasonsOf({ verdict, live, attempt }: Findings): string[] {
  const troubles = [...troublesOf(verdict)]
  if (!live) troubles.unshift(...(attempt ? troublesOf(attempt) : [t('why.no_nodes')]))
  const offline = troubles.length > 0 && !navigator.onLine
  return [...new Set(offline ? [t('why.offline'), ...troubles] : troubles)]
}

/** @returns Text for the codes that have one, and otherwise the codes. */
export function troublesOf({ status, checks }: PageVerdict): string[] {
  if (status !== 'unverifiable') return []
  return checks
    .filter(
      ({ outcome, check }) => outcome === 'unknown' && check !== 'event' && check !== 'identity',
    )
    .map(
      ({ check, code }) => maybe(`${check === 'credential' ? 'identity' : 'why'}.${code}`) ?? code,
    )
}

/** @returns A notice unless the registry is on a chain known to carry real documents. */
export function networkWarning({ registry, liveChains }: Sources): string | undefined {
  if (registry === '') return undefined
  const isTest = networkOf(parseRegistryId(registry).chainId, liveChains) === 'test'
  return isTest ? t('network.test') : undefined
}

/** @returns The hosts whose answer is missing, after a while without progress. */
export function waitingFor(
  { subject, checks }: Extract<Phase, { at: 'checking' }>,
  { rpc, ipfs }: Sources,
): string {
  const has = (name: string) => checks.some(({ check }) => check === name)
  // For a batch, the batch block comes first.
  const ofBatch = !isExcerpt(subject) && decodePublicId(subject.publicId).kind === 'batch'
  const first = ofBatch && !has('batch')
  const content = (first || (has('chain') && !has('payload'))) && ipfs.length > 0
  const hosts = (content ? ipfs : rpc).map((url) => new URL(url).host)
  return t(content ? 'waiting.content' : 'waiting.chain', {
    hosts: showList([...new Set(hosts)]),
  })
}

/** @returns The time since the nodes answered, in words. */
export function agoOf(checkedAt: number): string {
  const seconds = (Date.now() - checkedAt) / 1000
  return seconds < 60 ? t('checked.now') : t('checked.ago', { ago: showAgo(seconds) })
}

/** @returns A notice that nobody confirms the issuer, if the headline does not say it. */
export function unconfirmedNotice(phase: Done): string | undefined {
  const { verdict, asking } = phase
  const isSilent =
    asking !== undefined || verdict.blockchainProof === null || NAMELESS.includes(verdict.status)
  if (isSilent || doubtOf(phase) === 'unconfirmed') return undefined
  return identityOf(verdict).outcome === 'unknown' ? t('issuer.nobody') : undefined
}

/** @returns A notice if the document is dated in the future. */
export function datingNotice(verdict: PageVerdict): string | undefined {
  const { fields } = verdict
  return isAhead(verdict) && fields?.issuedAt !== undefined
    ? t('dating.notice', { date: showDate(fields.issuedAt) })
    : undefined
}

/** @returns A notice if a revocation was set aside after a theft. */
export function setAsideNotice({ blockchainProof }: PageVerdict): string | undefined {
  return blockchainProof?.setAside ? t('setAside.notice') : undefined
}

/** @returns A notice if an account whose key was stolen revoked or suspended the document. */
export function revokerNotice({ blockchainProof }: PageVerdict): string | undefined {
  const { reason, releasedAt, revoker, revokedBlock = null } = blockchainProof ?? {}
  const { distrustedFrom = null, address = '' } = revoker ?? {}
  if (!reason || releasedAt || distrustedFrom === null || revokedBlock === null) return undefined
  if (revokedBlock < distrustedFrom) return undefined
  return t('revoker.notice', { block: showNumber(distrustedFrom), account: address })
}

/** @returns A notice if the issuer is closed. */
export function closedNotice({ blockchainProof }: PageVerdict): string | undefined {
  const { closedBlock = null, closedAt = null } = blockchainProof?.issuer ?? {}
  if (closedBlock === null) return undefined
  const day = closedAt === null ? [] : [showDay(closedAt)]
  return t('closed.notice', { block: [showNumber(closedBlock), ...day].join(' · ') })
}

/** @returns The registry that a link or file names, if it is not the one that the page trusts. */
export function otherRegistry({ hint }: Subject, { registry }: Sources): string | undefined {
  return hint?.toLowerCase() === registry ? undefined : hint
}

/** @returns The outcome, for a screen reader. */
export function spoken(phase: Done, sources: Sources): string {
  const warning = networkWarning(sources)
  const { verdict } = phase
  const other = otherRegistry(phase.subject, sources)
  const notices = [datingNotice, setAsideNotice, revokerNotice, closedNotice]
  const lines = [
    warning && `${warning}.`,
    `${headlineOf(phase)}.`,
    other && t('trust.other', { registry: other }),
    unconfirmedNotice(phase),
    doubtOf(phase) === 'pdf' && t('document.valid'),
    isToCompare(phase) && t('document.compare'),
    ...notices.map((noticeOf) => noticeOf(verdict)),
    ...linesOf(phase),
  ]
  return lines.filter(Boolean).join(' ')
}

/** @returns The headline with the answer of the issuer's domain, for a screen reader. */
export function spokenIdentity(phase: Done): string {
  const isNameless = NAMELESS.includes(phase.verdict.status)
  return isNameless ? `${headlineOf(phase)}.` : `${headlineOf(phase)}. ${answerOf(phase.verdict)}`
}

function answerOf(verdict: PageVerdict): string {
  const { name = '', uri, domain } = verdict.blockchainProof?.issuer ?? {}
  if (domain) return `${t('domain.confirmed')} ${domain}.`
  const { outcome, code } = identityOf(verdict)
  if (outcome !== 'fail') return `${t('issuer.nobody')} ${t('issuer.calls', { issuer: name })}`
  return `${t(denialOf(code))} ${uri ?? ''}`
}

/** @returns The text of a domain that does not confirm the issuer. */
export function denialOf(code: string): TextKey {
  return code === 'account_not_listed' ? 'domain.not_listed' : 'domain.denied'
}
