// Writes the ABI of the built registry to a file for programs in any language. The file is
// committed; CI checks that it is current.
import { readFileSync, writeFileSync } from 'node:fs'

const artifact = new URL(
  '../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
  import.meta.url,
)
const file = new URL('../deployments/DocumentRegistry.abi.json', import.meta.url)

const { abi } = JSON.parse(readFileSync(artifact, 'utf8'))
writeFileSync(file, `${JSON.stringify(abi, null, 2)}\n`)
