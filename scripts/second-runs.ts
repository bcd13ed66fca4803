// node scripts/second-runs.ts <folder> <exit code of the runs>
//
// The folder has the reports of vitest's JSON reporter.
//
// Gives a few failed test files one more run, alone, and keeps a record of it: one line for each run
// of CI on this machine. Exits with 0 if every failed file passed, and none of them needed a second
// run before within the last runs.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { cacheFolder } from './cache-folder.ts'

/** One run of CI. */
type Run = { date: string; commit: string; secondRuns: string[] }

/** More failed files than this come from a change, not from a busy machine. */
const MAX_FAILED = 5
/** A file that needs a second run twice within this number of runs fails. */
const WINDOW = 20

/**
 * Faults and promises: such a test exists to find rare failures. It is recognized by a word in its
 * path, or by what the file does to a process or a chain.
 */
const FAULT_PATH = /(?:^|[/.-])(?:faults|promises?|kills?|reorgs?|outages?|away|hung|lost)(?:[/.-])/
const FAULT_TEXT = /SIGKILL|SIGSTOP|anvil_reorg|anvil_rollback|gateway-process\.ts/

const record = cacheFolder('second-runs.ndjson')

function readRuns(): Run[] {
  if (!existsSync(record)) return []
  const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean)
  return lines.slice(1 - WINDOW).map((line) => JSON.parse(line))
}

function keep(secondRuns: string[]): void {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' })
  const run: Run = { date: new Date().toISOString(), commit: stdout.trim(), secondRuns }
  mkdirSync(dirname(record), { recursive: true })
  appendFileSync(record, `${JSON.stringify(run)}\n`)
}

/** @returns Paths from the root of the checkout. */
function failedFiles(folder: string): string[] {
  const failed = readdirSync(folder).flatMap((file) => {
    const { testResults } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      testResults: { name: string; status: string }[]
    }
    return testResults.filter(({ status }) => status !== 'passed')
  })
  return [...new Set(failed.map(({ name }) => relative(process.cwd(), name)))]
}

const isOfFaults = (file: string) =>
  FAULT_PATH.test(file) || FAULT_TEXT.test(readFileSync(file, 'utf8'))

/** @returns Why there is no second run; `undefined` if there may be one. */
function refusal(failed: readonly string[]): string | undefined {
  if (failed.length === 0) return 'an error outside of the tests'
  if (failed.length > MAX_FAILED) return `more than ${MAX_FAILED} files failed`
  const final = failed.filter(isOfFaults)
  if (final.length > 0) return `tests of faults and promises never run twice:\n${final.join('\n')}`
  return undefined
}

function judge(folder: string, code: number): number {
  const failed = failedFiles(folder)
  if (code === 0) {
    keep([])
    return 0
  }
  const reason = refusal(failed)
  if (reason !== undefined) {
    console.log(`FAILED, no second run: ${reason}`)
    return code
  }
  console.log(`FAILED, run once more on an idle machine:\n${failed.join('\n')}`)
  const before = new Set(readRuns().flatMap(({ secondRuns }) => secondRuns))
  const options = { stdio: 'inherit', shell: process.platform === 'win32' } as const
  const { status } = spawnSync('vitest', ['run', '--no-file-parallelism', ...failed], options)
  // A file that fails again is broken, not unsteady.
  if (status !== 0) return status ?? 1
  keep(failed)
  const again = failed.filter((file) => before.has(file))
  if (again.length === 0) return 0
  console.log(`FAILED, a second run needed twice within ${WINDOW} runs:\n${again.join('\n')}`)
  return 1
}

const [folder = '', code = ''] = process.argv.slice(2)
process.exitCode = judge(folder, Number(code))
