// `node scripts/run.mjs tools/bench/postgres.ts`: issuing by one gateway over PostgreSQL and over SQLite,
// in turn, since the speed of a machine changes from minute to minute. PostgreSQL is private, on
// the same machine, with its own settings: each commit is on the disk, as with SQLite.
//
//   --documents N     documents a run, at most (15000)
//   --seconds S       seconds a run, at most (10)
//   --rounds R        runs of each (3)
import { USUAL } from './cases.ts'
import { measureIssue, type Row } from './measure.ts'
import { readOptions } from './options.ts'
import { withPostgres } from './postgres-server.ts'
import { median } from './quantile.ts'
import { mebibytes, whole } from './report.ts'

const { rounds, ...limits } = readOptions({ documents: 15_000, seconds: 10, rounds: 3 })
const where = { connections: USUAL, blockTime: 0 }

function printRow(which: string, row: Row): void {
  const [cpu, p50, p99] = [row.gatewayCpu, row.p50, row.p99].map(whole)
  const times = `gateway ${cpu} µs, p50 ${p50} ms, p99 ${p99} ms, peak ${mebibytes(row.peak)} MiB`
  console.log(`${which}: ${whole(row.perSecond)} a second, ${times}, ${row.failures} failed`)
}

await withPostgres(async (server) => {
  const sqliteRows: Row[] = []
  const postgresRows: Row[] = []
  for (let round = 0; round < rounds; round++) {
    const sqlite = await measureIssue(limits, where)
    sqliteRows.push(sqlite)
    printRow('SQLite', sqlite)
    const env = { DATABASE_URL: await server.create(`round_${round}`) }
    const memory = server.watchMemory()
    const before = server.cpu()
    const row = await measureIssue(limits, { ...where, env })
    const cpu = ((server.cpu() - before) * 1e6) / row.requests
    const { bytes, own, processes } = memory.stop()
    postgresRows.push(row)
    printRow('PostgreSQL', row)
    console.log(
      `  its own processes: ${whole(cpu)} µs, ${processes} with ${mebibytes(bytes)} MiB, ${mebibytes(own)} MiB of them not shared`,
    )
  }
  const [sqlite = 0, postgres = 0] = [sqliteRows, postgresRows].map((rows) =>
    median(rows.map(({ perSecond }) => perSecond)),
  )
  const ratio = (postgres / sqlite).toFixed(2)
  console.log(`medians: ${whole(postgres)} a second ÷ ${whole(sqlite)} = ${ratio}`)
})
