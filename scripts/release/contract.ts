import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBuild } from '#cli/registry/build.ts'

/** Writes what `docreg registry check --release` compares a deployed registry with. */
export async function writeContract(folder: string): Promise<void> {
  const { artifact, input, forwarder, compiler } = await readBuild()
  const { abi, bytecode, deployedBytecode, immutableReferences = {} } = artifact
  const write = (name: string, content: unknown) =>
    writeFileSync(join(folder, name), `${JSON.stringify(content, null, 2)}\n`)
  write('DocumentRegistry.abi.json', abi)
  write('DocumentRegistry.input.json', input)
  const code = { compiler, bytecode, deployedBytecode, immutableReferences, forwarder }
  write('DocumentRegistry.json', code)
}
