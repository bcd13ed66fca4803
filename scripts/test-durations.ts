// node scripts/test-durations.ts <report of vitest's JSON reporter> …
//
// Writes test/durations.json: the seconds of each test file that takes long. vitest.config.ts starts
// the longest first.
import { readFileSync, writeFileSync } from 'node:fs'

/** The minimum seconds of a listed file. Shorter files fill the gaps at the end in any order. */
const MIN_SECONDS = 4

type Report = { testResults: { name: string; startTime: number; endTime: number }[] }

const reports = process.argv.slice(2)
const durations = reports
  .flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as Report).testResults)
  .map(({ name, startTime, endTime }) => {
    const seconds = Math.round((endTime - startTime) / 1000)
    // The report may be of another checkout.
    return [name.slice(name.lastIndexOf('/test/') + 1), seconds] as const
  })
  .filter(([, seconds]) => seconds >= MIN_SECONDS)
  .sort(([a], [b]) => (a < b ? -1 : 1))
writeFileSync('test/durations.json', `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`)
