// node scripts/failed-tests.mjs <report of vitest's JSON reporter>
//
// Prints the files in which a test failed, one a line. Exits with 1 where running them again would
// not tell: no report, no failed file (an error outside a test), or more than a handful.
import { readFileSync } from 'node:fs'

/** More failures than this come from a change and not from a busy machine. */
const MOST = 5

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const failed = testResults.filter(({ status }) => status !== 'passed').map(({ name }) => name)
if (failed.length === 0 || failed.length > MOST) process.exitCode = 1
else console.log(failed.join('\n'))
