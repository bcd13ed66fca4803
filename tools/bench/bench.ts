// `npm run bench`: measures the service and writes docs/performance.md.
//
//   --documents N   requests a case, at most (30000)
//   --seconds S     seconds a case, at most (15)
//   --dry           print only
//
// `npm run bench -- --verify` measures verifying, and writes that section only.
//
// `npm run bench -- --memory` measures the gateway's memory and writes that section only: at a
// tenth of N (200000) documents and at N, some 1,000 a second.
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { NAMES, runCases, runVerifyCases, USUAL } from './cases.ts'
import { measureMemory, memoryLine, memorySection } from './memory/measure.ts'
import { measureParts } from './parts.ts'
import { measurePeers } from './peers/measure.ts'
import {
  ATTACKS,
  BATCHES,
  BEFORE,
  CERTIFICATES,
  documentOf,
  FAULT_RUNS,
  lineOf,
  lineOfPeer,
  MEMORY,
  readSetting,
  type Setting,
  SLOW_BLOCKS,
  sectionOf,
  VERIFY,
  verifySection,
  withSection,
} from './report.ts'

const REPORT = new URL('../../docs/performance.md', import.meta.url)

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

async function speed(before: string): Promise<string> {
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
  const document = documentOf(setting, limits, cases, peers, parts)
  const measured = withSection(document, VERIFY, await verifying(setting))
  return [MEMORY, BEFORE, SLOW_BLOCKS, FAULT_RUNS, ATTACKS, BATCHES, CERTIFICATES].reduce(
    (report, title) => withSection(report, title, sectionOf(before, title)),
    measured,
  )
}

async function verifying(setting: Setting): Promise<string> {
  const cases = await runVerifyCases(limits, [1, USUAL], (done) => console.log(lineOf(done)))
  return verifySection(setting, limits, cases)
}

async function memory(before: string): Promise<string> {
  const documents = Number(values.documents ?? 200_000)
  const setting = readSetting(`npm run bench -- --memory --documents ${documents}`)
  const rows = await measureMemory([documents / 10, documents], (row) =>
    console.log(memoryLine(row)),
  )
  return rows ? withSection(before, MEMORY, memorySection(setting, rows)) : before
}

async function verify(before: string): Promise<string> {
  const section = await verifying(readSetting(commandOf('--verify ')))
  return withSection(before, VERIFY, section)
}

const before = readFileSync(REPORT, 'utf8')
const [measure, section] = values.memory
  ? [memory, MEMORY]
  : values.verify
    ? [verify, VERIFY]
    : [speed, undefined]
const after = await measure(before)
console.log(`\n${section ? sectionOf(after, section) : after}`)
if (!values.dry) writeFileSync(REPORT, after)
