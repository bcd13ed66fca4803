import { CODE_UNCHECKED } from '../sources.ts'

/**
 * `fault` = the audit fails; `warning` = somebody should look into it; `notice` = for information.
 */
export type Severity = 'fault' | 'warning' | 'notice'

/** The possible findings about one document. */
export const DOCUMENT_FINDINGS = {
  never_issued: ['fault', 'The list contains a hash that this issuer never issued'],
  event_contradicts: ['fault', 'The event does not agree with the proven record'],
  dated_after_block: ['fault', 'The record is later than the block of this audit'],
  distrusted: ['warning', 'Issued by an account that is distrusted from that block on'],
  released_by_distrusted: [
    'warning',
    'Released by an account that is distrusted from that block on: this counts as a suspension',
  ],
  revoked_by_distrusted: [
    'warning',
    'Revoked or suspended by an account that is distrusted from that block on',
  ],
  set_aside: ['warning', 'A final revocation was set aside: its account is distrusted'],
  young_account: ['warning', 'Issued soon after its account was added or changed'],
  revoked: ['notice', 'Revoked'],
  superseded: ['notice', 'Superseded'],
  suspended: ['notice', 'Suspended'],
  expired: ['notice', 'Expired'],
  payload_missing: ['warning', 'No source has the sealed document'],
  payload_unreachable: ['warning', 'A source did not answer, and no other has the sealed document'],
  payload_wrong_bytes: ['fault', 'A source returned bytes that do not match the hash'],
  payload_malformed: ['fault', 'The bytes match the hash but are not a sealed document'],
  batch_block_missing: ['warning', 'No source has the batch block'],
  batch_block_unreachable: ['warning', 'A source did not answer, and no other has the batch block'],
  wrong_key: ['fault', 'The publicId in the file does not open the sealed document'],
  content_malformed: ['fault', 'The decrypted content is not a valid document'],
  other_registry: ['fault', 'The document names another registry'],
  other_issuer: ['fault', 'The document names another issuer'],
  other_expiry: ['fault', 'The document and its record have different expiry dates'],
  dated_in_future: ['notice', 'The document is dated after the block of this audit'],
} as const satisfies Record<string, readonly [Severity, string]>
export type DocumentFinding = keyof typeof DOCUMENT_FINDINGS

/** The possible findings about an issuer. */
export const ISSUER_FINDINGS = {
  documents_missing: ['fault', 'The list lacks documents that the registry counts'],
  batches_missing: ['fault', 'The list lacks batches that the registry counts'],
  batch_never_issued: ['fault', 'The list contains a root that this issuer never issued'],
  batch_event_contradicts: ['fault', 'The event of a batch contradicts its proven record'],
  batch_not_recounted: ['fault', 'The manifest of a batch does not list its documents'],
  batch_manifest_unknown: ['warning', 'The manifest of the batch is unknown'],
  batch_manifest_unreadable: ['warning', 'No source has the manifest of the batch'],
  batch_manifest_unreachable: [
    'warning',
    'A source did not answer, and no other has the manifest of the batch',
  ],
  batch_revoked: ['notice', 'The whole batch is revoked'],
  batch_suspended: ['notice', 'The whole batch is suspended'],
  batch_distrusted: ['warning', 'The batch was issued by a distrusted account'],
  batch_released_by_distrusted: [
    'warning',
    'The whole batch was released by a distrusted account: this counts as a suspension',
  ],
  batch_revoked_by_distrusted: [
    'warning',
    'The whole batch was revoked or suspended by a distrusted account',
  ],
  batch_young_account: [
    'warning',
    'The batch was issued soon after its account was added or changed',
  ],
  account_unexpected: ['warning', 'The issuer has an account that you did not name'],
  account_distrusted: ['warning', 'An account is distrusted'],
  account_retired: ['notice', 'An account is retired'],
  recovery_pending: ['warning', 'The admin proposes an account that can take the issuer over'],
  recovery_accepted: ['warning', 'A proposed account has been accepted'],
  issuer_renamed: ['warning', 'The admin has renamed the issuer, or changed its uri'],
  issuer_closed: ['warning', 'The admin has closed the issuer'],
  public_id_malformed: ['fault', 'A line of the file is not a valid publicId'],
  public_id_other_issuer: ['fault', 'A publicId in the file belongs to another issuer'],
  public_id_not_listed: [
    'fault',
    'A publicId in the file names a document that is not in the list',
  ],
  public_id_unreachable: [
    'warning',
    'A source did not answer, and no other has the batch block of a publicId in the file',
  ],
  events_pruned: ['notice', 'The node has dropped old events; the kept list is used instead'],
  documents_newer: ['notice', 'Issued after the block of this audit, so not included'],
  batches_newer: ['notice', 'Batches issued after the block of this audit, so not included'],
  not_final: ['notice', 'The node does not report the block as final'],
  code_unchecked: ['notice', CODE_UNCHECKED],
} as const satisfies Record<string, readonly [Severity, string]>
export type IssuerFinding = keyof typeof ISSUER_FINDINGS

/** Findings of which nothing follows, because something could not be read. */
export const UNREAD = [
  'payload_unreachable',
  'batch_block_unreachable',
  'public_id_unreachable',
  'batch_manifest_unknown',
  'batch_manifest_unreadable',
  'batch_manifest_unreachable',
] as const satisfies readonly FindingCode[]

export type FindingCode = DocumentFinding | IssuerFinding

/** One line of the report. */
export type Finding = {
  code: FindingCode
  severity: Severity
  message: string
  /** The number of documents, batches, accounts or events. */
  count: number
  /** The first subjects of the finding. */
  examples: string[]
}

/** The maximum number of examples that a report shows for each finding. */
export const MAX_EXAMPLES = 10

const ALL: Record<FindingCode, readonly [Severity, string]> = {
  ...DOCUMENT_FINDINGS,
  ...ISSUER_FINDINGS,
}
const CODES = Object.keys(ALL) as FindingCode[]

/** Counts findings by their code. */
export type FindingLog = {
  /** @param subject A hash, an account or a sentence; never a publicId. */
  add(code: FindingCode, subject?: string, count?: number): void
  /** @returns The findings, faults first. */
  list(): Finding[]
}

export function createFindingLog(): FindingLog {
  const found = new Map<FindingCode, { count: number; examples: string[] }>()
  return {
    add(code, subject, count = 1) {
      const one = found.get(code) ?? { count: 0, examples: [] }
      found.set(code, one)
      one.count += count
      if (subject !== undefined && one.examples.length < MAX_EXAMPLES) one.examples.push(subject)
    },
    list: () =>
      (['fault', 'warning', 'notice'] as const).flatMap((severity) =>
        CODES.filter((code) => ALL[code][0] === severity).flatMap((code) => {
          const one = found.get(code)
          return one ? [{ code, severity, message: ALL[code][1], ...one }] : []
        }),
      ),
  }
}

/** Findings of a document, in the order of their bits in a number. */
export const FINDING_BITS = Object.keys(DOCUMENT_FINDINGS) as DocumentFinding[]

export function bitOf(finding: DocumentFinding): number {
  return 2 ** FINDING_BITS.indexOf(finding)
}

/** @returns The findings whose bits are set. */
export function findingsIn(bits: number): DocumentFinding[] {
  return FINDING_BITS.filter((_, i) => Math.floor(bits / 2 ** i) % 2 === 1)
}
