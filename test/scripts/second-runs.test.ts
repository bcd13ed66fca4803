import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { run } from '../support/docreg.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const STEADY = 'test/packages/table/csv.test.ts'
const OTHER = 'test/apps/docreg/progress.test.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'second-runs-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/**
 * Judges one run of CI.
 *
 * @param failed Its failed files.
 * @param second The exit code of the second run.
 */
async function judge(failed: readonly string[], second = 0, code = failed.length > 0 ? 1 : 0) {
  const results = [...failed, 'test/layers.test.ts'].map((name) => ({
    name: join(root, name),
    status: failed.includes(name) ? 'failed' : 'passed',
  }))
  const reports = join(dir, 'reports')
  mkdirSync(reports, { recursive: true })
  writeFileSync(join(reports, 'tests.json'), JSON.stringify({ testResults: results }))
  // Prints its arguments, and ends as the second run is to end.
  writeFileSync(join(dir, 'vitest'), `#!/bin/sh\necho "$@"\nexit ${second}\n`, { mode: 0o700 })
  const args = [join(root, 'scripts/second-runs.ts'), reports, String(code)]
  return run(process.execPath, args, {
    cwd: root,
    env: { XDG_CACHE_HOME: dir, PATH: `${dir}${delimiter}${process.env.PATH}` },
  })
}

const recorded = () =>
  readFileSync(join(dir, 'document-registry/second-runs.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

test('records a run without failures, and runs nothing again', async () => {
  expect(await judge([])).toMatchObject({ code: 0, stdout: '' })
  expect(recorded()).toEqual([
    {
      date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      secondRuns: [],
    },
  ])
})

test('runs a failed file once more, alone, and records it', async () => {
  const { code, stdout } = await judge([STEADY, OTHER])
  expect(stdout).toContain(`run --no-file-parallelism ${STEADY} ${OTHER}`)
  expect(code).toBe(0)
  expect(recorded()).toMatchObject([{ secondRuns: [STEADY, OTHER] }])
})

test('a file that fails again is broken, and not recorded as unsteady', async () => {
  expect(await judge([])).toMatchObject({ code: 0 })
  expect(await judge([STEADY], 3)).toMatchObject({ code: 3 })
  expect(recorded()).toHaveLength(1)
})

test('a second run needed twice within 20 runs fails and names the file', async () => {
  expect(await judge([STEADY])).toMatchObject({ code: 0 })
  for (let i = 0; i < 18; i++) expect(await judge([])).toMatchObject({ code: 0 })
  const { code, stdout } = await judge([OTHER, STEADY])
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`twice within 20 runs:\n${STEADY}\n$`))
})

test('drops what is 20 runs old', async () => {
  expect(await judge([STEADY])).toMatchObject({ code: 0 })
  for (let i = 0; i < 19; i++) expect(await judge([])).toMatchObject({ code: 0 })
  expect(await judge([STEADY])).toMatchObject({ code: 0 })
})

test.each([
  ['test/faults/chaos.test.ts', 'below test/faults/'],
  ['test/scenarios/promises.test.ts', 'by a word of its name'],
  ['test/scenarios/batch-kills.test.ts', 'by a word of its name'],
  ['test/apps/docreg-gateway/issue-again-reorg.test.ts', 'by a word of its name'],
  ['test/scenarios/outages.test.ts', 'by a word of its name'],
  ['test/packages/local-chain/local-chain.test.ts', 'because it kills'],
])('%s never runs twice, %s', async (file) => {
  const { code, stdout } = await judge([STEADY, file])
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`never run twice:\n${file}\n$`))
})

test('many failures, or an error outside of the tests, get no second run', async () => {
  const six = ['csv', 'docreg', 'kept-list', 'progress', 'registry', 'report']
  const many = await judge(six.map((name) => `test/apps/docreg/${name}.test.ts`))
  expect(many).toMatchObject({ code: 1, stdout: expect.stringContaining('more than 5 files') })
  const outside = await judge([], 0, 7)
  expect(outside).toMatchObject({
    code: 7,
    stdout: expect.stringContaining('outside of the tests'),
  })
})
