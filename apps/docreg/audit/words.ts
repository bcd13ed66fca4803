import { counted, printable } from '../printable.ts'
import { time } from '../report.ts'
import type { Terminal } from '../terminal.ts'
import { grouped } from './charts.ts'
import { type FindingCode, UNREAD } from './findings.ts'
import { newerSentence } from './known-issuer.ts'
import type { AuditedBatch } from './result.ts'
import type { Audit } from './run.ts'

/** The names of permissions in the order of their bits. */
export const PERMISSION_NAMES = ['issue', 'revoke', 'manage', 'delegate'] as const

/**
 * `open` = no fault, but something could not be read; `empty` = there was nothing at the block, so
 * nothing was audited.
 */
export type Tone = 'good' | 'bad' | 'open' | 'empty'

/** @returns The result of an audit in a word, a sentence, and a sentence for lay readers. */
export function verdictOf(audit: Audit): {
  tone: Tone
  word: string
  sentence: string
  plain: string
} {
  const { status, documents, batches, findings, newer } = audit
  const listed = batches.listed.filter((one) => one.status !== 'not_issued').length
  const counts = `The list has ${grouped(documents.found)} of ${grouped(documents.count)} documents and ${grouped(listed)} of ${grouped(batches.count)} batches`
  const unread = unreadSentence(audit)
  const ending = (...sentences: string[]) => sentences.filter(Boolean).join(' ')
  if (status === 'incomplete')
    return {
      tone: 'bad',
      word: 'Incomplete',
      sentence: ending(`${counts} that the registry counts.`, unread),
      plain: 'In plain words: the issuer has issued documents that this list does not have.',
    }
  const all = `${counts}. Storage proofs show that these are all.`
  if (findings.some(({ severity }) => severity === 'fault'))
    return {
      tone: 'bad',
      word: 'Complete, with faults',
      sentence: ending(all, 'The faults are below.', unread),
      plain: 'In plain words: nothing is missing, but something is wrong. Ask about the faults.',
    }
  if (documents.count + batches.count === 0)
    return {
      tone: 'empty',
      word: 'Nothing to audit',
      sentence: ending(
        'The registry counts no document and no batch of this issuer at this block.',
        newerSentence(newer),
      ),
      plain: 'In plain words: there was nothing to audit.',
    }
  const sentence = ending(all, unread, newerSentence(newer))
  if (findings.some(({ code }) => UNREAD.some((one) => one === code)))
    return {
      tone: 'open',
      word: 'Complete, not all read',
      sentence,
      plain:
        'In plain words: no fault was found, but not everything could be looked at. Audit again.',
    }
  return {
    tone: 'good',
    word: 'Complete, proven',
    sentence,
    plain: 'In plain words: nothing that the issuer has issued is missing, and no fault was found.',
  }
}

/** @returns The batches whose documents are counted and not listed. */
export function unlistedIn(batches: readonly AuditedBatch[]) {
  const some = batches.filter((one) => one.status !== 'not_issued' && one.recount !== null)
  const documents = some.reduce((sum, { record }) => sum + record.validUntil, 0)
  return {
    batches: some.length,
    documents,
    isAsked: some.some((one) => one.recount !== 'not_asked'),
  }
}

/** @returns What was not listed or read, in sentences. */
function unreadSentence({ batches, findings }: Audit): string {
  const unlisted = unlistedIn(batches.listed)
  const countOf = (code: FindingCode) => findings.find((one) => one.code === code)?.count ?? 0
  const unread = countOf('payload_unreachable') + countOf('batch_block_unreachable')
  const why = unlisted.isAsked ? 'no manifest was read' : 'that requires --ipfs'
  const sentences = [
    unlisted.batches > 0 &&
      `Counted and not listed: ${counted(unlisted.documents, 'document')} in ${counted(unlisted.batches, 'batch', 'batches')}, because ${why}.`,
    unread > 0 && `Not read, because a source did not answer: ${counted(unread, 'payload')}.`,
  ]
  return sentences.filter(Boolean).join(' ')
}

const COLOURS = { good: 'green', bad: 'red', open: 'yellow', empty: 'yellow' } as const

/** Findings whose hashes are repaired one by one. */
const OF_DISTRUSTED = /_by_distrusted$/

/** @returns The lines of an audit for a terminal. */
export function* textOf(audit: Audit, { paint }: Pick<Terminal, 'paint'>): Generator<string> {
  const { issuer, asOf, summary, findings } = audit
  const { tone, word, sentence, plain } = verdictOf(audit)
  yield `${paint(COLOURS[tone], word.toUpperCase())}: ${sentence}`
  yield plain
  yield `issuer ${issuer.id}, ${printable(issuer.name)}, as of block ${asOf.blockNumber}, ${time(asOf.blockTime)}, ${asOf.blockHash}`
  const statuses = Object.entries(summary.byStatus).filter(([, count]) => count > 0)
  yield `documents: ${statuses.map(([status, count]) => `${count} ${status}`).join(', ') || 'none'}`
  for (const { code, severity, message, count, examples } of findings) {
    const [first] = examples
    const about = count === 1 && first !== undefined ? `: ${printable(first)}` : ''
    const tally = count > 1 ? ` (${count})` : ''
    const colour = severity === 'fault' ? 'red' : 'yellow'
    const label = severity === 'notice' ? severity : paint(colour, severity)
    yield `  ${label}  ${message}${tally}${about}`
    if (count > 1 && OF_DISTRUSTED.test(code)) {
      for (const one of examples) yield `    ${printable(one)}`
      const more = count - examples.length
      if (more > 0) yield `    and ${grouped(more)} more, in audit.json of --out`
    }
  }
}
