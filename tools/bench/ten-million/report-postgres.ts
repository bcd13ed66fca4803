import type { ServerMemory, Sizes } from '../postgres-server.ts'
import { pick, type Table, type Tables } from '../report.ts'
import type { Rows } from './fill.ts'
import type { Finality, Issuing, Started, Starting } from './gateway.ts'
import {
  databaseTable,
  issuingTable,
  pausesOf,
  pauseTable,
  SHOWN,
  startTable,
  tenths,
  whole,
} from './report.ts'

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

/** The statements of PostgreSQL hold up nobody. */
const withoutStatements = ({ head, rows }: Table): Table => ({
  head: head.slice(0, 3),
  rows: rows.map((row) => row.slice(0, 3)),
})

export function tenMillionPostgresTables(measured: MeasuredPostgres): Tables {
  const { rows, sizes, start, issuing, finality, serverMemory } = measured
  const peaks = issuing.flatMap(({ full }) => [full.plain, full.keyed].map(({ row }) => row.peak))
  const means = issuingTable(measured)
  return {
    all: {
      database: databaseTable(rows, sizes.all),
      sizes: {
        head: ['table', 'GiB', 'its indexes, GiB'],
        rows: sizes.tables.map((one) => [one.name, gib(one.table), gib(one.indexes)]),
      },
      starts: startTable([
        ['empty', measured.emptyStart],
        ['full', start.started],
      ]),
      pauses: withoutStatements(
        pauseTable([
          ...pausesOf(measured),
          [
            `all final: ${whole(finality.ms / 1000)} s, ${whole(finality.calls)} calls for records`,
            finality.pauses,
          ],
        ]),
      ),
      issuing: means,
      rounds: {
        head: ['round', 'empty', 'full', 'empty, with keys', 'full, with keys'],
        rows: issuing.map(({ empty, full }, i) => [
          String(i + 1),
          ...[empty.plain, full.plain, empty.keyed, full.keyed].map(({ row }) =>
            whole(row.perSecond),
          ),
        ]),
      },
      // The memory of the server is the Pss of /proc, read twice a second.
      memory: {
        head: ['MiB of the gateway', 'MiB of PostgreSQL', 'MiB of its own', 'processes'],
        rows: [
          [
            mib(Math.max(...peaks.map((peak) => peak ?? 0))),
            mib(serverMemory.bytes),
            tenths(serverMemory.own / 2 ** 20),
            whole(serverMemory.processes),
          ],
        ],
      },
      settings: { head: ['PostgreSQL'], rows: measured.settings.map((setting) => [setting]) },
    },
    shown: { 'ten-million-postgres': pick(means, SHOWN) },
  }
}
