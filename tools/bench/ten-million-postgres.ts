// `node scripts/run.mjs tools/bench/ten-million-postgres.ts [documents]`: measures a gateway on a
// PostgreSQL database with ten million documents (or the given number), and writes that table of
// docs/performance.md. PostgreSQL is private, with its own settings; each commit is on the disk.
//
//   --seconds S   of issuing in each case (10)
//   --rounds N    of issuing, with an empty database and with the full one in turn (3)
//   --dry         print only
import { join } from 'node:path'
import { type MeasuredServer, withPostgres } from './postgres-server.ts'
import { publish } from './publish.ts'
import { mebibytes, readSetting, whole } from './report.ts'
import { fillPostgres } from './ten-million/fill.ts'
import { type Measured, measureFull, optionsOfBoth, withChain } from './ten-million/measure.ts'
import { fullTables } from './ten-million/report.ts'

const options = optionsOfBoth()

/** The memory of the server is the Pss of /proc, read twice a second. */
function memoryTable({ rounds }: Measured, server: ReturnType<MeasuredServer['watchMemory']>) {
  const { bytes, own, processes } = server.stop()
  const rows = rounds.flatMap(({ full }) => [full.plain.row, full.keyed.row])
  const peak = Math.max(...rows.map((row) => row.peak ?? 0))
  return {
    head: ['MiB of the gateway', 'MiB of PostgreSQL', 'MiB of its own', 'processes'],
    rows: [[mebibytes(peak), mebibytes(bytes), mebibytes(own), whole(processes)]],
  }
}

const setting = readSetting('node scripts/run.mjs tools/bench/ten-million-postgres.ts')
const tables = await withPostgres((server) =>
  withChain(options.rows, async (folder, chain) => {
    const side = async (name: string) => ({
      dataDir: join(folder, name),
      env: { DATABASE_URL: await server.create(name) },
    })
    const full = await side('filled')
    await fillPostgres(full.env.DATABASE_URL, options.rows)
    const bytes = await server.sizeOf('filled')
    const memory = server.watchMemory()
    const measured = await measureFull(chain, options, { ...full, bytes }, side)
    const settings = { head: ['PostgreSQL'], rows: (await server.settings()).map((one) => [one]) }
    return fullTables('ten-million-postgres', measured, {
      memory: memoryTable(measured, memory),
      settings,
    })
  }),
)
publish('ten-million-postgres', setting, tables, options.dry)
