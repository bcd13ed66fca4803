import { inFolder, type Limits } from '../measure.ts'
import { runScript } from '../processes.ts'
import { PEERS, type PeerName } from './peers.ts'
import { fetchPublished } from './published.ts'
import type { PeerOptions, PeerResult } from './run.ts'

/** A row of the table of peers. Times are per request, processor time is per document. */
export type PeerRow = {
  name: string
  /** The number of documents per request, and of concurrent requests. */
  size: number
  clients: number
  documents: number
  failures: number
  perSecond: number
  /** This gateway's throughput ÷ the peer's. */
  gatewayToIt: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** The average for each document. */
  gas: number
  /** The microseconds of the client (with the local chain's front) and of Anvil. */
  clientCpu: number
  anvilCpu?: number
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
      rows.push({ ...row, gatewayToIt: ours / row.perSecond })
      tell(rows.at(-1) as PeerRow)
    }
  }
  return rows
}

async function measurePeer(
  limits: Limits,
  peer: PeerName,
  clients: number,
): Promise<Omit<PeerRow, 'gatewayToIt'>> {
  const { of, size } = PEERS[peer]
  const options = { peer, clients, ...limits }
  const { documents, seconds, clientCpu, anvilCpu, ...rest } = await inFolder((dataDir) =>
    runScript<PeerResult>('tools/bench/peers/run.ts', {
      ...options,
      dataDir,
    } satisfies PeerOptions),
  )
  const each = (cpu: number) => (cpu * 1e6) / documents
  return {
    name: `${of.name}, ${peer}`,
    size,
    clients,
    documents,
    perSecond: documents / seconds,
    clientCpu: each(clientCpu),
    ...(anvilCpu !== undefined && { anvilCpu: each(anvilCpu) }),
    ...rest,
  }
}
