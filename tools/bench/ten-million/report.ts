import { pick, type Table, type Tables } from '../report.ts'
import type { Rows } from './fill.ts'
import type { Finality, Issuing, Started, Starting } from './gateway.ts'
import type { Pauses } from './preload.ts'

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

/** The columns about issuing that the page shows. */
export const SHOWN = ['issuing, 200 connections', 'empty', 'full', 'full ÷ empty']

export const whole = (value: number) => Math.round(value).toLocaleString('en')
export const tenths = (value: number) => value.toFixed(1)
const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0)
const mean = (values: readonly number[]) => sum(values) / values.length

export function tenMillionTables(measured: Measured): Tables {
  const { rows, bytes, start, finality, kubo } = measured
  const issuing = issuingTable(measured)
  return {
    all: {
      database: databaseTable(rows, bytes),
      starts: startTable([
        ['empty', measured.emptyStart],
        ['full', start.started],
        ['payloads on Kubo', kubo.started],
      ]),
      pauses: pauseTable([
        ...pausesOf(measured),
        [
          `all final: ${whole(finality.ms / 1000)} s, ${whole(finality.calls)} calls for records`,
          finality.pauses,
        ],
        ['start with Kubo', kubo.pauses],
      ]),
      issuing,
      // A stand-in that has every payload.
      kubo: {
        head: ['rows', 'requests', 'until ready'],
        rows: [[whole(kubo.rows), whole(sum(Object.values(kubo.asked))), whole(kubo.atReady)]],
      },
    },
    shown: { 'ten-million': pick(issuing, SHOWN) },
  }
}

/** The figures of a filled database. */
export function databaseTable(rows: Rows, bytes: number): Table {
  const { documents, notFinal, blocks, queued, keys, expired } = rows
  return {
    head: [
      'documents',
      'not final',
      'blocks',
      'queued',
      'idempotency keys',
      'to be forgotten',
      'GiB',
    ],
    rows: [
      [...[documents, notFinal, blocks, queued, keys, expired].map(whole), tenths(bytes / 2 ** 30)],
    ],
  }
}

export function startTable(starts: readonly [name: string, started: Started][]): Table {
  return {
    head: ['until ready', 'ms', 'processor ms'],
    rows: starts.map(([name, { ms, cpuMs }]) => [name, whole(ms), whole(cpuMs)]),
  }
}

type NamedPauses = [name: string, pauses: Pauses]

export const pausesOf = ({
  start,
  issuing,
}: Pick<Measured, 'start' | 'issuing'>): NamedPauses[] => [
  ['start', start.starting],
  [`first looks for final blocks, ${whole(start.blocksAsked)} asked for`, start.first],
  ['later looks', start.later],
  ...issuing.flatMap(({ full }, i): NamedPauses[] => [
    [`issuing, round ${i + 1}`, full.plain.pauses],
    [`issuing with idempotency keys, round ${i + 1}`, full.keyed.pauses],
  ]),
]

/** Milliseconds. `longest` is by a timer of 1 ms, which other work on the machine lengthens. */
export function pauseTable(pauses: readonly NamedPauses[]): Table {
  return {
    head: [
      'pauses of the event loop, ms',
      'longest',
      'p99',
      'longest statement',
      'most processor time of one',
    ],
    rows: pauses.map(([name, { longest, p99, statement, statementCpu }]) => [
      name,
      ...[longest, p99, statement, statementCpu].map(tenths),
    ]),
  }
}

/** Documents a second, and the gateway's processor time for one: means of all rounds. */
export function issuingTable(measured: Pick<Measured, 'issuing'>): Table {
  return {
    head: [
      'issuing, 200 connections',
      'empty',
      'full',
      'full ÷ empty',
      'empty, gateway µs',
      'full, gateway µs',
    ],
    rows: [issuingRow('plain', measured), issuingRow('keyed', measured)],
  }
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
