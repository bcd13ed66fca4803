/** Runs the project's Solidity tests against a mutated registry, in a separate folder. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHardhatRuntimeEnvironment } from 'hardhat/hre'
import project from '../../hardhat.config.ts'
import { compile } from './compile.ts'

const root = join(import.meta.dirname, '../..')
const REGISTRY = 'contracts/DocumentRegistry.sol'
/** IR and optimizer are off, because they would take most of the time. */
const SETTINGS = { evmVersion: 'cancun', optimizer: { enabled: false } }

const SLOW = 'test_TheWalkReachesEverything|testFuzz_TheEventsSuffice'
/** All tests, the quick ones first. */
const STAGES: readonly Selection[] = [
  { grep: '^test_', grepExclude: SLOW },
  { grep: '^testFuzz_', grepExclude: SLOW },
  { grep: `^invariant_|${SLOW}` },
]

interface Selection {
  readonly grep?: string
  readonly grepExclude?: string
}
interface Result {
  readonly name: string
  readonly failed: boolean
}
/**
 * The part of the Hardhat task's result that is used here; the same whether tests failed or not.
 */
interface Run {
  readonly value?: { readonly suiteResults: readonly Suite[] }
  readonly error?: { readonly suiteResults: readonly Suite[] }
}
interface Suite {
  readonly id: { readonly name: string }
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
  }[]
}

/** @param folder A folder below `cache/mutants` for the build. */
async function openFolder(folder: string) {
  const [compiler] = (project.solidity as unknown as { compilers: readonly object[] }).compilers
  const { overrides } = project.solidity as unknown as { overrides: object }
  const { fuzz, invariant } = (
    project.test as unknown as {
      solidity: {
        profiles: { default: { fuzz: object; invariant: object } }
      }
    }
  ).solidity.profiles.default
  return createHardhatRuntimeEnvironment(
    {
      paths: {
        ...project.paths,
        artifacts: join(folder, 'artifacts'),
        cache: join(folder, 'cache'),
      },
      solidity: {
        compilers: [{ ...compiler, settings: SETTINGS }] as never,
        overrides: overrides as never,
      },
      // Shrinking only makes the report of a failure shorter.
      test: {
        solidity: { fuzz, invariant: { ...invariant, shrinkRunLimit: 0 } },
      },
    },
    {},
    root,
  )
}

/** Builds contracts and tests once; a later run rebuilds only changes. */
export async function build(folder: string): Promise<void> {
  const hre = await openFolder(folder)
  await hre.tasks.getTask('build').run({ quiet: true })
}

/** @param built The folder of {@link build}; it is not modified. */
export async function openSuite(built: string, folder: string) {
  rmSync(folder, { recursive: true, force: true })
  cpSync(built, folder, { recursive: true })
  // Only traces need these files, and they are most of what a run would read.
  rmSync(join(folder, 'artifacts/build-info'), { recursive: true })
  const hre = await openFolder(folder)
  const path = join(folder, 'artifacts', REGISTRY, 'DocumentRegistry.json')
  const artifact = JSON.parse(readFileSync(path, 'utf8')) as object

  async function run(selection: Selection): Promise<Result[]> {
    const task = hre.tasks.getTask(['test', 'solidity'])
    const { value, error } = (await task.run({
      noCompile: true,
      ...selection,
    })) as Run
    const suites = value?.suiteResults ?? error?.suiteResults ?? []
    const results = suites.flatMap(({ id, testResults }) =>
      testResults.map(({ name, status }) => ({
        name: `${id.name}.${name.replace(/\(.*/, '')}`,
        failed: status === 'Failure',
      })),
    )
    if (error !== undefined && !results.some(({ failed }) => failed))
      throw new Error('the tests could not run')
    return results
  }

  return {
    /** @returns `false` when the code does not compile. */
    deploy(changed: Readonly<Record<string, string>>): boolean {
      const { contracts, errors = [] } = compile(REGISTRY, changed, {
        ...SETTINGS,
        outputSelection: {
          [REGISTRY]: {
            DocumentRegistry: ['evm.bytecode.object', 'evm.deployedBytecode.object'],
          },
        },
      })
      const evm = contracts?.[REGISTRY]?.DocumentRegistry?.evm
      if (errors.some(({ severity }) => severity === 'error') || !evm) return false
      const changedArtifact = {
        ...artifact,
        bytecode: `0x${evm.bytecode.object}`,
        deployedBytecode: `0x${evm.deployedBytecode.object}`,
      }
      writeFileSync(path, JSON.stringify(changedArtifact))
      return true
    },
    /** @returns The first failing test of the first stage that has one. */
    async firstFailure(stages = STAGES.length): Promise<string | undefined> {
      for (const stage of STAGES.slice(0, stages)) {
        const failure = (await run(stage)).find(({ failed }) => failed)
        if (failure !== undefined) return failure.name
      }
      return undefined
    },
    /** @throws when a test fails without a mutation, or belongs to no stage. */
    async check(): Promise<void> {
      const all = await run({})
      const failure = all.find(({ failed }) => failed)
      if (failure) throw new Error(`${failure.name} fails without a mutation`)
      const staged = new Set<string>()
      for (const stage of STAGES) for (const { name } of await run(stage)) staged.add(name)
      const missing = all.find(({ name }) => !staged.has(name))
      if (missing) throw new Error(`${missing.name} does not belong to a stage`)
    },
  }
}
