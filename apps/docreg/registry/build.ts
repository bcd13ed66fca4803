/** The registry as this commit builds it. */
import { readFileSync } from 'node:fs'
import hre from 'hardhat'
import type { ImmutableReferences } from './immutables.ts'

interface DeployedCode {
  readonly code: string
  readonly immutables: ImmutableReferences
}

type Output = {
  evm: { deployedBytecode: { object: string; immutableReferences: ImmutableReferences } }
}
/** The contracts by file and name. */
type Contracts = Record<string, Record<string, Output>>

/**
 * Builds the contracts. @returns The registry's artifact, its forwarder's code, and the compiler
 * with its standard JSON input.
 */
export async function readBuild() {
  await hre.tasks.getTask('build').run({ quiet: true, noTests: true })
  const artifact = await hre.artifacts.readArtifact('DocumentRegistry')
  const name = 'contracts/DocumentRegistry.sol:DocumentRegistry'
  const id = await hre.artifacts.getBuildInfoId(name)
  if (id === undefined) throw new Error('the build has no build info')
  const read = (path: string | undefined): unknown => {
    if (path === undefined) throw new Error('the build has no build info')
    return JSON.parse(readFileSync(path, 'utf8'))
  }
  const { input, solcLongVersion: compiler } = read(await hre.artifacts.getBuildInfoPath(id)) as {
    input: unknown
    solcLongVersion: string
  }
  const { output } = read(await hre.artifacts.getBuildInfoOutputPath(id)) as {
    output: { contracts: Contracts }
  }
  return { artifact, input, compiler, forwarder: deployedCode(output.contracts) }
}

function deployedCode(contracts: Contracts): DeployedCode {
  for (const names of Object.values(contracts)) {
    const code = names.ERC2771Forwarder?.evm.deployedBytecode
    if (code !== undefined)
      return { code: `0x${code.object}`, immutables: code.immutableReferences }
  }
  throw new Error('the build does not contain ERC2771Forwarder')
}
