import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import { parseRegistry } from '#verifier/readers/chain.ts'
import { RELEASED, SUPERSEDED, SUSPENDED } from '#verifier/reasons.ts'

/**
 * ethers copies the whole answer for each record in it, so that 500 at once took six times as long.
 */
const CHUNK = 32
/** Test worlds have one issuer. */
const ISSUER_ID = 1

type ChainRecord = { anchoredBlock: bigint; revokedBlock: bigint; reason: bigint }

type Request = <T>(method: string, ...params: unknown[]) => Promise<T>

type Log = {
  topics: [Hex, Hex]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  transactionHash: Hex
}

const REVOKED = ['DocumentRevoked', 'DocumentInBatchRevoked', 'BatchRevoked']
const CHANGES = [...REVOKED, 'DocumentReleased', 'DocumentInBatchReleased', 'BatchReleased']

/** The state of the chain, read directly from the node. */
export type Ledger = {
  /** @returns The documentHash of every `DocumentIssued` event, including duplicates. */
  issued(): Promise<Hex[]>
  /** @returns The given documents that have a record. */
  recorded(documentHashes: readonly Hex[]): Promise<Set<Hex>>
  /**
   * @returns The given documents that are permanently revoked in their record, at this block or
   * before.
   */
  revoked(documentHashes: readonly Hex[], upTo?: number): Promise<Set<Hex>>
  /** @returns The given documents that are suspended in their record, at this block or before. */
  suspended(documentHashes: readonly Hex[], upTo?: number): Promise<Set<Hex>>
  /** @returns The root of every `BatchIssued` event, including duplicates. */
  batches(): Promise<Hex[]>
  /** @returns The reasons of the given documents that are permanently revoked in their record. */
  reasons(documentHashes: readonly Hex[]): Promise<Map<Hex, number>>
  /**
   * @returns The events of changes as `kind hash transaction`, where the kind is the last word of
   * the type of a gateway's event, and the hashes of all blocks.
   */
  changes(): Promise<{ logs: string[]; blocks: Set<Hex> }>
}

export function readLedger(request: Request, registry: string): Ledger {
  const { address } = parseRegistry(registry)
  /**
   * After a reorg a node may still return logs of a dropped block, so a log counts only if its
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
    is: (record: ChainRecord) => boolean,
  ): Promise<Set<Hex>> {
    const found = await readRecords(documentHashes)
    return new Set([...found].flatMap(([hash, record]) => (is(record) ? [hash] : [])))
  }

  async function readRecords(documentHashes: readonly Hex[]): Promise<Map<Hex, ChainRecord>> {
    const found = new Map<Hex, ChainRecord>()
    for (let i = 0; i < documentHashes.length; i += CHUNK) {
      const hashes = documentHashes.slice(i, i + CHUNK)
      const data = registryAbi.encodeFunctionData('recordsOf', [ISSUER_ID, hashes])
      const result = await request<Hex>('eth_call', { to: address, data }, 'latest')
      const [records] = registryAbi.decodeFunctionResult('recordsOf', result)
      hashes.forEach((hash, j) => {
        found.set(hash, records[j])
      })
    }
    return found
  }

  const logsOf = (events: readonly string[]) =>
    request<Log[]>('eth_getLogs', {
      address,
      fromBlock: '0x0',
      toBlock: 'latest',
      topics: [events.map((event) => registryAbi.getEvent(event)?.topicHash)],
    })

  /** @returns The hash that each event names, duplicates included. */
  async function namedBy(event: 'DocumentIssued' | 'BatchIssued'): Promise<Hex[]> {
    const logs = await logsOf([event])
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
      which(hashes, (record) => isFinal(record) && record.revokedBlock <= upTo),
    async reasons(hashes) {
      const records = [...(await readRecords(hashes))]
      const final = records.filter(([, record]) => isFinal(record))
      return new Map(final.map(([hash, { reason }]) => [hash, Number(reason)]))
    },
    async changes() {
      const head = Number(await request<Hex>('eth_blockNumber'))
      const blocks = new Set<Hex>()
      for (let number = 0; number <= head; number++) {
        const block = `0x${number.toString(16)}`
        const { hash } = await request<{ hash: Hex }>('eth_getBlockByNumber', block, false)
        blocks.add(hash)
      }
      const logs = await logsOf(CHANGES)
      const kept = logs.filter(({ blockHash }) => blocks.has(blockHash))
      return {
        logs: kept.map((log) => `${kindOf(log)} ${log.topics[1]} ${log.transactionHash}`),
        blocks,
      }
    },
    suspended: (hashes, upTo = Number.POSITIVE_INFINITY) =>
      which(
        hashes,
        ({ revokedBlock, reason }) =>
          revokedBlock !== 0n && Number(reason) === SUSPENDED && revokedBlock <= upTo,
      ),
  }
}

function isFinal({ revokedBlock, reason }: ChainRecord): boolean {
  return revokedBlock !== 0n && Number(reason) !== SUSPENDED && Number(reason) !== RELEASED
}

function kindOf({ topics, data }: Log): string {
  const { name, args } = registryAbi.parseLog({ topics, data }) ?? {}
  if (!REVOKED.includes(name ?? '')) return 'released'
  const reason = Number(args?.reason)
  if (reason === SUSPENDED) return 'suspended'
  return reason === SUPERSEDED ? 'superseded' : 'revoked'
}
