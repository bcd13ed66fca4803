// `node scripts/run.mjs tools/bench/goals.ts`: measures what we aim at, in one run, and writes the table
// of AIMS.md. PostgreSQL must be installed.
//
//   --before FOLDER   a checkout of an older commit, set up as for before.ts
//   --documents N     documents a run, at most (15000)
//   --seconds S       seconds a run, at most (10)
//   --rounds R        runs of each, in turn; the median counts (3)
//   --dry             print only
//
// Calls to the node, certificates and audits take long, and have programs of their own.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type LocalIssuer, startLocalIssuer } from '#test/support/local-issuer.ts'
import { postgresFolder, startPostgres } from '#test/support/postgres.ts'
import type { MeasureOptions } from './before/measure.ts'
import { NAMES, runVerifyCases, USUAL } from './cases.ts'
import {
  API_KEY,
  inFolder,
  measureEcho,
  measureIssue,
  type Row,
  type RunningGateway,
  startGateway,
} from './measure.ts'
import { measurePeers } from './peers/measure.ts'
import { createPostgresServer, type MeasuredServer } from './postgres-server.ts'
import { runScript } from './processes.ts'
import { publish } from './publish.ts'
import { median } from './quantile.ts'
import { readSetting } from './report.ts'

const MANY = 500
const BATCH = 100_000

const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    documents: { type: 'string', default: '15000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    dry: { type: 'boolean', default: false },
  },
})
const limits = { documents: Number(values.documents), seconds: Number(values.seconds) }
const rounds = Number(values.rounds)

/** Runs each of these in turn. @returns The medians of their results, by name. */
async function inTurn<K extends string>(
  runs: Record<K, () => Promise<number>>,
): Promise<Record<K, number>> {
  const results = Object.entries(runs).map(([name]) => [name, [] as number[]] as const)
  for (let round = 0; round < rounds; round++)
    for (const [name, found] of results) {
      found.push(await runs[name as K]())
      console.error(`${name}: ${found.at(-1)?.toFixed(2)}`)
    }
  return Object.fromEntries(results.map(([name, found]) => [name, median(found)])) as Record<
    K,
    number
  >
}

const rows: string[][] = []
const add = (what: string, value: number, aim: string) => {
  rows.push([what, value.toFixed(2), aim])
  console.error(rows.at(-1)?.join(' · '))
}

async function beside(folder: string): Promise<void> {
  const cpu = async (checkout: string, connections: number) => {
    const options: MeasureOptions = { checkout, connections, ...limits }
    return (await runScript<Row>('tools/bench/before/measure.ts', options)).gatewayCpu ?? Number.NaN
  }
  for (const connections of [USUAL, MANY]) {
    const { now, before } = await inTurn({
      before: () => cpu(folder, connections),
      now: () => cpu(process.cwd(), connections),
    })
    add(`processor time of a document ÷ before, ${connections} connections`, now / before, '≤ 0.85')
  }
}

async function issuing(): Promise<void> {
  const alone: Row[] = []
  const issue = async (connections: number) => {
    const row = await measureIssue(limits, { connections, blockTime: 0 })
    if (connections === 1) alone.push(row)
    return row.perSecond
  }
  const { echo, usual, many } = await inTurn({
    echo: async () => (await measureEcho(limits, USUAL)).perSecond,
    usual: () => issue(USUAL),
    many: () => issue(MANY),
    one: () => issue(1),
  })
  add(`issue, ${MANY} connections ÷ bare Hono`, many / echo, '≥ 0.15')
  const peers = await measurePeers(
    limits,
    [1, USUAL],
    () => usual,
    ({ name, clients, perSecond }) => console.error(`${name}, ${clients}: ${perSecond.toFixed(0)}`),
  )
  const single = peers.filter(({ size }) => size === 1)
  const best = Math.min(
    ...single.filter(({ clients }) => clients > 1).map(({ gatewayToIt }) => gatewayToIt),
  )
  add(`issue, ${USUAL} clients ÷ the best peer, one by one`, best, '≥ 25')
  const theirs = Math.min(...single.filter(({ clients }) => clients === 1).map(({ p50 }) => p50))
  const ours = median(alone.map(({ p50 }) => p50 ?? Number.NaN))
  add("one connection, median ÷ that of the best peer's call and receipt", ours / theirs, '≤ 0.35')
}

async function verifying(): Promise<void> {
  const cases = await runVerifyCases(limits, [USUAL], ({ name, perSecond }) =>
    console.error(`${name}: ${perSecond.toFixed(0)}`),
  )
  const ratio = (name: string) => cases.find((one) => one.name === name)?.toEcho ?? Number.NaN
  add('verify, the same documents again ÷ bare Hono', ratio(NAMES.warm), '≥ 0.40')
  add('verify, each document once ÷ bare Hono', ratio(NAMES.cold), '≥ 0.20')
}

/** @returns Microseconds of processor time of gateways and PostgreSQL for a document. */
async function sharedCost(
  server: MeasuredServer,
  issuer: LocalIssuer,
  gateways: number,
): Promise<number> {
  const DATABASE_URL = await server.create(`of_${gateways}_${Date.now()}`)
  return inFolder(async (folder) => {
    const { chain, registry, keys } = issuer
    const running: RunningGateway[] = []
    for (let i = 0; i < gateways; i++)
      running.push(
        await startGateway(
          join(folder, `${i}`),
          { url: chain.url, registry, issuerKey: keys.join() },
          { DATABASE_URL, MAX_HEAD_AGE_SECONDS: '999999999' },
        ),
      )
    const before = server.cpu()
    const part = { documents: limits.documents / gateways, seconds: limits.seconds }
    const load = { kind: 'issue', connections: USUAL / gateways, ...part } as const
    const done = await Promise.all(running.map((gateway) => gateway.load(load)))
    const requests = done.reduce((sum, row) => sum + row.requests, 0)
    const own = done.reduce((sum, row) => sum + (row.gatewayCpu ?? Number.NaN) * row.requests, 0)
    const database = (server.cpu() - before) * 1e6
    for (const gateway of running) await gateway.stop()
    return (own + database) / requests
  })
}

async function databases(): Promise<void> {
  const folder = postgresFolder()
  if (folder === undefined) throw new Error('PostgreSQL is not installed')
  const postgres = await startPostgres(folder, ['fsync=on'])
  try {
    const server = await createPostgresServer(await postgres.newDatabase())
    let count = 0
    const speed = async (env: Record<string, string>) =>
      (await measureIssue(limits, { connections: USUAL, blockTime: 0, env })).perSecond
    const one = await inTurn({
      sqlite: () => speed({}),
      postgres: async () => speed({ DATABASE_URL: await server.create(`alone_${count++}`) }),
    })
    add('issue on PostgreSQL ÷ SQLite', one.postgres / one.sqlite, '≥ 0.85')
    const cost = (gateways: number) => () =>
      inFolder(async (dataDir) => {
        const issuer = await startLocalIssuer(join(dataDir, 'chain'), 2)
        try {
          return await sharedCost(server, issuer, gateways)
        } finally {
          await issuer.chain.stop()
        }
      })
    const shared = await inTurn({ oneGateway: cost(1), twoGateways: cost(2) })
    const ratio = shared.twoGateways / shared.oneGateway
    add('processor time of a document, two gateways on PostgreSQL ÷ one', ratio, '≤ 1.15')
  } finally {
    await postgres.remove()
  }
}

/** Issues one batch, and verifies its last document. @returns Seconds. */
function batch(): Promise<number> {
  return inFolder(async (dataDir) => {
    const gateway = await startGateway(dataDir, undefined)
    const headers = { authorization: `Bearer ${API_KEY}` }
    const lines = Array.from({ length: BATCH }, (_, i) =>
      JSON.stringify({
        subjectName: `Person ${i}`,
        subjectId: `${i}`,
        category: 'diploma',
        issuedAt: '2026-01-31',
        metadata: { registrar: 'Testville' },
      }),
    ).join('\n')
    const begun = performance.now()
    const response = await fetch(`${gateway.url}/v1/batches`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: lines,
    })
    const last = (await response.text()).trimEnd().split('\n').at(-1) ?? ''
    const { publicId } = (JSON.parse(last) as { data: { publicId: string } }).data
    const verified = await fetch(`${gateway.url}/v1/verify?publicId=${publicId}`, { headers })
    const seconds = (performance.now() - begun) / 1000
    const { valid } = ((await verified.json()) as { data: { valid: boolean } }).data
    if (!valid) throw new Error('the last document of the batch is not valid')
    await gateway.stop()
    return seconds
  })
}

const setting = readSetting(
  ['node scripts/run.mjs tools/bench/goals.ts', ...(values.before ? ['--before FOLDER'] : [])].join(
    ' ',
  ),
)
if (values.before !== undefined) await beside(values.before)
await issuing()
await verifying()
await databases()
const { seconds } = await inTurn({ seconds: batch })
add(
  `${BATCH.toLocaleString('en')} documents by POST /v1/batches, seconds to valid`,
  seconds,
  '≤ 30',
)
const goals = { head: ['what', 'measured', 'aim'], rows }
publish('goals', setting, { all: { goals }, shown: { goals } }, values.dry)
