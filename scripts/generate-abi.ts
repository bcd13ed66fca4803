// Writes the registry's ABI, as built, as a file for programs in any language. Committed, and
// checked for freshness in CI.
import { readFileSync, writeFileSync } from 'node:fs'

const artifact = new URL(
  '../artifacts/contracts/DocumentRegistry.sol/DocumentRegistry.json',
  import.meta.url,
)
const file = new URL('../deployments/DocumentRegistry.abi.json', import.meta.url)

const { abi } = JSON.parse(readFileSync(artifact, 'utf8'))
writeFileSync(file, `${JSON.stringify(abi, null, 2)}\n`)
