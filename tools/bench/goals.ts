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
import { startLocalIssuer } from '#test/support/local-issuer.ts'
import { NAMES, runVerifyCases, USUAL } from './cases.ts'
import { measureCheckout } from './checkout.ts'
import { API_KEY, inFolder, measureEcho, measureIssue, type Row, startGateway } from './measure.ts'
import { readOptions } from './options.ts'
import { measurePeers } from './peers/measure.ts'
import { type MeasuredServer, withPostgres } from './postgres-server.ts'
import { ROOT } from './processes.ts'
import { publish } from './publish.ts'
import { median } from './quantile.ts'
import { readSetting } from './report.ts'
import { issueBatch } from './requests.ts'

const MANY = 500
const BATCH = 100_000

const { before, rounds, dry, ...limits } = readOptions({
  before: '',
  documents: 15_000,
  seconds: 10,
  rounds: 3,
  dry: false,
})

/** Runs each of these in turn. @returns The medians of their results, by name. */
async function inTurn<K extends string>(runs: Record<K, () => Promise<number>>) {
  const names = Object.keys(runs) as K[]
  const found = names.map((): number[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [i, name] of names.entries()) {
      const one = await runs[name]()
      found[i]?.push(one)
      console.error(`${name}: ${one.toFixed(2)}`)
    }
  const medians = names.map((name, i) => [name, median(found[i] ?? [])])
  return Object.fromEntries(medians) as Record<K, number>
}

const rows: string[][] = []
const add = (what: string, value: number, aim: string) => {
  rows.push([what, value.toFixed(2), aim])
  console.error(rows.at(-1)?.join(' · '))
}

async function beside(folder: string): Promise<void> {
  const cpu = async (checkout: string, connections: number) =>
    (await measureCheckout(checkout, { kind: 'issue', connections, ...limits })).gatewayCpu ??
    Number.NaN
  for (const connections of [USUAL, MANY]) {
    const { now, before } = await inTurn({
      before: () => cpu(folder, connections),
      now: () => cpu(ROOT, connections),
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
const sharedCost = (server: MeasuredServer, gateways: number): Promise<number> =>
  inFolder(async (folder) => {
    const DATABASE_URL = await server.create(`of_${gateways}_${Date.now()}`)
    const { chain, registry, keys } = await startLocalIssuer(join(folder, 'chain'), 2)
    const start = (i: number) =>
      startGateway(
        join(folder, `${i}`),
        { url: chain.url, registry, issuerKey: keys.join() },
        { DATABASE_URL, MAX_HEAD_AGE_SECONDS: '999999999' },
      )
    try {
      const running = [await start(0)]
      while (running.length < gateways) running.push(await start(running.length))
      const before = server.cpu()
      const part = { documents: limits.documents / gateways, seconds: limits.seconds }
      const load = { kind: 'issue', connections: USUAL / gateways, ...part } as const
      const done = await Promise.all(running.map((gateway) => gateway.load(load)))
      const requests = done.reduce((sum, row) => sum + row.requests, 0)
      const own = done.reduce((sum, row) => sum + (row.gatewayCpu ?? Number.NaN) * row.requests, 0)
      const database = (server.cpu() - before) * 1e6
      for (const gateway of running) await gateway.stop()
      return (own + database) / requests
    } finally {
      await chain.stop()
    }
  })

const databases = (): Promise<void> =>
  withPostgres(async (server) => {
    let count = 0
    const speed = async (env: Record<string, string>) =>
      (await measureIssue(limits, { connections: USUAL, blockTime: 0, env })).perSecond
    const one = await inTurn({
      sqlite: () => speed({}),
      postgres: async () => speed({ DATABASE_URL: await server.create(`alone_${count++}`) }),
    })
    add('issue on PostgreSQL ÷ SQLite', one.postgres / one.sqlite, '≥ 0.85')
    const shared = await inTurn({
      oneGateway: () => sharedCost(server, 1),
      twoGateways: () => sharedCost(server, 2),
    })
    const ratio = shared.twoGateways / shared.oneGateway
    add('processor time of a document, two gateways on PostgreSQL ÷ one', ratio, '≤ 1.15')
  })

/** Issues one batch, and verifies its last document. @returns Seconds. */
const batch = (): Promise<number> =>
  inFolder(async (dataDir) => {
    const gateway = await startGateway(dataDir, undefined)
    const begun = performance.now()
    const { publicId } = await issueBatch({ url: gateway.url, key: API_KEY }, 0, BATCH)
    const verified = await fetch(`${gateway.url}/v1/verify?publicId=${publicId}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const seconds = (performance.now() - begun) / 1000
    const { valid } = ((await verified.json()) as { data: { valid: boolean } }).data
    if (!valid) throw new Error('the last document of the batch is not valid')
    await gateway.stop()
    return seconds
  })

const setting = readSetting('node scripts/run.mjs tools/bench/goals.ts')
if (before !== '') await beside(before)
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
publish('goals', setting, { all: { goals }, shown: { goals } }, dry)
