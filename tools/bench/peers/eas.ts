import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BaseContract, type Contract, ContractFactory, type Signer } from 'ethers'
import { EAS } from './peers.ts'
import { fetchPublished } from './published.ts'

const NOBODY = `0x${'00'.repeat(20)}`
const NOTHING = `0x${'00'.repeat(32)}`

export type Eas = {
  contract: BaseContract
  /** The uid of a schema with one field, `bytes32 documentHash`. */
  schema: string
}

/** The Ethereum Attestation Service, with a schema for documents. */
export async function deployEas(signer: Signer): Promise<Eas> {
  const files = await fetchPublished(EAS)
  const deploy = async (name: string, ...args: unknown[]) => {
    const file = join(files, `artifacts/contracts/${name}.sol/${name}.json`)
    const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8'))
    const contract = await new ContractFactory(abi, bytecode, signer).deploy(...args)
    return contract.waitForDeployment()
  }
  const registry = await deploy('SchemaRegistry')
  const contract = await deploy('EAS', await registry.getAddress())
  const { register } = registry as Contract
  const registered = await register?.('bytes32 documentHash', NOBODY, true)
  const receipt = await registered.wait()
  // Registered(bytes32 indexed uid, address indexed registerer, SchemaRecord schema)
  return { contract, schema: receipt.logs[0].topics[1] }
}

/** The SDK's defaults for a request with only a hash. */
export const attestationOf = (hash: string) => ({
  recipient: NOBODY,
  expirationTime: 0n,
  revocable: true,
  refUID: NOTHING,
  data: hash,
  value: 0n,
})
