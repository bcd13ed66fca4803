// `npm run bench`: measures the service, writes all figures to tools/bench/results/ and the
// tables of docs/performance.md.
//
//   --documents N   requests a case, at most (30000)
//   --seconds S     seconds a case, at most (15)
//   --dry           print only
//
// `npm run bench -- --verify` measures verifying, and writes that table only.
//
// `npm run bench -- --memory` measures the gateway's memory and writes that table only: at a
// tenth of N (200000) documents and at N, some 1,000 a second.
import { type Case, COLUMNS, NAMES, runCases, runVerifyCases, USUAL } from './cases.ts'
import { MEMORY_COLUMNS, measureMemory, memoryTables } from './memory.ts'
import { readOptions } from './options.ts'
import { measureParts, PART_COLUMNS } from './parts.ts'
import { measurePeers, PEER_COLUMNS } from './peers/measure.ts'
import { publish } from './publish.ts'
import { type Columns, lineOf, pick, readSetting, type Tables, tableOf } from './report.ts'

const { memory, verify, dry, ...given } = readOptions({
  documents: 0,
  seconds: 15,
  memory: false,
  verify: false,
  dry: false,
})
const limits = { documents: given.documents || 30_000, seconds: given.seconds }
const tell =
  <T>(columns: Columns<T>) =>
  (row: T) =>
    console.log(lineOf(columns, row))

const isShown = ({ name, connections, blockTime = 0 }: Case) =>
  name !== NAMES.ungrouped && connections !== 1 && blockTime === 0

async function speed(): Promise<Tables> {
  const parts = tableOf(PART_COLUMNS, await measureParts())
  const issued = await runCases(limits, tell(COLUMNS))
  const gateway = (at: number) =>
    issued.find(
      ({ name, connections, blockTime }) =>
        name === NAMES.grouped && connections === at && blockTime === 0,
    )?.perSecond ?? 0
  const peers = await measurePeers(limits, [1, USUAL], gateway, tell(PEER_COLUMNS))
  const cases = [...issued, ...(await verifying())]
  const peersOfMany = peers.filter(({ clients }) => clients > 1)
  return {
    all: { cases: tableOf(COLUMNS, cases), peers: tableOf(PEER_COLUMNS, peers), parts },
    shown: {
      speed: pick(tableOf(COLUMNS, cases.filter(isShown)), [
        'case',
        'connections',
        'a second',
        'p99 ms',
        'gateway µs',
      ]),
      peers: pick(tableOf(PEER_COLUMNS, peersOfMany), [
        'case',
        'clients',
        'documents a second',
        'gateway ÷ it',
      ]),
      parts,
    },
  }
}

const verifying = () => runVerifyCases(limits, [1, USUAL], tell(COLUMNS))

const setting = readSetting('npm run bench --')
if (memory) {
  const documents = given.documents || 200_000
  const rows = await measureMemory([documents / 10, documents], tell(MEMORY_COLUMNS))
  if (rows) publish('memory', setting, memoryTables(rows), dry)
} else if (verify) {
  // This table is in its file only.
  const cases = tableOf(COLUMNS, await verifying())
  publish('verify', setting, { all: { cases }, shown: {} }, dry)
} else publish('bench', setting, await speed(), dry)
