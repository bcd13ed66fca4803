/**
 * Measures line and statement coverage of the contract by its Solidity tests, and fails when a line
 * is not covered. Hardhat does not measure branches; `tools/mutants.ts` does.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const hardhat = join(
  dirname(createRequire(import.meta.url).resolve('hardhat/package.json')),
  'dist/src/cli.js',
)
const run = (...args: string[]) =>
  spawnSync(process.execPath, [hardhat, ...args], {
    cwd: root,
    encoding: 'utf8',
  })

/** @returns `file:line` of every line that no test runs. */
function missedLines(): string[] {
  const report = readFileSync(join(root, 'coverage/lcov.info'), 'utf8')
  const parts = report.split('end_of_record').filter((part) => part.trim())
  return parts.flatMap((part) => {
    const file = /^SF:(.*)$/m.exec(part)?.[1] ?? ''
    return [...part.matchAll(/^DA:(\d+),0$/gm)].map((m) => `${file}:${m[1]}`)
  })
}

const { status, stdout, stderr } = run('test', 'solidity', '--coverage')
console.log(status === 0 ? stdout.slice(stdout.indexOf('Saved')) : stdout + stderr)
// The run left instrumented code in artifacts.
const build = run('build', '--no-tests')
if (build.status !== 0) console.error(build.stderr)
const missed = status === 0 ? missedLines() : []
if (missed.length > 0) console.error(`No test reaches ${missed.join(', ')}`)
else if (status === 0) console.log('Every line is covered.')
if (status !== 0 || build.status !== 0 || missed.length > 0) process.exitCode = 1
