import type { Hex } from '../../../document/hex.ts'
import { registryAbi } from '../../../gateway/registry-abi.ts'
import { parseRegistry } from '../../../verifier/readers/chain.ts'
import { RELEASED, SUSPENDED } from '../../../verifier/reasons.ts'

const CHUNK = 500
/** Test worlds have one issuer. */
const ISSUER_ID = 1

type Request = <T>(method: string, ...params: unknown[]) => Promise<T>

type Log = {
  topics: [Hex, Hex]
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
}

/** The state of the chain, read directly from the node. */
export type Ledger = {
  /** The documentHash of every `DocumentIssued` event, duplicates included. */
  issued(): Promise<Hex[]>
  /** Which of these have a record. */
  recorded(documentHashes: readonly Hex[]): Promise<Set<Hex>>
  /** Which of these are revoked permanently by their record, at this block or before. */
  revoked(documentHashes: readonly Hex[], upTo?: number): Promise<Set<Hex>>
  /** Which of these are suspended by their record, at this block or before. */
  suspended(documentHashes: readonly Hex[], upTo?: number): Promise<Set<Hex>>
  /** The root of every `BatchIssued` event, duplicates included. */
  batches(): Promise<Hex[]>
}

export function readLedger(request: Request, registry: string): Ledger {
  const { address } = parseRegistry(registry)
  /**
   * After a reorg a node may still return logs of a dropped block; count a log only if its
   * transaction is in that block.
   */
  async function isOnChain({ blockNumber, ...log }: Log): Promise<boolean> {
    const [block, receipt] = await Promise.all([
      request<{ hash: Hex } | null>('eth_getBlockByNumber', blockNumber, false),
      request<{ blockHash: Hex } | null>('eth_getTransactionReceipt', log.transactionHash),
    ])
    return block?.hash === log.blockHash && receipt?.blockHash === log.blockHash
  }

  async function which(
    documentHashes: readonly Hex[],
    is: (record: { anchoredBlock: bigint; revokedBlock: bigint; reason: bigint }) => boolean,
  ): Promise<Set<Hex>> {
    const found = new Set<Hex>()
    for (let i = 0; i < documentHashes.length; i += CHUNK) {
      const hashes = documentHashes.slice(i, i + CHUNK)
      const data = registryAbi.encodeFunctionData('recordsOf', [ISSUER_ID, hashes])
      const result = await request<Hex>('eth_call', { to: address, data }, 'latest')
      const [records] = registryAbi.decodeFunctionResult('recordsOf', result)
      hashes.forEach((hash, j) => {
        if (is(records[j])) found.add(hash)
      })
    }
    return found
  }

  /** @returns The hash that each event names, duplicates included. */
  async function namedBy(event: 'DocumentIssued' | 'BatchIssued'): Promise<Hex[]> {
    const logs = await request<Log[]>('eth_getLogs', {
      address,
      fromBlock: '0x0',
      toBlock: 'latest',
      topics: [registryAbi.getEvent(event)?.topicHash],
    })
    const seen = logs.map(({ topics }) => topics[1])
    const counted: Hex[] = []
    for (const [i, hash] of seen.entries()) {
      const repeated = seen.indexOf(hash) !== seen.lastIndexOf(hash)
      const log = logs[i]
      if (!repeated || (log && (await isOnChain(log)))) counted.push(hash)
    }
    return counted
  }

  return {
    issued: () => namedBy('DocumentIssued'),
    batches: () => namedBy('BatchIssued'),
    recorded: (hashes) => which(hashes, ({ anchoredBlock }) => anchoredBlock !== 0n),
    revoked: (hashes, upTo = Number.POSITIVE_INFINITY) =>
      which(hashes, ({ revokedBlock, reason }) => {
        const isFinal = Number(reason) !== SUSPENDED && Number(reason) !== RELEASED
        return revokedBlock !== 0n && isFinal && revokedBlock <= upTo
      }),
    suspended: (hashes, upTo = Number.POSITIVE_INFINITY) =>
      which(
        hashes,
        ({ revokedBlock, reason }) =>
          revokedBlock !== 0n && Number(reason) === SUSPENDED && revokedBlock <= upTo,
      ),
  }
}
