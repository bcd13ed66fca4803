import { createHash } from 'node:crypto'
import { TEST_NETWORK } from '#verifier/network.ts'
import { time } from '../report.ts'
import { columns, escapeHtml, grouped, rows } from './charts.ts'
import type { Finding } from './findings.ts'
import { STYLE } from './html-style.ts'
import type { ReportHead } from './json.ts'
import type { AdminEvent } from './registry-events.ts'
import type { Audit } from './run.ts'
import { PERMISSION_NAMES, verdictOf } from './words.ts'

/** The maximum number of accounts, batches and events in a report; audit.json has all. */
const MAX_SHOWN = 200

/** @returns The pieces of one HTML file that loads nothing and runs no script. */
export function* htmlOf(head: ReportHead, audits: readonly Audit[]): Generator<string> {
  const hash = createHash('sha256').update(STYLE).digest('base64')
  const names = audits.map(({ issuer }) => issuer.name).join(', ')
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Audit of ${escapeHtml(names)}</title>
<style>${STYLE}</style></head><body>
<header><p class="kind">Audit of a document registry · made ${escapeHtml(head.madeAt.slice(0, 16).replace('T', ' '))} UTC</p>
${head.network === 'test' ? `<p class="test">${TEST_NETWORK}</p>` : ''}</header>
`
  for (const audit of audits) yield sectionOf(audit, head)
  yield '</body></html>\n'
}

function sectionOf(audit: Audit, { registry }: ReportHead): string {
  const { issuer, asOf, summary } = audit
  const verdict = verdictOf(audit)
  return `<main>
<h1>${escapeHtml(issuer.name)}</h1>
<p class="sub">Issuer ${issuer.id}${issuer.uri ? ` · ${escapeHtml(issuer.uri)}` : ''}<br>Registry <code>${escapeHtml(registry)}</code></p>
<section class="verdict ${verdict.tone}"><p class="word">${verdict.word}</p><p>${verdict.sentence}</p><p>${verdict.plain}</p>
<p class="block">As of block ${asOf.blockNumber}, ${time(asOf.blockTime)}${asOf.isFinal ? ', final' : ''}<br><code>${asOf.blockHash}</code></p></section>
<p class="basis">Every count, status, date and account was read by storage proof against the hash of this block: compare it with a source that you trust. Transactions, what is newer than this block, and what happened to issuer and accounts, are the word of the node. On the chain there are hashes: this report says nothing about what is in a document.</p>
${figuresOf(audit)}
${findingsOf(audit.findings)}
${chartsOf(summary)}
${accountsOf(audit)}
${batchesOf(audit)}
${eventsOf(audit.adminEvents)}
</main>
`
}

function figuresOf({ documents, batches, inBatches, summary }: Audit): string {
  const { byStatus } = summary
  const figures: [string, number][] = [
    ['documents issued alone', documents.count],
    ['batches', batches.count],
    ['documents in batches', inBatches],
    ['valid', byStatus.valid],
    ['expired', byStatus.expired],
    ['suspended', byStatus.suspended],
    ['revoked or superseded', byStatus.revoked + byStatus.superseded],
    ['distrusted', byStatus.distrusted],
  ]
  const cells = figures.map(
    ([name, value]) => `<div><dd>${grouped(value)}</dd><dt>${name}</dt></div>`,
  )
  return `<dl class="figures">${cells.join('')}</dl>`
}

function findingsOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return '<h2>Findings</h2><p>None.</p>'
  const lines = findings.map(({ severity, code, message, count, examples }) => {
    const more = count - examples.length
    const shown = examples.map((one) => `<li><code>${escapeHtml(one)}</code></li>`).join('')
    const rest = examples.length > 0 && more > 0 ? `<li>and ${grouped(more)} more</li>` : ''
    return `<tr><td class="${severity}">${severity}</td><td>${message}<br><small>${code}</small>${shown && `<ul>${shown}${rest}</ul>`}</td><td class="number">${grouped(count)}</td></tr>`
  })
  return `<h2>Findings</h2>${table(['', 'what', 'how many'], lines, 'findings')}`
}

function chartsOf({ byMonth, byAccount, byCategory }: Audit['summary']): string {
  const months = byMonth.map(({ month, issued, revoked }) => ({ label: month, issued, revoked }))
  if (months.length === 0) return ''
  const issued = months.map(({ label, issued }) => ({ label, values: [issued] }))
  const revoked = months.map(({ label, revoked }) => ({ label, values: [0, revoked] }))
  const hasRevoked = months.some((month) => month.revoked > 0)
  const accounts = byAccount.map((one) => ({ label: shortened(one.account), values: [one.issued] }))
  const categories = byCategory.map((one) => ({ label: one.category, values: [one.issued] }))
  const figure = (title: string, chart: string) =>
    `<figure><figcaption>${title}</figcaption>${chart}</figure>`
  return `<h2>Totals</h2>
${figure('Issued by month', columns('Documents issued by month', ['issued'], issued))}
${hasRevoked ? figure('Revoked by month', columns('Documents revoked by month', ['issued', 'revoked'], revoked)) : ''}
${figure('Issued by account', rows('Documents issued by account', 'documents', accounts))}
${categories.length > 0 ? figure('By category, of the documents whose publicIds were given', rows('Documents by category', 'documents', categories)) : ''}`
}

function accountsOf({ accounts, summary }: Audit): string {
  const issued = new Map(summary.byAccount.map((one) => [one.account, one.issued]))
  const lines = [...accounts.values()].slice(0, MAX_SHOWN).map((one) => {
    const standing =
      one.distrustedFrom !== 0
        ? `distrusted from block ${one.distrustedFrom}`
        : one.retiredBlock !== 0
          ? `retired in block ${one.retiredBlock}`
          : PERMISSION_NAMES.filter((_, bit) => (one.permissions >> bit) % 2 === 1).join(', ')
    const changed = one.changedBlock === 0 ? '' : `, changed in block ${one.changedBlock}`
    return `<tr><td><code>${one.account}</code></td><td>${standing || 'no permission'}</td><td>added in block ${one.addedBlock}${changed}</td><td class="number">${grouped(issued.get(one.account) ?? 0)}</td></tr>`
  })
  return `<h2>Accounts</h2>${table(['account', 'may', 'since', 'documents'], lines)}${restOf(accounts.size)}`
}

function batchesOf({ batches }: Audit): string {
  if (batches.listed.length === 0) return ''
  const lines = batches.listed.slice(0, MAX_SHOWN).map(({ root, record, status, recount }) => {
    const counted =
      recount === null ? 'all listed' : recount === 'not_asked' ? 'not recounted' : recount
    return `<tr><td><code>${root}</code></td><td>${status}</td><td>block ${record.anchoredBlock}</td><td>${counted}</td><td class="number">${grouped(record.validUntil)}</td></tr>`
  })
  return `<h2>Batches</h2>${table(['root', 'status', 'anchored', 'manifest', 'documents'], lines)}${restOf(batches.listed.length)}`
}

function eventsOf(events: readonly AdminEvent[]): string {
  if (events.length === 0) return ''
  const lines = events.slice(-MAX_SHOWN).map(({ event, account, name, by, block }) => {
    const about = [account, name === undefined ? null : `“${name}”`].filter((one) => one !== null)
    return `<tr><td>${event.replaceAll('_', ' ')}</td><td>${about.map((one) => `<code>${escapeHtml(one)}</code>`).join(' ')}</td><td>${by === null ? '' : `<code>${by}</code>`}</td><td class="number">${block}</td></tr>`
  })
  return `<h2>What happened to issuer and accounts</h2><p>From the registry's events.</p>${table(['event', 'about', 'by', 'block'], lines)}${restOf(events.length)}`
}

function restOf(count: number): string {
  return count > MAX_SHOWN ? `<p>${grouped(count - MAX_SHOWN)} more are in audit.json.</p>` : ''
}

function table(heads: readonly string[], lines: readonly string[], kind = ''): string {
  const head = heads.map((name) => `<th scope="col">${name}</th>`).join('')
  return `<div class="wide"><table class="${kind}"><thead><tr>${head}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>`
}

function shortened(account: string): string {
  return `${account.slice(0, 10)}…${account.slice(-8)}`
}
