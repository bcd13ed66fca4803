import { placeOf, type Setting, table } from '../report.ts'
import type { Rows } from './fill.ts'
import type { Finality, Issuing, Started, Starting } from './gateway.ts'
import type { Pauses } from './preload.ts'

export const TEN_MILLION = 'Ten million documents'

export type Measured = {
  rows: Rows
  /** The size of the database. */
  bytes: number
  emptyStart: Started
  start: Starting
  /** One entry per round. */
  issuing: readonly Record<'empty' | 'full', Issuing>[]
  finality: Finality
  kubo: {
    started: Started
    rows: number
    atReady: number
    asked: Record<string, number>
    pauses: Pauses
  }
}

export const whole = (value: number) => Math.round(value).toLocaleString('en')
export const tenths = (value: number) => value.toFixed(1)
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
const mean = (values: readonly number[]) => sum(values) / values.length

export function tenMillionSection(setting: Setting, measured: Measured): string {
  const { rows, bytes, start, finality, kubo } = measured
  return `One gateway with the embedded store, whose database a script has filled
(${(bytes / 2 ** 30).toFixed(1)} GiB): ${whole(rows.documents)} documents with payload and history, of these ${whole(rows.notFinal)} in ${whole(rows.blocks)} blocks that
are not final, and ${whole(rows.queued)} queued; ${whole(rows.keys)} idempotency keys, of these ${whole(rows.expired)} to be forgotten. Chain, load
generator and gateway are processes on the same machine.

${placeOf(setting)}

${table(
  ['until ready', 'ms', 'processor ms'],
  [
    startRow('empty', measured.emptyStart),
    startRow('full', start.started),
    startRow('payloads on Kubo', kubo.started),
  ],
)}

${table(
  [
    'pauses of the event loop, ms',
    'longest',
    'p99',
    'longest statement',
    'most processor time of one',
  ],
  [
    pauseRow('start', start.starting),
    pauseRow(`first looks for final blocks, ${whole(start.blocksAsked)} asked for`, start.first),
    pauseRow('later looks', start.later),
    ...measured.issuing.flatMap(({ full }, i) => [
      pauseRow(`issuing, round ${i + 1}`, full.plain.pauses),
      pauseRow(`issuing with idempotency keys, round ${i + 1}`, full.keyed.pauses),
    ]),
    pauseRow(
      `all final: ${whole(finality.ms / 1000)} s, ${whole(finality.calls)} calls for records`,
      finality.pauses,
    ),
    pauseRow('start with Kubo', kubo.pauses),
  ],
)}

${issuingTable(measured)}

- **issuing**: documents a second, the mean of ${measured.issuing.length} rounds in turn; the gateway's
  processor time for one is a mean too, which other work on the machine changes less.
- **Kubo**: a stand-in that has every payload. For ${whole(kubo.rows)} rows it was sent ${whole(sum(Object.values(kubo.asked)))} requests
  (${Object.entries(kubo.asked)
    .map(([name, count]) => `${name} ${whole(count)}`)
    .join(', ')}), ${whole(kubo.atReady)} of them until the gateway was ready.
- **longest**: by a timer of 1 ms; other work on the machine lengthens it, and the longest statement,
  but hardly the processor time.
`
}

export function startRow(name: string, { ms, cpuMs }: Started): string[] {
  return [name, whole(ms), whole(cpuMs)]
}

export function pauseRow(
  name: string,
  { longest, p99, statement, statementCpu }: Pauses,
): string[] {
  return [name, tenths(longest), tenths(p99), tenths(statement), tenths(statementCpu)]
}

export function issuingTable(measured: Pick<Measured, 'issuing'>): string {
  return table(
    [
      'issuing, 200 connections',
      'empty',
      'full',
      'full ÷ empty',
      'empty, gateway µs',
      'full, gateway µs',
    ],
    [issuingRow('plain', measured), issuingRow('keyed', measured)],
  )
}

function issuingRow(kind: 'plain' | 'keyed', { issuing }: Pick<Measured, 'issuing'>): string[] {
  const rowsOf = (side: 'empty' | 'full') => issuing.map((round) => round[side][kind].row)
  const rate = (side: 'empty' | 'full') => mean(rowsOf(side).map(({ perSecond }) => perSecond))
  const cpu = (side: 'empty' | 'full') =>
    whole(mean(rowsOf(side).map(({ gatewayCpu }) => gatewayCpu ?? Number.NaN)))
  const name = kind === 'keyed' ? 'each with an idempotency key' : 'without'
  const ratio = (rate('full') / rate('empty')).toFixed(2)
  return [name, whole(rate('empty')), whole(rate('full')), ratio, cpu('empty'), cpu('full')]
}
