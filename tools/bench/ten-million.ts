// `node tools/bench/ten-million.ts [documents]`: measures a gateway whose database has ten million
// documents (or the given number), and writes that table of docs/performance.md.
//
//   --seconds S   of issuing in each case (10)
//   --rounds N    of issuing, with an empty database and with the full one in turn (3)
//   --database F  a full one to copy; it is made where there is none
//   --dry         print only
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { bodyOf, serveHttp } from '#test/support/http.ts'
import { startInstantChain } from './chain.ts'
import { inFolder } from './measure.ts'
import { publish } from './publish.ts'
import { readSetting } from './report.ts'
import { type PretendedChain, pretendBlocks } from './ten-million/chain.ts'
import { fillDatabase, flush, type Rows, rowsFor } from './ten-million/fill.ts'
import {
  measureBoth,
  measureFinality,
  measureStart,
  startMeasured,
  untilQuiet,
} from './ten-million/gateway.ts'
import { type Measured, tenMillionTables } from './ten-million/report.ts'

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
  const gateway = await startMeasured({ dataDir, env: { IPFS_API_URL: kubo.url } }, chain)
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
      const empty = await startMeasured({ dataDir: join(folder, 'empty') }, chain)
      await empty.stop()
      tell('start, empty', empty.started)
      const started = await measureStart({ dataDir: full }, chain)
      tell('start', started)
      const issuing = []
      for (let round = 0; round < rounds; round++) {
        const sides = {
          empty: { dataDir: join(folder, `empty-${round}`) },
          full: { dataDir: full },
        }
        const one = await measureBoth(sides, chain, { round, seconds })
        issuing.push(one)
        tell('issuing', one)
      }
      const finality = await measureFinality({ dataDir: full }, chain)
      tell('finality', finality)
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
  `node tools/bench/ten-million.ts ${process.argv
    .slice(2)
    .filter((arg) => arg !== '--dry')
    .join(' ')}`.trim(),
)
publish('ten-million', setting, tenMillionTables(await measure()), values.dry)
