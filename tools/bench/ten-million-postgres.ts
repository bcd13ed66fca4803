// `node scripts/run.mjs tools/bench/ten-million-postgres.ts [documents]`: measures a gateway on a
// PostgreSQL database with ten million documents (or the given number), and writes that table of
// docs/performance.md. PostgreSQL is private, with its own settings; each commit is on the disk.
//
//   --seconds S   of issuing in each case (10)
//   --rounds N    of issuing, with an empty database and with the full one in turn (3)
//   --set A=B     a setting of PostgreSQL; repeatable
//   --server URL  of a superuser on a server to use instead; its database `filled` is copied, and
//                 made where it is missing
//   --fill        only make it
//   --dry         print only
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { postgresFolder, startPostgres } from '#test/support/postgres.ts'
import { startInstantChain } from './chain.ts'
import { inFolder } from './measure.ts'
import { createPostgresServer, type MeasuredServer } from './postgres-server.ts'
import { publish } from './publish.ts'
import { readSetting } from './report.ts'
import { pretendBlocks } from './ten-million/chain.ts'
import { rowsFor } from './ten-million/fill.ts'
import { fillPostgres } from './ten-million/fill-postgres.ts'
import {
  measureBoth,
  measureFinality,
  measureStart,
  type Side,
  startMeasured,
} from './ten-million/gateway.ts'
import { type MeasuredPostgres, tenMillionPostgresTables } from './ten-million/report-postgres.ts'

const FULL = 'filled'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    set: { type: 'string', multiple: true, default: [] },
    server: { type: 'string' },
    fill: { type: 'boolean', default: false },
    dry: { type: 'boolean', default: false },
  },
})
const rows = rowsFor(Number(positionals[0] ?? 10_000_000))

async function fill(server: MeasuredServer): Promise<void> {
  if (await server.has(FULL)) return
  const begun = performance.now()
  await server.create('filling')
  await fillPostgres(server.urlOf('filling'), rows)
  await server.rename('filling', FULL)
  tell('filled', { rows, seconds: (performance.now() - begun) / 1000 })
}

async function measure(server: MeasuredServer): Promise<MeasuredPostgres> {
  return inFolder(async (folder) => {
    const chain = await pretendBlocks(await startInstantChain(join(folder, 'chain')), rows.blocks)
    const memory = server.watchMemory()
    const side = async (name: string, template?: string): Promise<Side> => ({
      dataDir: join(folder, name),
      env: { DATABASE_URL: await server.create(`measured_${name}`, template) },
    })
    try {
      const full = await side('full', FULL)
      const sizes = await server.sizesOf(full.env?.DATABASE_URL ?? '')
      tell('sizes', sizes)
      const empty = await startMeasured(await side('empty'), chain)
      await empty.stop()
      tell('start, empty', empty.started)
      const start = await measureStart(full, chain)
      tell('start', start)
      const issuing: MeasuredPostgres['issuing'][number][] = []
      for (let round = 0; round < Number(values.rounds); round++) {
        const sides = { empty: await side(`empty_${round}`), full }
        issuing.push(await measureBoth(sides, chain, { round, seconds: Number(values.seconds) }))
        tell('issuing', issuing.at(-1))
      }
      const finality = await measureFinality(full, chain)
      tell('finality', finality)
      return {
        rows,
        sizes,
        emptyStart: empty.started,
        start,
        issuing,
        finality,
        serverMemory: memory.stop(),
        settings: await server.settings(),
      }
    } finally {
      memory.stop()
      await chain.stop()
      await server.dropAll('measured_')
    }
  })
}

function tell(what: string, of: unknown): void {
  console.log(what, JSON.stringify(of))
}

async function withServer<T>(use: (server: MeasuredServer) => Promise<T>): Promise<T> {
  if (values.server !== undefined) return use(await createPostgresServer(values.server))
  const folder = postgresFolder()
  if (folder === undefined) throw new Error('PostgreSQL is not installed')
  const own = await startPostgres(folder, ['fsync=on', ...values.set])
  try {
    return await use(await createPostgresServer(await own.newDatabase()))
  } finally {
    await own.remove()
  }
}

const setting = readSetting(
  `node scripts/run.mjs tools/bench/ten-million-postgres.ts ${process.argv
    .slice(2)
    .filter((arg) => arg !== '--dry' && !/^--server|^postgres:/.test(arg))
    .join(' ')}`.trim(),
)
await withServer(async (server) => {
  await fill(server)
  if (values.fill) return
  const tables = tenMillionPostgresTables(await measure(server))
  publish('ten-million-postgres', setting, tables, values.dry)
})
