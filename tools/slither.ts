/**
 * Static analysis of the contract with Slither: `pip install slither-analyzer==0.11.6`, then `node
 * scripts/run.mjs tools/slither.ts`. Slither cannot read Hardhat 3's build info, so it gets solc's
 * standard JSON and npm's compiler. A finding that `ANSWERS` does not have fails the command.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import hre from 'hardhat'
import { writeSolc } from '#scripts/solc.ts'

/** Why each finding is no fault, by its detector. */
const ANSWERS: Record<string, { where: readonly string[]; answer: string }> = {
  'incorrect-equality': {
    where: ['_stamp', '_verification'],
    answer:
      'Block 0 is refused because 0 means "never"; a status is one of seven. No funds can move either',
  },
  'calls-loop': {
    where: ['_blockNumber'],
    answer: 'On Arbitrum only, in a view, to a precompile that always answers',
  },
  timestamp: {
    where: ['acceptProposal', '_status', '_grantRole', '_verification', '_stamp'],
    answer:
      'Seconds do not matter to a delay of a day or an expiry to the day. The last three compare no time, except that it fits 40 bits',
  },
  assembly: {
    where: ['_storage'],
    answer: 'Places the struct at its ERC-7201 position; the layout is tested',
  },
  'low-level-calls': {
    where: ['constructor'],
    answer:
      'A `staticcall` to ArbSys, so that anything else there gives our error. Success and length are checked',
  },
  'naming-convention': {
    where: ['ON_ARBITRUM', 'PROPOSAL_DELAY', 'FORWARDER', 'ISSUER_ROLE', 'MAX_LIST'],
    answer: 'Immutables are written like constants; the others name constants, as in OpenZeppelin',
  },
}

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = `${root}cache/slither`

/** @returns A source and all sources that it imports, by their paths on disk. */
function sources(
  path: string,
  found: Record<string, { content: string }> = {},
): Record<string, { content: string }> {
  if (path in found) return found
  const content = readFileSync(root + path, 'utf8')
  found[path] = { content }
  for (const [, name = ''] of content.matchAll(/^(?:import|\}).*from "(.+)";$/gm)) {
    const next = name.startsWith('@')
      ? `node_modules/${name}`
      : new URL(name, `file:///${path}`).pathname.slice(1)
    sources(next, found)
  }
  return found
}

const compiler = hre.config.solidity.profiles.default?.compilers[0]
mkdirSync(directory, { recursive: true })
writeFileSync(
  `${directory}/input.json`,
  JSON.stringify({
    language: 'Solidity',
    sources: sources('contracts/DocumentRegistry.sol'),
    settings: {
      ...compiler?.settings,
      remappings: ['@openzeppelin/=node_modules/@openzeppelin/'],
      outputSelection: {
        '*': {
          '*': [
            'abi',
            'evm.bytecode',
            'evm.deployedBytecode',
            'evm.methodIdentifiers',
            'userdoc',
            'devdoc',
          ],
          '': ['ast'],
        },
      },
    },
  }),
)
const findings = `${directory}/findings.json`
rmSync(findings, { force: true })
const { error } = spawnSync(
  'slither',
  [
    'cache/slither/input.json',
    '--compile-force-framework',
    'Solc-json',
    '--solc',
    writeSolc(directory),
    '--filter-paths',
    'node_modules',
    '--json',
    findings,
  ],
  { cwd: root, stdio: 'inherit' },
)
if (error !== undefined) throw error

interface Finding {
  readonly check: string
  readonly elements: readonly { readonly name: string }[]
}
const { results } = JSON.parse(readFileSync(findings, 'utf8')) as {
  results: { detectors?: readonly Finding[] }
}
for (const { check, elements } of results.detectors ?? []) {
  const name = elements[0]?.name ?? ''
  if (ANSWERS[check]?.where.includes(name)) continue
  console.error(`no answer to ${check} in ${name}`)
  process.exitCode = 1
}
