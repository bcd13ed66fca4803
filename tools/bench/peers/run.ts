// Measures other projects' registries on the local chain of `npm start`, with the calls of their
// SDKs: one contract call per request, waiting for its receipt.
//
//   node tools/bench/peers/run.ts '{"peer", "clients", "dataDir", "documents", "seconds"}'
//
// It prints a `PeerResult` as JSON.
import { randomBytes } from 'node:crypto'
import {
  type BaseContract,
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
import { attestationOf, deployEas } from './eas.ts'
import { deployDocumentStore } from './open-attestation.ts'
import { PEERS, type PeerName } from './peers.ts'

export type PeerOptions = {
  peer: PeerName
  /** Each sends one request at a time. */
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

/** Timeout for a receipt; milliseconds. */
const PATIENCE = 20_000

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
      .then((sent) => sent.wait(1, PATIENCE))
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
// The better setting for each peer: ethers gathers calls for 10 ms, which helps only with many
// clients.
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
