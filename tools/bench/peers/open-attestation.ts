import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileFunction } from 'node:vm'
import * as ethers from 'ethers'
import { OPEN_ATTESTATION } from './peers.ts'
import { fetchPublished } from './published.ts'

const FACTORY = 'dist/contracts/factories/contracts/DocumentStore__factory.js'

/**
 * A document store of OpenAttestation, deployed and connected by its package's class.
 *
 * @returns Its contract, with `issue(bytes32)` and `bulkIssue(bytes32[])`.
 */
export async function deployDocumentStore(owner: ethers.Signer): Promise<ethers.BaseContract> {
  const source = readFileSync(join(await fetchPublished(OPEN_ATTESTATION), FACTORY), 'utf8')
  const exported: {
    DocumentStore__factory?: new (signer: ethers.Signer) => ethers.ContractFactory
  } = {}
  compileFunction(source, ['exports', 'require'])(exported, () => ethers)
  const Factory = exported.DocumentStore__factory
  if (!Factory) throw new Error(`${FACTORY} is not the expected contract`)
  const store = await new Factory(owner).deploy('Benchmark', await owner.getAddress())
  return store.waitForDeployment()
}
