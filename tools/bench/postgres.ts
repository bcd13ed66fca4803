// `node scripts/run.mjs tools/bench/postgres.ts`: issuing by one gateway over PostgreSQL and over SQLite,
// in turn, since the speed of a machine changes from minute to minute. PostgreSQL is private, on
// the same machine, with its own settings: each commit is on the disk, as with SQLite.
//
//   --documents N     documents a run, at most (15000)
//   --seconds S       seconds a run, at most (10)
//   --rounds R        runs of each (3)
//   --connections C   (200)
import { parseArgs } from 'node:util'
import { postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { type Limits, measureIssue, type Row } from './measure.ts'
import { createPostgresServer, type MeasuredServer, type ServerMemory } from './postgres-server.ts'
import { median } from './quantile.ts'

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

/** The figures of PostgreSQL itself: microseconds of processor time per request, and memory. */
type ServerRow = { cpu: number; memory: ServerMemory }

function printRow(which: string, row: Row): void {
  const [cpu, p50, p99] = [row.gatewayCpu, row.p50, row.p99].map((value) => value?.toFixed(0))
  const times = `gateway ${cpu} µs, p50 ${p50} ms, p99 ${p99} ms, peak ${mib(row.peak ?? 0)} MiB`
  console.log(`${which}: ${row.perSecond.toFixed(0)} a second, ${times}, ${row.failures} failed`)
}

const mib = (bytes: number) => (bytes / 2 ** 20).toFixed(0)

async function measurePostgres(
  server: MeasuredServer,
  database: string,
  limited: Limits,
): Promise<Row & { server: ServerRow }> {
  const env = { DATABASE_URL: await server.create(database) }
  const memory = server.watchMemory()
  const before = server.cpu()
  const row = await measureIssue(limited, { connections, blockTime: 0, env })
  const cpu = ((server.cpu() - before) * 1e6) / row.requests
  return { ...row, server: { cpu, memory: memory.stop() } }
}

const folder = postgresFolder()
if (folder === undefined) throw new Error('PostgreSQL is not installed')
const postgres = await startPostgres(folder, ['fsync=on'])
try {
  const server = await createPostgresServer(await postgres.newDatabase())
  const sqliteRows: Row[] = []
  const postgresRows: (Row & { server: ServerRow })[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const sqlite = await measureIssue(limits, { connections, blockTime: 0 })
    sqliteRows.push(sqlite)
    printRow('SQLite', sqlite)
    const row = await measurePostgres(server, `round_${round}`, limits)
    postgresRows.push(row)
    printRow('PostgreSQL', row)
    const { cpu, memory } = row.server
    console.log(
      `  its own processes: ${cpu.toFixed(0)} µs, ${memory.processes} with ${mib(memory.bytes)} MiB, ${mib(memory.own)} MiB of them not shared`,
    )
  }
  const speed = (rows: readonly Row[]) => median(rows.map(({ perSecond }) => perSecond))
  const ratio = (speed(postgresRows) / speed(sqliteRows)).toFixed(2)
  console.log(
    `medians: ${speed(postgresRows).toFixed(0)} a second ÷ ${speed(sqliteRows).toFixed(0)} = ${ratio}; PostgreSQL ${median(postgresRows.map(({ server }) => server.cpu)).toFixed(0)} µs`,
  )
} finally {
  await postgres.remove()
}
