// `node scripts/run.mjs tools/bench/ten-million.ts [documents]`: measures a gateway whose database
// has ten million documents (or the given number), and writes that table of docs/performance.md.
//
//   --seconds S   of issuing in each case (10)
//   --rounds N    of issuing, with an empty database and with the full one in turn (3)
//   --dry         print only
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { publish } from './publish.ts'
import { readSetting } from './report.ts'
import { fillSqlite } from './ten-million/fill.ts'
import { measureFull, optionsOfBoth, withChain } from './ten-million/measure.ts'
import { fullTables } from './ten-million/report.ts'

const options = optionsOfBoth()
const setting = readSetting('node scripts/run.mjs tools/bench/ten-million.ts')
const tables = await withChain(options.rows, async (folder, chain) => {
  const dataDir = join(folder, 'full')
  const path = join(dataDir, 'gateway.db')
  await fillSqlite(path, options.rows)
  const full = { dataDir, bytes: statSync(path).size }
  const measured = await measureFull(chain, options, full, async (name) => ({
    dataDir: join(folder, name),
  }))
  return fullTables('ten-million', measured, {})
})
publish('ten-million', setting, tables, options.dry)
