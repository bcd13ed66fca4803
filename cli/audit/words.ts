import { printable } from '../printable.ts'
import { time } from '../report.ts'
import type { Terminal } from '../terminal.ts'
import { grouped } from './charts.ts'
import { newerSentence } from './known-issuer.ts'
import type { Audit } from './run.ts'

/** The names of permissions in the order of their bits. */
export const PERMISSION_NAMES = ['issue', 'revoke', 'manage', 'delegate'] as const

/** @returns The result of an audit in a word and a sentence. */
export function verdictOf({ status, documents, batches, findings, newer }: Audit): {
  /** `empty` = there was nothing at the block, so nothing was audited. */
  tone: 'good' | 'bad' | 'empty'
  word: string
  sentence: string
} {
  const listed = batches.listed.filter((one) => one.status !== 'not_issued').length
  const counts = `${grouped(documents.found)} of ${grouped(documents.count)} documents and ${grouped(listed)} of ${grouped(batches.count)} batches`
  if (status === 'incomplete')
    return {
      tone: 'bad',
      word: 'Incomplete',
      sentence: `The list has ${counts} that the registry counts.`,
    }
  const faults = findings.filter(({ severity }) => severity === 'fault')
  if (faults.length > 0)
    return {
      tone: 'bad',
      word: 'Complete, with faults',
      sentence: `The list has ${counts}. Storage proofs show that these are all. The faults are below.`,
    }
  const isEmpty = documents.count + batches.count === 0
  const sentence = isEmpty
    ? 'The registry counts no document and no batch of this issuer at this block.'
    : `The list has ${counts}. Storage proofs show that these are all.`
  return {
    ...(isEmpty
      ? { tone: 'empty', word: 'Nothing to audit' }
      : { tone: 'good', word: 'Complete, proven' }),
    sentence: [sentence, newerSentence(newer)].join(' ').trim(),
  }
}

const COLOURS = { good: 'green', bad: 'red', empty: 'yellow' } as const

/** Findings whose hashes are repaired one by one. */
const OF_DISTRUSTED = /_by_distrusted$/

/** @returns The lines of an audit for a terminal. */
export function* textOf(audit: Audit, { paint }: Pick<Terminal, 'paint'>): Generator<string> {
  const { issuer, asOf, summary, findings } = audit
  const { tone, word, sentence } = verdictOf(audit)
  yield `${paint(COLOURS[tone], word.toUpperCase())}: ${sentence}`
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
