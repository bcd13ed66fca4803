// `node scripts/run.mjs tools/bench/before.ts FOLDER`: measures whether issuing has become slower since
// an older commit. FOLDER is a checkout of that commit, set up:
//
//   git worktree add FOLDER COMMIT
//   cd FOLDER && node scripts/run.mjs     (in older ones: node scripts/bootstrap.mjs)
//
// It measures both in turn, since the speed of a machine changes from minute to minute.
//
//   --documents N     documents a run, at most (15000)
//   --seconds S       seconds a run, at most (10)
//   --rounds R        runs of each (5)
//   --connections C   a list (200,500)
//   --keys            each document has an idempotency key
//   --postgres        over a PostgreSQL of its own, on this machine, in place of SQLite
import { USUAL } from './cases.ts'
import { measureCheckout } from './checkout.ts'
import { measureEcho, type Row } from './measure.ts'
import { readOptions } from './options.ts'
import { withPostgres } from './postgres-server.ts'
import { ROOT } from './processes.ts'
import { median } from './quantile.ts'

const { rounds, connections, keys, postgres, given, ...limits } = readOptions({
  documents: 15_000,
  seconds: 10,
  rounds: 5,
  connections: '200,500',
  keys: false,
  postgres: false,
})
const [older] = given
if (older === undefined) throw new Error('name the folder of a checkout')
const CHECKOUTS = { before: older, now: ROOT }
const kind = keys ? 'issue keyed' : 'issue'

type NewEnv = () => Promise<Record<string, string>>

async function compareAt(connections: number, echo: Row, newEnv: NewEnv): Promise<void> {
  const rows: Record<keyof typeof CHECKOUTS, Row[]> = { before: [], now: [] }
  for (let round = 0; round < rounds; round++)
    for (const which of ['before', 'now'] as const) {
      const env = await newEnv()
      const load = { kind, connections, ...limits } as const
      const row = await measureCheckout(CHECKOUTS[which], load, env)
      rows[which].push(row)
      console.log(
        `${connections} connections, ${which}: ${row.perSecond.toFixed(0)} a second, gateway ${row.gatewayCpu?.toFixed(0)} µs, Anvil ${row.anvilCpu?.toFixed(0)} µs, ${row.failures} failed`,
      )
    }
  const speed = (which: keyof typeof rows) => median(rows[which].map(({ perSecond }) => perSecond))
  const cost = (which: keyof typeof rows) =>
    median(rows[which].map(({ gatewayCpu }) => gatewayCpu ?? Number.NaN))
  console.log(
    `${connections} connections, medians: ${speed('now').toFixed(0)} a second ÷ ${speed('before').toFixed(0)} before = ${(speed('now') / speed('before')).toFixed(2)}, ÷ echo = ${(speed('now') / echo.perSecond).toFixed(3)}; gateway ${cost('now').toFixed(0)} µs ÷ ${cost('before').toFixed(0)} = ${(cost('now') / cost('before')).toFixed(2)}`,
  )
}

async function compare(newEnv: NewEnv): Promise<void> {
  const echo = await measureEcho(limits, USUAL)
  console.log(`bare Hono, echo of a POST: ${echo.perSecond.toFixed(0)} a second`)
  for (const at of connections.split(',')) await compareAt(Number(at), echo, newEnv)
}

let databases = 0
if (!postgres) await compare(async () => ({}))
else
  await withPostgres((server) =>
    compare(async () => ({ DATABASE_URL: await server.create(`run_${databases++}`) })),
  )
