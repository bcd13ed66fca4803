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
import { parseArgs } from 'node:util'
import { NAMES, runCases, runVerifyCases, USUAL } from './cases.ts'
import { measureMemory, memoryLine, memoryTables } from './memory/measure.ts'
import { measureParts } from './parts.ts'
import { measurePeers } from './peers/measure.ts'
import { publish } from './publish.ts'
import { lineOf, lineOfPeer, readSetting, speedTables, verifyTables } from './report.ts'

const { values } = parseArgs({
  options: {
    documents: { type: 'string' },
    seconds: { type: 'string', default: '15' },
    memory: { type: 'boolean', default: false },
    verify: { type: 'boolean', default: false },
    dry: { type: 'boolean', default: false },
  },
})

const limits = {
  documents: Number(values.documents ?? 30_000),
  seconds: Number(values.seconds),
}
const commandOf = (flags: string) =>
  `npm run bench -- ${flags}--documents ${limits.documents} --seconds ${limits.seconds}`

async function speed(): Promise<void> {
  const setting = readSetting(commandOf(''))
  const parts = await measureParts()
  const cases = await runCases(limits, (done) => console.log(lineOf(done)))
  const gateway = (at: number) =>
    cases.find(
      ({ name, connections, blockTime }) =>
        name === NAMES.grouped && connections === at && blockTime === 0,
    )?.perSecond ?? 0
  const peers = await measurePeers(limits, [1, USUAL], gateway, (done) =>
    console.log(lineOfPeer(done)),
  )
  const verified = await verifying()
  publish('bench', setting, speedTables([...cases, ...verified], peers, parts), values.dry)
}

const verifying = () => runVerifyCases(limits, [1, USUAL], (done) => console.log(lineOf(done)))

async function memory(): Promise<void> {
  const documents = Number(values.documents ?? 200_000)
  const setting = readSetting(`npm run bench -- --memory --documents ${documents}`)
  const rows = await measureMemory([documents / 10, documents], (row) =>
    console.log(memoryLine(row)),
  )
  if (rows) publish('memory', setting, memoryTables(rows), values.dry)
}

async function verify(): Promise<void> {
  const setting = readSetting(commandOf('--verify '))
  publish('verify', setting, verifyTables(await verifying()), values.dry)
}

if (values.memory) await memory()
else if (values.verify) await verify()
else await speed()
