// `node tools/bench/ten-million.ts [documents]`: measures a gateway whose database has ten million
// documents (or the given number), and writes that table of docs/performance.md.
//
//   --seconds S   of issuing in each case (10)
//   --rounds N    of issuing, with an empty database and with the full one in turn (3)
//   --dry         print only
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { bodyOf, serveHttp } from '#test/support/http.ts'
import { publish } from './publish.ts'
import { readSetting, whole } from './report.ts'
import type { PretendedChain } from './ten-million/chain.ts'
import { fillSqlite, type Rows } from './ten-million/fill.ts'
import {
  measureFull,
  optionsOfBoth,
  startMeasured,
  untilQuiet,
  withChain,
} from './ten-million/measure.ts'
import { fullTables } from './ten-million/report.ts'

/** Measures a start with a simulated Kubo that has every payload and counts requests. */
async function measureKubo(rows: Rows, dataDir: string, chain: PretendedChain) {
  let asked = 0
  const kubo = await serveHttp(async (request, response) => {
    asked++
    await bodyOf(request, 'latin1')
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://kubo')
    const provide = searchParams.get('arg') === 'Provide' ? { Enabled: false } : {}
    const answers = { version: { Version: '0.43.0' }, config: { Value: provide } }
    const name = pathname.replace('/api/v0/', '') as keyof typeof answers
    response.end(JSON.stringify(answers[name] ?? {}))
  })
  await fillSqlite(join(dataDir, 'gateway.db'), rows, 'elsewhere')
  const side = { dataDir, env: { IPFS_API_URL: kubo.url } }
  const gateway = await startMeasured('payloads on Kubo', side, chain)
  const atReady = asked
  await untilQuiet(() => asked)
  const pauses = await gateway.pauses('start with Kubo')
  await gateway.stop()
  await kubo.close()
  const counts = [rows.documents, asked, atReady].map(whole)
  const requests = { head: ['rows', 'requests', 'until ready'], rows: [counts] }
  return { started: gateway.started, pauses, requests }
}

const options = optionsOfBoth()
const setting = readSetting('node tools/bench/ten-million.ts')
const tables = await withChain(options.rows, async (folder, chain) => {
  const dataDir = join(folder, 'full')
  const path = join(dataDir, 'gateway.db')
  await fillSqlite(path, options.rows)
  const full = { dataDir, bytes: statSync(path).size }
  const measured = await measureFull(chain, options, full, async (name) => ({
    dataDir: join(folder, name),
  }))
  const { notFinal, queued } = options.rows
  const rows = { ...options.rows, documents: notFinal + queued, keys: 0 }
  const kubo = await measureKubo(rows, join(folder, 'kubo'), chain)
  measured.starts.push(kubo.started)
  measured.pauses.push(kubo.pauses)
  return fullTables('ten-million', measured, { kubo: kubo.requests })
})
publish('ten-million', setting, tables, options.dry)
