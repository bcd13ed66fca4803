import { type Document, type DocumentPart, metadataOf } from '#document/document.ts'
import { type Network, TEST_NETWORK } from '#verifier/network.ts'
import type {
  AccountProof,
  BlockchainProof,
  Check,
  PresentationVerdict,
  Verdict,
  VerdictStatus,
} from '#verifier/verdict.ts'
import { printable } from './printable.ts'
import type { Paint } from './terminal.ts'

/** Shown if a final revocation was released or replaced after a theft. */
export const SET_ASIDE = 'A revocation of this document was set aside: its account is distrusted'

/** Shown if the domain in the registry does not vouch for the issuer. */
export const DENIED = 'The domain that this issuer names as its own does not vouch for it'
export const ACCOUNT_NOT_LISTED =
  "The issuer's domain does not list the account that issued this document"

/** Shown with the disclosed fields of a presentation. */
export const MINIMAL_DISCLOSURE = [
  'How much the document holds besides is not known.',
  'This is minimal disclosure, not anonymity: presentations of one document can be linked.',
]

/** A verdict with its context. */
export type Report = {
  verdict: Verdict | PresentationVerdict
  /** The network of the registry that was read. */
  network: Network
  warnings: readonly string[]
}

type Line = readonly [label: string, value: string]

/** Ends the line of a valid document when no domain vouches for its issuer. */
const UNCONFIRMED = 'but no domain has confirmed the issuer'

const HEADLINES: Record<VerdictStatus, string> = {
  valid: 'VALID: issued, not revoked or suspended, not expired, unchanged',
  not_issued: 'NOT VALID: never issued; the registry has no record of it',
  superseded: 'NOT VALID: superseded; the issuer has replaced it',
  revoked: 'NOT VALID: revoked by the issuer, permanently',
  suspended: 'NOT VALID: suspended; the issuer may release it',
  distrusted: 'NOT VALID: issued with an account whose key was stolen',
  erased: 'NOT VALID: the document has been erased',
  wrong_key: 'NOT VALID: this publicId does not open the document',
  tampered: 'NOT VALID: the document does not fit its record or its format',
  expired: 'NOT VALID: expired',
  unverifiable: 'COULD NOT CHECK: no verdict, neither good nor bad',
}

/** Texts for the codes of checks that do not pass; other codes need none. */
const MEANINGS: Record<string, string> = {
  rpc_unreachable: 'the node does not answer',
  rpc_error: 'the node answers with an error',
  no_registry: 'there is no document registry at this address',
  wrong_chain: 'the node belongs to another chain',
  state_unavailable: 'the node does not have the state of that block',
  endpoints_disagree: 'the nodes do not agree',
  proof_invalid: 'the proof is invalid',
  block_untrusted: 'the proof is for a block that you did not name',
  other_code: 'the code at the address is not that of the registry',
  unproven: 'the file contains no proof of this',
  head_stale: "the node's newest block is too old",
  not_issued: 'the registry has no record of it',
  distrusted: 'its account is distrusted from that block or an earlier one',
  missing: 'not found at any source',
  unreachable: 'no source responded',
  wrong_bytes: 'a source returned other bytes than requested',
  wrong_key: 'the key in the publicId does not open it',
  other_disclosures: 'its header belongs to another document',
  claims_digest_repeated: 'its claims contain a duplicate digest',
  disclosure_repeated: 'it contains a duplicate disclosure',
  disclosure_malformed: 'it contains an invalid disclosure',
  disclosure_unlisted: 'it contains a disclosure that does not belong to this document',
  disclosure_name_repeated: 'it contains two disclosures with the same name',
  document_fields: 'it has an invalid field',
  other_registry: 'it belongs to another registry',
  other_issuer: 'its issuer is not the one in the publicId',
  batch_malformed: 'its batch block is malformed',
  batch_unknown: 'the bundle does not contain its batch block',
  other_expiry: 'its expiry differs from that in its record',
  internal_error: 'this program could not read it: this is a bug',
  in_future: 'it is dated in the future',
  denied: 'the domain does not vouch for it',
  account_not_listed: 'the domain lists other accounts',
  other_domain: 'not the domain that you require',
  no_domain: 'the issuer has registered no domain',
  malformed: 'the domain does not serve a DID document',
  not_asked: 'its domain was not asked',
  unknown_key: "the issuer's domain does not list the key that signed it",
  wrong_iss: 'it names another issuer than the registry does',
  signature_invalid: "no key of the issuer's domain signed it",
  holder_missing: 'its holder did not sign it for you',
  holder_invalid: "the signature of its holder's key is invalid, or was made for somebody else",
  contradicts: 'the event contradicts the record',
  pruned: 'nodes no longer keep events this old; that is normal, and changes nothing',
}

/** @returns A verdict for people, without a line feed at its end. */
export function report({ verdict, network, warnings }: Report, paint: Paint): string {
  const { blockchainProof: proof, asOf } = verdict
  const parts = [paint(colourOf(verdict), paint('bold', headlineOf(verdict)))]
  for (const notice of noticesOf(verdict, network))
    parts.push(paint('yellow', paint('bold', notice)))
  if (asOf) parts.push(`as of block ${asOf.blockNumber}, ${time(asOf.blockTime)}`)
  for (const warning of warnings) parts.push(paint('yellow', `Warning: ${printable(warning)}`))
  if (proof) parts.push(...section('Issuer', issuerLines(proof)))
  parts.push(...contentOf(verdict))
  if (proof) parts.push(...section('Anchored', proofLines(proof)))
  parts.push('', 'Checks', ...verdict.checks.map((check) => checkLine(check, paint)))
  return parts.join('\n')
}

function contentOf(verdict: Report['verdict']): string[] {
  if ('disclosed' in verdict) {
    const { disclosed } = verdict
    if (!disclosed) return []
    const lines = partLines(disclosed)
    const shown =
      lines.length > 0
        ? section('Disclosed, to be compared with what you were told', lines)
        : ['', 'Nothing is disclosed']
    return [...shown, ...MINIMAL_DISCLOSURE.map((line) => `  ${line}`)]
  }
  if (!verdict.document) return []
  return section(
    'Document, to be compared with what you were shown',
    documentLines(verdict.document),
  )
}

/** @returns The text for the status; a missing required domain has its own. */
export function headlineOf({ status, checks }: Report['verdict']): string {
  if (status === 'distrusted' && outcomeOf('issuer', checks) === 'pass')
    return 'NOT VALID: the domain that you require does not vouch for it'
  const isConfirmed = status !== 'valid' || outcomeOf('identity', checks) === 'pass'
  return isConfirmed ? HEADLINES[status] : `${HEADLINES[status]}; ${UNCONFIRMED}`
}

/** Green requires a domain that vouches for the issuer, and a date that is not in the future. */
export function colourOf({ status, checks }: Report['verdict']): 'green' | 'yellow' | 'red' {
  if (status === 'unverifiable') return 'yellow'
  const identity = outcomeOf('identity', checks)
  if (status !== 'valid' || identity === 'fail') return 'red'
  return identity === 'pass' && outcomeOf('dating', checks) !== 'fail' ? 'green' : 'yellow'
}

function outcomeOf(name: Check['check'], checks: readonly Check[]): Check['outcome'] | undefined {
  return checks.find(({ check }) => check === name)?.outcome
}

/** @returns Notices that a reader must see next to a good status. */
function noticesOf(verdict: Report['verdict'], network: Network): string[] {
  const { checks, blockchainProof } = verdict
  const document = 'disclosed' in verdict ? verdict.disclosed : verdict.document
  const notices = network === 'test' ? [TEST_NETWORK] : []
  if (document?.issuedAt !== undefined && outcomeOf('dating', checks) === 'fail')
    notices.push(`This document is dated in the future: ${longDate(document.issuedAt)}`)
  if (blockchainProof?.setAside) notices.push(SET_ASIDE)
  if (blockchainProof)
    notices.push(...revokerNotices(blockchainProof), ...closedNotices(blockchainProof))
  const denial = checks.find(({ check, outcome }) => check === 'identity' && outcome === 'fail')
  if (denial?.code === 'denied') notices.push(DENIED)
  if (denial?.code === 'account_not_listed') notices.push(ACCOUNT_NOT_LISTED)
  return notices
}

/** Notices about a distrusted account that revoked, suspended or released the document. */
function revokerNotices(proof: BlockchainProof): string[] {
  const { reason, releasedAt, revoker, revokedBlock } = proof
  if (reason === null || revoker === null || revokedBlock === null) return []
  const { address, distrustedFrom } = revoker
  if (distrustedFrom === null || revokedBlock < distrustedFrom) return []
  const by = `by account ${address}, which the issuer distrusts from block ${distrustedFrom} on`
  if (releasedAt !== null)
    return [`Released on ${time(releasedAt)} ${by}: suspended until a trusted account releases it`]
  return [`${reason === 'certificateHold' ? 'Suspended' : 'Revoked'} ${by}: ask the issuer`]
}

/** Notices about an issuer that the registry's admin has closed. */
function closedNotices({ issuer: { closedBlock, closedAt } }: BlockchainProof): string[] {
  if (closedBlock === null) return []
  const at = closedAt === null ? '' : ` (${time(closedAt)})`
  return [
    `The registry's admin closed this issuer in block ${closedBlock}${at}`,
    'It can no longer issue documents; if in doubt, ask the issuer',
  ]
}

/** @param date `YYYY-MM-DD`. @returns A date such as "1 March 2999". */
function longDate(date: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeZone: 'UTC',
  }).format(new Date(date))
}

function section(title: string, lines: Line[]): string[] {
  const width = Math.max(...lines.map(([label]) => label.length))
  return [
    '',
    title,
    ...lines.map(([label, value]) => `  ${printable(label).padEnd(width)}  ${printable(value)}`),
  ]
}

function issuerLines({ issuer, registry }: BlockchainProof): Line[] {
  return [
    ...(issuer.domain === null
      ? [['name', `calls itself ${issuer.name}, not confirmed by any domain`] as const]
      : [['domain', `✓ ${issuer.domain}`] as const, ['name', issuer.name] as const]),
    ['uri', issuer.uri],
    ['account', issuer.account],
    ['number', `${issuer.id} in ${registry}`],
  ]
}

function documentLines(document: Document): Line[] {
  return partLines(document, lastDayOf(document) ?? 'never')
}

/** @returns A line for each field that is present. */
function partLines(
  document: DocumentPart,
  expiry: string | undefined = lastDayOf(document),
): Line[] {
  const { subjectName, subjectId, category, issuedAt, supersedes } = document
  const fields: [string, string | undefined][] = [
    ['subjectName', subjectName],
    ['subjectId', subjectId],
    ['category', category],
    ['issuedAt', issuedAt],
    ['expiresAt', expiry],
    ['supersedes', supersedes],
  ]
  return [
    ...fields.flatMap<Line>(([label, value]) => (value === undefined ? [] : [[label, value]])),
    ...metadataOf(document).map<Line>(([key, value]) => [`metadata.${key}`, value]),
  ]
}

function lastDayOf({ expiresAt }: DocumentPart): string | undefined {
  return expiresAt === undefined ? undefined : `${expiresAt}, its last day`
}

function proofLines(proof: BlockchainProof): Line[] {
  const { blockNumber, blockTime, finality, account } = proof
  const { batchRoot } = proof
  return [
    ['block', `${blockNumber}, ${time(blockTime)}, ${finality ?? 'finality unknown'}`],
    ['transaction', proof.transactionHash ?? 'unknown'],
    ['documentHash', proof.documentHash],
    ...(batchRoot ? [['batchRoot', batchRoot] as const] : []),
    ['account', history(account, blockNumber)],
    ...revocationLines(proof),
  ]
}

function revocationLines(proof: BlockchainProof): Line[] {
  const { revokedAt, releasedAt, reason, revoker, account } = proof
  const lines: Line[] = []
  if (revokedAt !== null && reason === 'certificateHold') lines.push(['suspended', time(revokedAt)])
  else if (revokedAt !== null) lines.push(['revoked', `${time(revokedAt)}, reason ${reason}`])
  // The document is still suspended, because the account that released it is distrusted.
  if (releasedAt !== null && reason !== null)
    lines.push(['released', `${time(releasedAt)}, does not count`])
  else if (releasedAt !== null) lines.push(['released', time(releasedAt)])
  if (revoker !== null && revoker.address !== account.address)
    lines.push(['by account', `${revoker.address}, ${history(revoker)}`])
  return lines
}

/** @param issued The block in which the account issued the document, if it did. */
function history(
  { addedBlock, changedBlock, retiredBlock, distrustedFrom }: AccountProof,
  issued?: number,
): string {
  const age = issued === undefined ? undefined : issued - addedBlock
  const parts = [`added in block ${addedBlock}`]
  if (age !== undefined && age >= 0)
    parts[0] += `, ${age} ${age === 1 ? 'block' : 'blocks'} before it issued this`
  if (changedBlock !== null) parts.push(`permissions last changed in block ${changedBlock}`)
  if (retiredBlock !== null) parts.push(`retired in block ${retiredBlock}`)
  if (distrustedFrom !== null) parts.push(`distrusted from block ${distrustedFrom} on`)
  return parts.join('; ')
}

function checkLine({ check, outcome, code }: Check, paint: Paint): string {
  const colour = { pass: 'green', fail: 'red', unknown: 'yellow' } as const
  const meaning = outcome === 'pass' ? undefined : MEANINGS[code]
  return `  ${paint(colour[outcome], outcome.padEnd(7))}  ${check.padEnd(12)}  ${code}${meaning ? ` (${meaning})` : ''}`
}

/** @param seconds Seconds of the Unix epoch. */
export function time(seconds: number): string {
  const date = new Date(seconds * 1000)
  // A record can contain any time of 40 bits.
  if (Number.isNaN(date.getTime())) return `second ${seconds}`
  return date.toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}
