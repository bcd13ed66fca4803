// `node scripts/run.mjs bench/postgres.ts`: issuing by one gateway over PostgreSQL and over SQLite,
// in turn, since the speed of a machine changes from minute to minute. PostgreSQL is private, on
// the same machine, with its own settings: each commit is on the disk, as with SQLite.
//
//   --documents N     documents a run, at most (15000)
//   --seconds S       seconds a run, at most (10)
//   --rounds R        runs of each (3)
//   --connections C   (200)
import { parseArgs } from 'node:util'
import { postgresFolder, startPostgres } from '../test/support/postgres.ts'
import { measureIssue, type Row } from './measure.ts'
import { quantile } from './quantile.ts'

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '15000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '200' },
  },
})
const limits = { documents: Number(values.documents), seconds: Number(values.seconds) }
const connections = Number(values.connections)
const DATABASES = ['SQLite', 'PostgreSQL'] as const

function median(rows: readonly Row[], of: (row: Row) => number | undefined): number {
  const all = rows.map((row) => of(row) ?? Number.NaN).sort((a, b) => a - b)
  return quantile(all, 0.5)
}

const folder = postgresFolder()
if (folder === undefined) throw new Error('PostgreSQL is not installed')
const server = await startPostgres(folder, ['fsync=on'])
try {
  const rows: Record<(typeof DATABASES)[number], Row[]> = { SQLite: [], PostgreSQL: [] }
  for (let round = 0; round < Number(values.rounds); round++)
    for (const which of DATABASES) {
      const env = which === 'SQLite' ? {} : { DATABASE_URL: await server.newDatabase() }
      const row = await measureIssue(limits, { connections, blockTime: 0, env })
      rows[which].push(row)
      console.log(
        `${which}: ${row.perSecond.toFixed(0)} a second, gateway ${row.gatewayCpu?.toFixed(0)} µs, p50 ${row.p50?.toFixed(0)} ms, p99 ${row.p99?.toFixed(0)} ms, peak ${((row.peak ?? 0) / 2 ** 20).toFixed(0)} MiB, ${row.failures} failed`,
      )
    }
  const speed = (which: keyof typeof rows) => median(rows[which], ({ perSecond }) => perSecond)
  console.log(
    `medians: ${speed('PostgreSQL').toFixed(0)} a second ÷ ${speed('SQLite').toFixed(0)} = ${(speed('PostgreSQL') / speed('SQLite')).toFixed(2)}`,
  )
} finally {
  await server.remove()
}
