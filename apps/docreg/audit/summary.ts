import type { RegistryStatus } from '#verifier/ports.ts'
import { isRevoked } from '#verifier/status.ts'
import type { FindingLog } from './findings.ts'
import type { AuditedDocument } from './lines.ts'
import { subjectOf } from './revisions.ts'

/** Totals of an audit. */
export type Summary = {
  byStatus: Record<RegistryStatus, number>
  /** Totals by month of the anchoring, YYYY-MM, in order. */
  byMonth: { month: string; issued: number; revoked: number }[]
  /** Totals by the issuing account, the largest first. */
  byAccount: { account: string; issued: number }[]
  /** Totals of the documents whose publicIds were given, the largest first. */
  byCategory: { category: string; issued: number }[]
}

const NO_STATUS: Record<RegistryStatus, number> = {
  not_issued: 0,
  valid: 0,
  expired: 0,
  suspended: 0,
  revoked: 0,
  superseded: 0,
  distrusted: 0,
}

/** Reads the documents once, and also counts their findings. */
export function summarize(lines: () => Iterable<AuditedDocument>, findings: FindingLog): Summary {
  const byStatus = { ...NO_STATUS }
  const months = new Map<string, { issued: number; revoked: number }>()
  const accounts = new Map<string, number>()
  const categories = new Map<string, number>()
  const monthOf = (seconds: number) => {
    const name = monthName(seconds)
    const month = months.get(name) ?? { issued: 0, revoked: 0 }
    months.set(name, month)
    return month
  }
  for (const { documentHash, status, record, account, category, ...line } of lines()) {
    byStatus[status]++
    for (const finding of line.findings)
      findings.add(finding, subjectOf(finding, documentHash, line.own))
    if (status === 'not_issued') continue
    monthOf(record.anchoredAt).issued++
    if (isRevoked(record)) monthOf(record.revokedAt).revoked++
    if (account !== null) accounts.set(account, (accounts.get(account) ?? 0) + 1)
    if (category !== null) categories.set(category, (categories.get(category) ?? 0) + 1)
  }
  return {
    byStatus,
    byMonth: everyMonth(months),
    byAccount: largest(accounts).map(([account, issued]) => ({ account, issued })),
    byCategory: largest(categories).map(([category, issued]) => ({ category, issued })),
  }
}

/** @returns YYYY-MM in UTC. A record can contain any time of 40 bits. */
function monthName(seconds: number): string {
  const date = new Date(1000 * seconds)
  return Number.isNaN(date.getTime()) ? 'out of range' : date.toISOString().slice(0, -17)
}

/** The maximum number of consecutive months that a report shows without gaps. */
const MAX_MONTHS = 1200

/** @returns The months in order, including those without a document. */
function everyMonth(months: ReadonlyMap<string, { issued: number; revoked: number }>) {
  const names = [...months.keys()].sort()
  const [first, last] = [names[0], names.at(-1)]
  const none = { issued: 0, revoked: 0 }
  const listed = (all: string[]) => all.map((month) => ({ month, ...(months.get(month) ?? none) }))
  if (first === undefined || last === undefined || !/^\d{4}-\d{2}$/.test(first + last.slice(7)))
    return listed(names)
  const all: string[] = []
  for (let month = first; month <= last && all.length < MAX_MONTHS; month = following(month))
    all.push(month)
  return listed(all.at(-1) === last ? all : names)
}

function following(month: string): string {
  const date = new Date(`${month}-01T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + 1)
  return date.toISOString().slice(0, 7)
}

function largest(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
}
