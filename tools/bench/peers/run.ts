// Measures other projects' registries on the local chain of `npm start`, with the calls of their
// SDKs: one contract call per request, waiting for its receipt.
//
//   node tools/bench/peers/run.ts '{"peer", "clients", "dataDir", "documents", "seconds"}'
//
// It prints a `PeerResult` as JSON.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileFunction } from 'node:vm'
import * as ethers from 'ethers'
import {
  type BaseContract,
  type Contract,
  ContractFactory,
  type ContractTransactionResponse,
  hexlify,
  JsonRpcProvider,
  NonceManager,
  type Signer,
  Wallet,
} from 'ethers'
import { startInstantChain } from '../chain.ts'
import { usageOf } from '../processes.ts'
import { quantile } from '../quantile.ts'
import { EAS, OPEN_ATTESTATION, PEERS, type PeerName } from './peers.ts'
import { fetchPublished } from './published.ts'

export type PeerOptions = {
  peer: PeerName
  /** The number of clients, each of which sends one request at a time. */
  clients: number
  dataDir: string
  documents: number
  seconds: number
}

export type PeerResult = {
  documents: number
  /** Requests without a successful receipt. */
  failures: number
  seconds: number
  /** Milliseconds per request. */
  p50: number
  p99: number
  /** Gas for each document, on average. */
  gas: number
  /** Processor time in seconds; Anvil's is absent if it cannot be read. */
  clientCpu: number
  anvilCpu?: number
}

const RECEIPT_TIMEOUT_MS = 20_000

type Send = (hashes: string[]) => Promise<ContractTransactionResponse>

const method = (contract: BaseContract, name: string) => {
  const call = contract.getFunction(name)
  return (...args: unknown[]) => call(...args) as Promise<ContractTransactionResponse>
}

/** The SDK of EAS first creates the transaction, then has the signer send it. */
const viaSigner =
  (signer: Signer, contract: BaseContract, name: string) =>
  async (...args: unknown[]) => {
    const made = await contract.getFunction(name).populateTransaction(...args)
    return signer.sendTransaction(made) as Promise<ContractTransactionResponse>
  }

const NOBODY = `0x${'00'.repeat(20)}`
const NOTHING = `0x${'00'.repeat(32)}`

type Eas = {
  contract: BaseContract
  /** The uid of a schema with one field, `bytes32 documentHash`. */
  schema: string
}

/** The Ethereum Attestation Service, with a schema for documents. */
async function deployEas(signer: Signer): Promise<Eas> {
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
async function deployDocumentStore(owner: ethers.Signer): Promise<ethers.BaseContract> {
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

async function open(peer: PeerName, signer: Signer): Promise<Send> {
  if (peer === 'issue' || peer === 'bulkIssue') {
    const call = method(await deployDocumentStore(signer), peer)
    return peer === 'issue' ? ([hash]) => call(hash) : (hashes) => call(hashes)
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

async function measure(
  send: Send,
  size: number,
  { clients, documents, seconds }: PeerOptions,
): Promise<Omit<PeerResult, 'anvilCpu' | 'clientCpu'>> {
  const latencies: number[] = []
  let sent = 0
  let gas = 0
  let failures = 0
  const start = performance.now()
  const until = start + seconds * 1000

  async function request(): Promise<void> {
    const hashes = Array.from({ length: size }, () => hexlify(randomBytes(32)))
    const began = performance.now()
    const receipt = await send(hashes)
      .then((sent) => sent.wait(1, RECEIPT_TIMEOUT_MS))
      .catch(() => null)
    if (receipt?.status !== 1) failures++
    else {
      latencies.push(performance.now() - began)
      gas += Number(receipt.gasUsed)
    }
  }
  async function client(): Promise<void> {
    while (sent < documents && performance.now() < until) {
      sent += size
      await request()
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  latencies.sort((a, b) => a - b)
  return {
    documents: latencies.length * size,
    failures,
    seconds: (performance.now() - start) / 1000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    gas: gas / (latencies.length * size),
  }
}

const options: PeerOptions = JSON.parse(process.argv[2] ?? '{}')
const chain = await startInstantChain(options.dataDir)
// This is the better setting for each peer: ethers gathers calls for 10 ms, which helps only with
// many clients.
const provider = new JsonRpcProvider(
  chain.url,
  undefined,
  options.clients === 1 ? { batchMaxCount: 1 } : {},
)
try {
  // Otherwise ethers uses one nonce for all transactions within a quarter of a second.
  const signer = new NonceManager(new Wallet(chain.issuerKey, provider))
  const send = await open(options.peer, signer)
  const before = usageOf(chain.anvilPid)?.cpu
  const ownBefore = process.cpuUsage()
  const result = await measure(send, PEERS[options.peer].size, options)
  const own = process.cpuUsage(ownBefore)
  const after = usageOf(chain.anvilPid)?.cpu
  const full: PeerResult = {
    ...result,
    clientCpu: (own.user + own.system) / 1e6,
    ...(before !== undefined && after !== undefined && { anvilCpu: after - before }),
  }
  console.log(JSON.stringify(full))
} finally {
  provider.destroy()
  await chain.stop()
}
