// `node bench/ten-million.ts [documents]`: measures a gateway whose database has ten million
// documents (or the given number), and writes that section of docs/performance.md.
//
//   --seconds S   of issuing in each case (10)
//   --rounds N    of issuing, with an empty database and with the full one in turn (3)
//   --database F  a full one to copy; it is made where there is none
//   --dry         print only
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bodyOf, serveHttp } from '../test/support/http.ts'
import { startInstantChain } from './chain.ts'
import { inFolder, type Row, type RunningGateway, startGateway } from './measure.ts'
import { usageOf } from './processes.ts'
import { readSetting, withSection } from './report.ts'
import { type PretendedChain, pretendBlocks } from './ten-million/chain.ts'
import { fillDatabase, flush, type Rows, rowsFor } from './ten-million/fill.ts'
import type { Pauses } from './ten-million/preload.ts'
import {
  type Measured,
  type Started,
  TEN_MILLION,
  tenMillionSection,
} from './ten-million/report.ts'

const REPORT = new URL('../docs/performance.md', import.meta.url)
const PRELOAD = new URL('./ten-million/preload.ts', import.meta.url).href
const CONNECTIONS = 200
/** Calls of a kind have ended when at most {@link QUIET_CALLS} came in this time. */
const QUIET_MS = 6_000
/** Each look at the blocks, every 2 s, asks for the newest known one. */
const QUIET_CALLS = 10
const START_MS = 5_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    database: { type: 'string' },
    dry: { type: 'boolean', default: false },
  },
})
const documents = Number(positionals[0] ?? 10_000_000)
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const limits = { connections: CONNECTIONS, seconds, documents: Number.MAX_SAFE_INTEGER }

type Gateway = RunningGateway & {
  /** Time from the start of the process until it was ready, and its processor time. */
  started: Started
  /** @returns The measurements since the last call. */
  pauses(): Promise<Pauses>
}

async function start(dataDir: string, chain: PretendedChain, env = {}): Promise<Gateway> {
  const file = join(dataDir, 'pauses')
  const begun = performance.now()
  // All rounds together issue more than an hour's default cap allows.
  const settings = { PAUSES_FILE: file, MAX_HOURLY_FEE_ETHER: 'off', ...env }
  const gateway = await startGateway(dataDir, chain, settings, ['--import', PRELOAD])
  const started = {
    ms: performance.now() - begun,
    cpuMs: 1000 * (usageOf(gateway.pid)?.cpu ?? NaN),
  }
  const pauses = async (): Promise<Pauses> => {
    rmSync(file, { force: true })
    process.kill(gateway.pid, 'SIGUSR2')
    while (!existsSync(file)) await sleep(20)
    return JSON.parse(readFileSync(file, 'utf8'))
  }
  return { ...gateway, started, pauses }
}

/** Resolves when a count has hardly changed for a while. */
async function untilQuiet(count: () => number): Promise<void> {
  for (let before = -QUIET_CALLS - 1; count() - before > QUIET_CALLS; ) {
    before = count()
    await sleep(QUIET_MS)
  }
}

async function measureStart(dataDir: string, chain: PretendedChain): Promise<Measured['start']> {
  const gateway = await start(dataDir, chain)
  const starting = await gateway.pauses()
  await untilQuiet(() => chain.asked.blocks)
  const first = await gateway.pauses()
  const blocksAsked = chain.asked.blocks
  await sleep(START_MS)
  const later = await gateway.pauses()
  await gateway.stop()
  return { started: gateway.started, starting, first, blocksAsked, later }
}

async function measureIssuing(dataDir: string, chain: PretendedChain) {
  const gateway = await start(dataDir, chain)
  await gateway.load({ kind: 'issue', ...limits, seconds: seconds / 4 })
  const plain = await issue(gateway, 'issue')
  const keyed = await issue(gateway, 'issue keyed')
  await gateway.stop()
  return { plain, keyed }
}

/** Measures both in another order each round, since the chain gets slower with its records. */
async function measureBoth(
  folders: Record<'empty' | 'full', string>,
  chain: PretendedChain,
  round: number,
) {
  if (round % 2 === 0) {
    const empty = await measureIssuing(folders.empty, chain)
    return { empty, full: await measureIssuing(folders.full, chain) }
  }
  const full = await measureIssuing(folders.full, chain)
  return { empty: await measureIssuing(folders.empty, chain), full }
}

async function issue(
  gateway: Gateway,
  kind: 'issue' | 'issue keyed',
): Promise<{ row: Row; pauses: Pauses }> {
  await gateway.pauses()
  const row = await gateway.load({ kind, ...limits })
  return { row, pauses: await gateway.pauses() }
}

async function measureFinality(
  dataDir: string,
  chain: PretendedChain,
): Promise<Measured['finality']> {
  const gateway = await start(dataDir, chain)
  await sleep(START_MS)
  await gateway.pauses()
  const begun = performance.now()
  chain.finalize()
  await untilQuiet(() => chain.asked.records)
  const ms = performance.now() - begun - QUIET_MS
  const pauses = await gateway.pauses()
  await gateway.stop()
  return { ms, pauses, calls: chain.asked.records }
}

/** A simulated Kubo that has every payload and counts requests. */
async function measureKubo(rows: Rows, dataDir: string, chain: PretendedChain) {
  const asked: Record<string, number> = {}
  const kubo = await serveHttp(async (request, response) => {
    await bodyOf(request, 'latin1')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://kubo')
    const name = pathname.replace('/api/v0/', '')
    asked[name] = (asked[name] ?? 0) + 1
    if (name === 'version') response.end(JSON.stringify({ Version: '0.43.0' }))
    else if (name === 'config')
      response.end(
        JSON.stringify({ Value: searchParams.get('arg') === 'Provide' ? { Enabled: false } : {} }),
      )
    else response.end('{}')
  })
  await fillDatabase(join(dataDir, 'gateway.db'), rows, 'elsewhere')
  const gateway = await start(dataDir, chain, { IPFS_API_URL: kubo.url })
  const atReady = sum(asked)
  await untilQuiet(() => sum(asked))
  const pauses = await gateway.pauses()
  await gateway.stop()
  await kubo.close()
  return { started: gateway.started, rows: rows.notFinal + rows.queued, atReady, asked, pauses }
}

const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((all, one) => all + one, 0)

async function makeFull(path: string, rows: Rows): Promise<void> {
  const { database = path } = values
  if (!existsSync(database)) await fillDatabase(database, rows)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  if (database !== path) copyFileSync(database, path)
  flush(path)
}

async function measure(): Promise<Measured> {
  return inFolder(async (folder) => {
    const rows = rowsFor(documents)
    const chain = await pretendBlocks(await startInstantChain(join(folder, 'chain')), rows.blocks)
    try {
      const full = join(folder, 'full')
      const begun = performance.now()
      const path = join(full, 'gateway.db')
      await makeFull(path, rows)
      const filledSeconds = (performance.now() - begun) / 1000
      const bytes = statSync(path).size
      tell('filled', { rows, filledSeconds, bytes })
      const empty = await start(join(folder, 'empty'), chain)
      await empty.stop()
      tell('start, empty', empty.started)
      const started = await measureStart(full, chain)
      tell('start', started)
      const issuing = []
      for (let round = 0; round < rounds; round++) {
        const before = join(folder, `empty-${round}`)
        const one = await measureBoth({ empty: before, full }, chain, round)
        rmSync(before, { recursive: true })
        issuing.push(one)
        tell('issuing', one)
      }
      const finality = await measureFinality(full, chain)
      tell('finality', finality)
      rmSync(full, { recursive: true })
      const kubo = await measureKubo(
        { ...rows, documents: rows.notFinal + rows.queued, keys: 0 },
        join(folder, 'kubo'),
        chain,
      )
      tell('kubo', kubo)
      return { rows, bytes, emptyStart: empty.started, start: started, issuing, finality, kubo }
    } finally {
      await chain.stop()
    }
  })
}

function tell(what: string, of: unknown): void {
  console.log(what, JSON.stringify(of))
}

const setting = readSetting(
  `node bench/ten-million.ts ${process.argv
    .slice(2)
    .filter((arg) => arg !== '--dry')
    .join(' ')}`.trim(),
)
const section = tenMillionSection(setting, await measure())
console.log(`\n${section}`)
if (!values.dry)
  writeFileSync(REPORT, withSection(readFileSync(REPORT, 'utf8'), TEN_MILLION, section))
