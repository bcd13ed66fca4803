import { Interface } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import type { RegistryRecord } from '../../verifier/ports.ts'
import { isPrunedHistory } from '../../verifier/readers/logs.ts'
import { registryAbi } from '../../verifier/readers/registry-abi.ts'
import {
  readBigQuantity,
  readHash,
  readList,
  readLog,
  readObject,
  readQuantity,
  toQuantity,
} from '../../verifier/readers/rpc-codec.ts'
import type { Blocks, RegistryEvent, RegistryReader } from '../issue/ports.ts'
import type { ChainCalls } from './chain-calls.ts'
import { decodeRecords, encodeRecordsOf } from './registry-codec.ts'

const abi = new Interface(registryAbi)
/** Records read in one call. */
const CHUNK = 500

const topicOf = (name: string) => {
  const topic = abi.getEvent(name)?.topicHash
  if (topic === undefined) throw new TypeError(`no event ${name}`)
  return topic as Hex
}
/** A document in a batch is revoked and released in the same slot as one that was issued alone. */
const TOPICS: Record<RegistryEvent, Hex[]> = {
  issued: [topicOf('DocumentIssued')],
  revoked: [topicOf('DocumentRevoked'), topicOf('DocumentInBatchRevoked')],
  released: [topicOf('DocumentReleased'), topicOf('DocumentInBatchReleased')],
}

/** @param address The registry's. */
export function createRegistryReader(
  { request, call, view }: ChainCalls,
  address: string,
  issuerId: number,
  finalizedBlock: Blocks['finalizedBlock'],
): RegistryReader {
  const issuerTopic: Hex = `0x${issuerId.toString(16).padStart(64, '0')}`

  /** From which block on what an account issued is distrusted. */
  async function distrustOf(records: readonly RegistryRecord[]): Promise<Map<number, number>> {
    const indexes = new Set(
      records
        .filter(({ anchoredBlock }) => anchoredBlock !== 0)
        .map(({ accountIndex }) => accountIndex),
    )
    return new Map(
      await Promise.all(
        [...indexes].map(async (index) => {
          const { distrustedFrom } = await view('accountAt', issuerId, index)
          return [index, Number(distrustedFrom) || Infinity] as const
        }),
      ),
    )
  }

  return {
    async records(documentHashes) {
      const chunks = Array.from({ length: Math.ceil(documentHashes.length / CHUNK) }, (_, i) =>
        documentHashes.slice(i * CHUNK, (i + 1) * CHUNK),
      )
      const read = await Promise.all(
        chunks.map((chunk) =>
          call(encodeRecordsOf(issuerId, chunk), (result) => decodeRecords(result, chunk.length)),
        ),
      )
      const records = read.flat()
      const distrust = await distrustOf(records)
      return records.map((record) => ({
        ...record,
        distrusted:
          record.anchoredBlock !== 0 &&
          record.anchoredBlock >= (distrust.get(record.accountIndex) ?? Infinity),
      }))
    },

    async transactionsOf(event, blockNumber) {
      const block = toQuantity(blockNumber)
      const filter = {
        address,
        fromBlock: block,
        toBlock: block,
        topics: [TOPICS[event], null, issuerTopic],
      }
      const read = (answer: unknown) => readList(answer, readLog)
      const logs = await request('eth_getLogs', read, filter).catch((error) => {
        if (isPrunedHistory(error.cause)) return undefined
        throw error
      })
      if (logs === undefined) return undefined
      // Asked for where a record says that there is an event: a final block without one is forgotten.
      if (logs.length === 0 && blockNumber <= (await finalizedBlock())) return undefined
      return new Map(
        logs.map(({ topics, transactionHash, blockHash }) => [
          topics[1] as Hex,
          { blockNumber, blockHash, transactionHash },
        ]),
      )
    },

    isPooled: (transactionHash) =>
      request(
        'eth_getTransactionByHash',
        (answer) => answer !== null && readObject(answer).blockNumber === null,
        transactionHash,
      ),

    async receiptOf(transactionHash) {
      const receipt = await request(
        'eth_getTransactionReceipt',
        readReceipt,
        transactionHash,
      ).catch((error) => {
        if (isPrunedHistory(error.cause)) return undefined
        throw error
      })
      if (!receipt) return undefined
      const { logs, ...rest } = receipt
      const issued = logs.filter(
        (log) =>
          log.address === address &&
          log.topics[0] === TOPICS.issued[0] &&
          log.topics[2] === issuerTopic,
      )
      return {
        ...rest,
        issued: new Set(issued.map(({ topics }) => topics[1] as Hex)),
      }
    },
  }
}

/** @returns Where the transaction is and its logs; `undefined` while it is in no block. */
function readReceipt(answer: unknown) {
  if (answer === null) return undefined
  const receipt = readObject(answer)
  const { blockNumber, blockHash, status, logs } = receipt
  // Some nodes give receipts of what waits to be mined.
  if (blockNumber === null || blockHash === null) return undefined
  return {
    blockNumber: readQuantity(blockNumber),
    blockHash: readHash(blockHash),
    succeeded: readQuantity(status) === 1,
    logs: readList(logs, readLog),
    ...feeOf(receipt),
  }
}

/** What rollups charge for the data of a transaction is not in these fields. */
function feeOf({ gasUsed, effectiveGasPrice }: Record<string, unknown>) {
  if (gasUsed === undefined || effectiveGasPrice === undefined) return {}
  return { fee: readBigQuantity(gasUsed) * readBigQuantity(effectiveGasPrice) }
}
