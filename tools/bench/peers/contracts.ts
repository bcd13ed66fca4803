// The contracts of other projects, with the calls of their SDKs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileFunction } from 'node:vm'
import * as ethers from 'ethers'
import {
  type BaseContract,
  type Contract,
  ContractFactory,
  type ContractTransactionResponse,
  type Signer,
} from 'ethers'
import { EAS, fetchPublished, OPEN_ATTESTATION, type PeerName } from './peers.ts'

/** Sends hashes in one request. */
export type Send = (hashes: string[]) => Promise<ContractTransactionResponse>

/** @returns A call of a contract, as the SDK of EAS makes it: first the transaction, then a signer. */
const viaSigner =
  (signer: Signer, contract: BaseContract, name: string) =>
  async (...args: unknown[]) => {
    const made = await contract.getFunction(name).populateTransaction(...args)
    return signer.sendTransaction(made) as Promise<ContractTransactionResponse>
  }

const NOBODY = `0x${'00'.repeat(20)}`
const NOTHING = `0x${'00'.repeat(32)}`

/**
 * The Ethereum Attestation Service, and the uid of a schema with one field, `bytes32 documentHash`.
 */
async function deployEas(signer: Signer): Promise<{ contract: BaseContract; schema: string }> {
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
const attestationOf = (hash: string) => ({
  recipient: NOBODY,
  expirationTime: 0n,
  revocable: true,
  refUID: NOTHING,
  data: hash,
  value: 0n,
})

const FACTORY = 'dist/contracts/factories/contracts/DocumentStore__factory.js'

/**
 * A document store of OpenAttestation, deployed and connected by its package's class.
 *
 * @returns Its contract, with `issue(bytes32)` and `bulkIssue(bytes32[])`.
 */
async function deployDocumentStore(owner: Signer): Promise<BaseContract> {
  const source = readFileSync(join(await fetchPublished(OPEN_ATTESTATION), FACTORY), 'utf8')
  const exported: { DocumentStore__factory?: new (signer: Signer) => ContractFactory } = {}
  compileFunction(source, ['exports', 'require'])(exported, () => ethers)
  const Factory = exported.DocumentStore__factory
  if (!Factory) throw new Error(`${FACTORY} is not the expected contract`)
  const store = await new Factory(owner).deploy('Benchmark', await owner.getAddress())
  return store.waitForDeployment()
}

export async function openPeer(peer: PeerName, signer: Signer): Promise<Send> {
  if (peer === 'issue' || peer === 'bulkIssue') {
    const call = (await deployDocumentStore(signer)).getFunction(peer)
    const argumentOf = (hashes: string[]) => (peer === 'issue' ? hashes[0] : hashes)
    return (hashes) => call(argumentOf(hashes)) as Promise<ContractTransactionResponse>
  }
  const { contract, schema } = await deployEas(signer)
  const call = viaSigner(signer, contract, peer)
  switch (peer) {
    case 'attest':
      return ([hash = '']) => call({ schema, data: attestationOf(hash) })
    case 'multiAttest':
      return (hashes) => call([{ schema, data: hashes.map(attestationOf) }])
    case 'timestamp':
      return ([hash]) => call(hash)
    case 'multiTimestamp':
      return (hashes) => call(hashes)
  }
}
