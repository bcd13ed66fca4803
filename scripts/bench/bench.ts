// `npm run bench`: measures the service and writes docs/performance.md.
//
//   --documents N   requests a case, at most (30000)
//   --seconds S     seconds a case, at most (15)
//   --dry           print only
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { NAMES, runCases, USUAL } from './cases.ts'
import { measureParts } from './parts.ts'
import { measurePeers } from './peers/measure.ts'
import { documentOf, lineOf, lineOfPeer, readSetting } from './report.ts'

const REPORT = new URL('../../docs/performance.md', import.meta.url)

const { values } = parseArgs({
  options: {
    documents: { type: 'string', default: '30000' },
    seconds: { type: 'string', default: '15' },
    dry: { type: 'boolean', default: false },
  },
})
const limits = {
  documents: Number(values.documents),
  seconds: Number(values.seconds),
}
const setting = readSetting(limits)
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
const report = documentOf(setting, cases, peers, parts)
console.log(`\n${report}`)
if (!values.dry) writeFileSync(REPORT, report)
