// Makes everything that is published, dist/release, from the commit that is checked out. It builds
// in a clean clone, so that nothing of this checkout gets into it. Needs git, npm and Node 20.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const out = join(root, 'dist', 'release')

try {
  if (run('git', ['status', '--porcelain'], root) !== '')
    throw new Error('commit the changes of this checkout first: a release is made from a commit')
  const clone = mkdtempSync(join(tmpdir(), 'document-registry-release-'))
  try {
    makeIn(clone)
  } finally {
    rmSync(clone, { recursive: true, force: true })
  }
} catch (error) {
  console.error(`release: ${error.message}`)
  process.exitCode = 1
}

function makeIn(clone) {
  const commit = run('git', ['rev-parse', 'HEAD'], root)
  run('git', ['clone', '--quiet', '--no-hardlinks', root, clone], root)
  run('git', ['checkout', '--quiet', '--detach', commit], clone)
  // No half release stays, nor one of another commit.
  rmSync(out, { recursive: true, force: true })
  const made = join(clone, 'dist', 'release')
  const list = run('node', ['scripts/run.mjs', 'scripts/release/make.ts', made], clone)
  cpSync(made, out, { recursive: true })
  console.log(`${list}\n\nSee CONTRIBUTING.md, "A release".`)
}

/** @returns The output, without spaces at its end. */
function run(command, args, cwd) {
  const ran = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (ran.status !== 0)
    throw new Error(`${command} ${args[0]} failed${ran.error ? `: ${ran.error.message}` : ''}`)
  return ran.stdout.trimEnd()
}
