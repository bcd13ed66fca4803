import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { root } from '../docs/markdown.ts'
import { run } from '../support/docreg.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'prove-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command where nothing else is installed. */
const prove = () =>
  run(process.execPath, [join(root, 'tools/prove.ts')], { env: { PATH: folder }, cwd: root })

function install(name: string, body: string): void {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, 0o755)
}

test('fails without its tools, and names each', async () => {
  const { code, stdout, stderr } = await prove()
  expect(stdout).toBe('')
  expect(stderr).toContain('nothing is proved: halmos is not installed (pip install halmos==')
  expect(code).toBe(1)
})

test('fails without a solver, where halmos and forge are installed', async () => {
  install('forge', 'exit 0')
  // What Halmos 0.3.3 printed where its solver was deleted.
  const lines = [
    "ERROR    encountered exception during assertion solving: RuntimeError('Download ",
    "         not allowed (configure HALMOS_ALLOW_DOWNLOAD=1 to bypass)')            ",
    '[ERROR] check_recordOf() (paths: 1, time: 0.19s, bounds: [])',
  ]
  install('halmos', `[ "$1" = --version ] || echo "${lines.join('\n')}"`)
  const { code, stdout, stderr } = await prove()
  expect(stdout).toBe('')
  expect(stderr).toContain('Download')
  expect(stderr).toContain('nothing is proved: halmos or its solver did not answer')
  expect(code).toBe(1)
})
