/**
 * Line and statement coverage of the contract by its Solidity tests; fails below 100 %. Hardhat measures no branches:
 * `npm run mutants` does.
 */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const hardhat = join(
  dirname(createRequire(import.meta.url).resolve('hardhat/package.json')),
  'dist/src/cli.js',
)
const run = (...args: string[]) =>
  spawnSync(process.execPath, [hardhat, ...args], { encoding: 'utf8' })

const { status, stdout, stderr } = run('test', 'solidity', '--coverage')
console.log(
  status === 0 ? stdout.slice(stdout.indexOf('Saved')) : stdout + stderr,
)
// The run left instrumented code in artifacts.
const build = run('build', '--no-tests')
if (build.status !== 0) console.error(build.stderr)
if (
  status !== 0 ||
  build.status !== 0 ||
  !/Total +│ 100\.00 +│ 100\.00/.test(stdout)
)
  process.exitCode = 1
