import { Interface } from 'ethers'
import type { Hex } from '../../../document/hex.ts'
import { parseRegistry } from '../../../verifier/readers/chain.ts'
import { registryAbi } from '../../../verifier/readers/registry-abi.ts'

const abi = new Interface(registryAbi)
const CHUNK = 500

type Request = <T>(method: string, ...params: unknown[]) => Promise<T>

/** What the chain itself shows, asked past gateway and proxy. */
export type Ledger = {
  /** The documentHash of every `DocumentIssued` event, repeats included. */
  issued(): Promise<Hex[]>
  /** Which of these have a record. */
  recorded(documentHashes: readonly Hex[]): Promise<Set<Hex>>
}

export function readLedger(request: Request, registry: string): Ledger {
  const { address } = parseRegistry(registry)
  const topic = abi.getEvent('DocumentIssued')?.topicHash
  return {
    async issued() {
      const logs = await request<{ topics: [Hex, Hex] }[]>('eth_getLogs', {
        address,
        fromBlock: '0x0',
        toBlock: 'latest',
        topics: [topic],
      })
      return logs.map(({ topics }) => topics[1])
    },
    async recorded(documentHashes) {
      const found = new Set<Hex>()
      for (let i = 0; i < documentHashes.length; i += CHUNK) {
        const hashes = documentHashes.slice(i, i + CHUNK)
        const data = abi.encodeFunctionData('recordsOf', [hashes])
        const result = await request<Hex>(
          'eth_call',
          { to: address, data },
          'latest',
        )
        const [records] = abi.decodeFunctionResult('recordsOf', result)
        hashes.forEach((hash, j) => {
          if (records[j].issuerId !== 0n) found.add(hash)
        })
      }
      return found
    },
  }
}
