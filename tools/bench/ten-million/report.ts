import {
  type Columns,
  pick,
  ratio,
  type Table,
  type Tables,
  tableOf,
  tenths,
  whole,
} from '../report.ts'
import type { Rows } from './fill.ts'
import type { Measured, NamedPauses, Round, Started } from './measure.ts'

type Sides = Record<'empty' | 'full', { perSecond: number; cpu: number }>

const DATABASE: Columns<Rows & { bytes: number }> = {
  documents: ({ documents }) => whole(documents),
  'not final': ({ notFinal }) => whole(notFinal),
  blocks: ({ blocks }) => whole(blocks),
  queued: ({ queued }) => whole(queued),
  'idempotency keys': ({ keys }) => whole(keys),
  GiB: ({ bytes }) => tenths(bytes / 2 ** 30),
}

const STARTS: Columns<Started> = {
  'until ready': ({ name }) => name,
  ms: ({ ms }) => whole(ms),
  'processor ms': ({ cpuMs }) => whole(cpuMs),
}

/** Milliseconds. `longest` is by a timer of 1 ms, which other work on the machine lengthens. */
const PAUSES: Columns<NamedPauses> = {
  'pauses of the event loop, ms': ({ name }) => name,
  longest: ({ longest }) => tenths(longest),
  p99: ({ p99 }) => tenths(p99),
}

/** Documents a second, and the gateway's processor time for one: means of all rounds. */
const ISSUING: Columns<Sides & { name: string }> = {
  'issuing, 200 connections': ({ name }) => name,
  empty: ({ empty }) => whole(empty.perSecond),
  full: ({ full }) => whole(full.perSecond),
  'full ÷ empty': ({ empty, full }) => ratio(full.perSecond / empty.perSecond),
  'empty, gateway µs': ({ empty }) => whole(empty.cpu),
  'full, gateway µs': ({ full }) => whole(full.cpu),
}
const SHOWN = ['issuing, 200 connections', 'empty', 'full', 'full ÷ empty']

const ROUNDS: Columns<Round & { number: number }> = {
  round: ({ number }) => whole(number),
  empty: ({ empty }) => whole(empty.plain.row.perSecond),
  full: ({ full }) => whole(full.plain.row.perSecond),
  'empty, with keys': ({ empty }) => whole(empty.keyed.row.perSecond),
  'full, with keys': ({ full }) => whole(full.keyed.row.perSecond),
}

/** @param name Of the part of the page. @param more Tables of one database only. */
export function fullTables(
  name: string,
  { rows, bytes, starts, pauses, rounds }: Measured,
  more: Record<string, Table>,
): Tables {
  const issuing = tableOf(ISSUING, [
    { name: 'without', ...meansOf('plain', rounds) },
    { name: 'each with an idempotency key', ...meansOf('keyed', rounds) },
  ])
  const numbered = rounds.map((round, i) => ({ ...round, number: i + 1 }))
  return {
    all: {
      database: tableOf(DATABASE, [{ ...rows, bytes }]),
      starts: tableOf(STARTS, starts),
      pauses: tableOf(PAUSES, pauses),
      issuing,
      rounds: tableOf(ROUNDS, numbered),
      ...more,
    },
    shown: { [name]: pick(issuing, SHOWN) },
  }
}

function meansOf(kind: 'plain' | 'keyed', rounds: readonly Round[]): Sides {
  const mean = (values: number[]) => values.reduce((all, one) => all + one, 0) / values.length
  const of = (side: 'empty' | 'full') => {
    const rows = rounds.map((round) => round[side][kind].row)
    return {
      perSecond: mean(rows.map(({ perSecond }) => perSecond)),
      cpu: mean(rows.map(({ gatewayCpu }) => gatewayCpu ?? Number.NaN)),
    }
  }
  return { empty: of('empty'), full: of('full') }
}
