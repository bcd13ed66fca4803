// The set-up: installs the dependencies and builds contracts and page, unless that has been done
// for exactly these files. It runs on Node 20 and needs only npm; everything after it runs on the
// pinned Node of node_modules. scripts/run.mjs calls it before every command.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const at = (...parts) => join(root, ...parts)
const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8'))
/** The folder of the pinned Node and the tools. */
export const binaries = at('node_modules', '.bin')

export function setUp() {
  if (major(process.versions.node) < 20) fail('Node 20 or newer is required')
  const dependencies = digest(['package-lock.json'])
  step('node_modules', dependencies, hasNatives, install)
  const contracts = [...files('contracts'), 'hardhat.config.ts']
  step('artifacts', digest([...contracts, 'package-lock.json']), hasArtifact, build)
  const pages = [
    'apps/page',
    'modules/desk/page',
    'packages/client',
    'packages/document',
    'packages/table',
    'packages/verifier',
  ].flatMap(files)
  step(
    'dist',
    digest([
      ...pages,
      'modules/desk/page.ts',
      'gateway/http/pages/verify-page.ts',
      'scripts/build-desk.ts',
      'scripts/build-page.ts',
      'scripts/page.ts',
      'package-lock.json',
    ]),
    () => existsSync(at('dist/verify.html')) && existsSync(at('dist/desk-reader.js')),
    buildPages,
  )
}

/** Does the work unless the stamp in its folder is the digest of its current inputs. */
function step(folder, wanted, isWhole, work) {
  const stamp = at(folder, '.bootstrap')
  const done = existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && isWhole()
  if (done) return
  work()
  if (!isWhole()) fail(`${folder} is incomplete after the set-up`)
  mkdirSync(at(folder), { recursive: true })
  writeFileSync(stamp, wanted)
}

/**
 * Runs under the pinned Node, because npm under an older Node omits native binaries for newer ones.
 */
function install() {
  console.error('set-up: installing dependencies …')
  run('npx', [
    '--yes',
    '--package',
    `node@${manifest.devDependencies.node}`,
    '--',
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--loglevel=error',
  ])
}

function build() {
  console.error('set-up: building the contracts …')
  run('hardhat', ['build', '--no-tests', '--quiet'])
}

function buildPages() {
  console.error('set-up: building the verify page and the desk …')
  run('node', ['scripts/build-page.ts'])
  run('node', ['scripts/build-desk.ts'])
}

function hasNatives() {
  const node = spawnSync(join(binaries, 'node'), ['--version'])
  if (node.stdout?.toString().trim() !== `v${manifest.devDependencies.node}`) return false
  const require = createRequire(at('package.json'))
  const lock = JSON.parse(readFileSync(at('package-lock.json'), 'utf8'))
  const forThisMachine = ['@nomicfoundation/edr', '@foundry-rs/anvil'].map((name) => {
    const all = lock.packages[`node_modules/${name}`]
    return Object.keys(all.optionalDependencies ?? all.dependencies)
  })
  return forThisMachine.every((names) =>
    names.some((name) => resolves(require, `${name}/package.json`)),
  )
}

function hasArtifact() {
  return existsSync(at('artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json'))
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    // Standard output belongs to the command that follows.
    stdio: ['ignore', 2, 2],
    env: { ...process.env, PATH: binaries + delimiter + process.env.PATH },
    shell: process.platform === 'win32',
  })
  if (status !== 0) fail(`${command} ${args.join(' ')}: ${error?.message ?? `exit ${status}`}`)
}

function resolves(require, name) {
  try {
    require.resolve(name)
    return true
  } catch {
    return false
  }
}

function files(folder) {
  return readdirSync(at(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(relative(root, entry.parentPath ?? entry.path), entry.name))
}

function digest(names) {
  const hash = createHash('sha256')
  for (const name of names.sort()) hash.update(name).update(readFileSync(at(name)))
  return hash.digest('hex')
}

function major(version) {
  return Number(version.split('.')[0])
}

function fail(message) {
  console.error(`set-up: ${message}`)
  process.exit(1)
}
