// Measures other projects' registries on the local chain of `npm start`.
import { randomBytes } from 'node:crypto'
import { hexlify, JsonRpcProvider, NonceManager, Wallet } from 'ethers'
import { startInstantChain } from '../chain.ts'
import { inFolder } from '../measure.ts'
import { type Limits, metered } from '../processes.ts'
import { quantile } from '../quantile.ts'
import { type Columns, tenths, whole } from '../report.ts'
import { openPeer } from './contracts.ts'
import { fetchPublished, PEERS, type PeerName } from './peers.ts'

const RECEIPT_TIMEOUT_MS = 20_000

/**
 * A row of the table of peers. `size` is that of a request, and `clients` send one at a time. Times
 * are per request; gas, and microseconds of the client (with the chain's front) and of Anvil, are
 * per document.
 */
type Measured = Awaited<ReturnType<typeof measurePeer>>
type PeerRow = Measured & { /** This gateway's throughput ÷ the peer's. */ gatewayToIt: number }

export const PEER_COLUMNS: Columns<PeerRow> = {
  case: ({ name }) => name,
  'documents a request': ({ size }) => whole(size),
  clients: ({ clients }) => whole(clients),
  documents: ({ documents }) => whole(documents),
  failed: ({ failures }) => whole(failures),
  'documents a second': ({ perSecond }) => whole(perSecond),
  'gateway ÷ it': ({ gatewayToIt }) => tenths(gatewayToIt),
  'p50 ms': ({ p50 }) => tenths(p50),
  'p99 ms': ({ p99 }) => tenths(p99),
  'gas a document': ({ gas }) => whole(gas),
  'client µs': ({ clientCpu }) => whole(clientCpu),
  'Anvil µs': ({ anvilCpu }) => whole(anvilCpu),
}

/**
 * The transactions in flight for peers that send many documents in each, which is the same as the
 * gateway's.
 */
const BATCHES = 8

/**
 * @param clients Concurrent requests for peers that send one document in each.
 * @param gateway This gateway's documents per second, by number of connections.
 */
export async function measurePeers(
  limits: Limits,
  clients: readonly [number, number],
  gateway: (connections: number) => number,
  tell: (row: PeerRow) => void,
): Promise<PeerRow[]> {
  const rows: PeerRow[] = []
  for (const peer of Object.keys(PEERS) as PeerName[]) {
    const { of, size } = PEERS[peer]
    try {
      await fetchPublished(of)
    } catch (error) {
      console.error(`left out: ${peer}: ${(error as Error).message}`)
      continue
    }
    const [one, many] = clients
    for (const at of size === 1 ? [one, many] : [1, BATCHES]) {
      const row = await measurePeer(limits, peer, at)
      // Compares one client that sends many documents with many clients that send one.
      const ours = gateway(size === 1 ? at : many)
      const compared = { ...row, gatewayToIt: ours / row.perSecond }
      rows.push(compared)
      tell(compared)
    }
  }
  return rows
}

/** @param clients Each sends one request at a time, and waits for its receipt. */
const measurePeer = (
  { documents: most, seconds: limit }: Limits,
  peer: PeerName,
  clients: number,
) =>
  inFolder(async (dataDir) => {
    const { of, size } = PEERS[peer]
    const chain = await startInstantChain(dataDir)
    // This is the better setting for each peer: ethers gathers calls for 10 ms, which helps only
    // with many clients.
    const options = clients === 1 ? { batchMaxCount: 1 } : {}
    const provider = new JsonRpcProvider(chain.url, undefined, options)
    const latencies: number[] = []
    let [sent, gas, failures] = [0, 0, 0]
    try {
      // Otherwise ethers uses one nonce for all transactions within a quarter of a second.
      const signer = new NonceManager(new Wallet(chain.issuerKey, provider))
      const send = await openPeer(peer, signer)
      const until = performance.now() + limit * 1000
      const client = async () => {
        while (sent < most && performance.now() < until) {
          sent += size
          const began = performance.now()
          const receipt = await send(Array.from({ length: size }, () => hexlify(randomBytes(32))))
            .then((sent) => sent.wait(1, RECEIPT_TIMEOUT_MS))
            .catch(() => null)
          if (receipt?.status !== 1) failures++
          else {
            latencies.push(performance.now() - began)
            gas += Number(receipt.gasUsed)
          }
        }
      }
      const pids = { client: process.pid, anvil: chain.anvilPid }
      const { seconds, cpu } = await metered(pids, () =>
        Promise.all(Array.from({ length: clients }, client)),
      )
      latencies.sort((a, b) => a - b)
      const documents = latencies.length * size
      return {
        name: `${of.name}, ${peer}`,
        size,
        clients,
        documents,
        failures,
        perSecond: documents / seconds,
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        gas: gas / documents,
        clientCpu: (cpu.client * 1e6) / documents,
        anvilCpu: (cpu.anvil * 1e6) / documents,
      }
    } finally {
      provider.destroy()
      await chain.stop()
    }
  })
