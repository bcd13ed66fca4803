import type { ServerMemory, Sizes } from '../postgres-server.ts'
import { placeOf, type Setting, table } from '../report.ts'
import type { Rows } from './fill.ts'
import type { Finality, Issuing, Started, Starting } from './gateway.ts'
import { issuingTable, pauseRow, startRow, tenths, whole } from './report.ts'

export const TEN_MILLION_POSTGRES = 'Ten million documents on PostgreSQL'

export type MeasuredPostgres = {
  rows: Rows
  sizes: Sizes
  emptyStart: Started
  start: Starting
  /** One entry per round. */
  issuing: readonly Record<'empty' | 'full', Issuing>[]
  finality: Finality
  serverMemory: ServerMemory
  /** The names and values of settings. */
  settings: readonly string[]
}

const gib = (bytes: number) => (bytes / 2 ** 30).toFixed(1)
const mib = (bytes: number) => whole(bytes / 2 ** 20)

export function tenMillionPostgresSection(setting: Setting, measured: MeasuredPostgres): string {
  const { rows, sizes, start, issuing, finality, serverMemory } = measured
  const peaks = issuing.flatMap(({ full }) => [full.plain, full.keyed].map(({ row }) => row.peak))
  return `One gateway on a PostgreSQL database that a script has filled (${gib(sizes.all)} GiB): ${whole(rows.documents)} documents
with payload, history and index, of these ${whole(rows.notFinal)} in ${whole(rows.blocks)} blocks that are not final, and
${whole(rows.queued)} queued; ${whole(rows.keys)} idempotency keys, of these ${whole(rows.expired)} to be forgotten. Chain, load
generator, PostgreSQL and gateway are processes on the same machine.

${placeOf(setting)}
- PostgreSQL: ${measured.settings.join(', ')}

${table(
  ['table', 'GiB', 'its indexes, GiB'],
  sizes.tables.map((one) => [one.name, gib(one.table), gib(one.indexes)]),
)}

${table(
  ['until ready', 'ms', 'processor ms'],
  [startRow('empty', measured.emptyStart), startRow('full', start.started)],
)}

${table(
  ['pauses of the event loop, ms', 'longest', 'p99'],
  [
    pauseRow('start', start.starting),
    pauseRow(`first looks for final blocks, ${whole(start.blocksAsked)} asked for`, start.first),
    pauseRow('later looks', start.later),
    ...issuing.flatMap(({ full }, i) => [
      pauseRow(`issuing, round ${i + 1}`, full.plain.pauses),
      pauseRow(`issuing with idempotency keys, round ${i + 1}`, full.keyed.pauses),
    ]),
    pauseRow(
      `all final: ${whole(finality.ms / 1000)} s, ${whole(finality.calls)} calls for records`,
      finality.pauses,
    ),
  ].map((row) => row.slice(0, 3)),
)}

${issuingTable(measured)}

${table(
  ['round', 'empty', 'full', 'empty, with keys', 'full, with keys'],
  issuing.map(({ empty, full }, i) => [
    String(i + 1),
    ...[empty.plain, full.plain, empty.keyed, full.keyed].map(({ row }) => whole(row.perSecond)),
  ]),
)}

- **issuing**: documents a second, the mean of ${issuing.length} rounds in turn.
- **memory**: the gateway with the full database took at most ${mib(Math.max(...peaks.map((peak) => peak ?? 0)))} MiB. PostgreSQL's
  ${serverMemory.processes} processes took at most ${mib(serverMemory.bytes)} MiB together, of which ${tenths(serverMemory.own / 2 ** 20)} MiB are their own
  and the rest is shared (\`Pss\` of /proc, looked at twice a second); the system's cache of its files
  comes on top.
`
}
