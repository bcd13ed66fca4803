import { registryAbi } from '#base/registry-abi.ts'
import type { Hex } from '#document/hex.ts'
import type { Blocks, RegistryReader } from '#promise/ports.ts'
import { isWholeBatch, type RecordKey, type RegistryEvent } from '#promise/record.ts'
import type { Receipt } from '#promise/send.ts'
import type { RegistryRecord } from '#verifier/ports.ts'
import { isPrunedHistory } from '#verifier/readers/logs.ts'
import {
  type RpcLog,
  readBigQuantity,
  readHash,
  readList,
  readLog,
  readObject,
  readQuantity,
  toQuantity,
} from '#verifier/readers/rpc-codec.ts'
import { RELEASED } from '#verifier/reasons.ts'
import { isDistrustedAt } from '#verifier/status.ts'
import type { ChainCalls } from './chain-calls.ts'
import { decodeRecords, encodeRecordsOf } from './registry-codec.ts'

/** The maximum number of records in one call. */
const MAX_RECORDS = 500

const topicOf = (name: string) => {
  const topic = registryAbi.getEvent(name)?.topicHash
  if (topic === undefined) throw new TypeError(`the ABI has no event ${name}`)
  return topic as Hex
}
/**
 * A document in a batch is revoked and released in the same slot as one that was issued alone. The
 * first indexed field of each event is the documentHash or the root, two kinds of hash that never
 * collide.
 */
const TOPICS: Record<RegistryEvent, Hex[]> = {
  issued: ['DocumentIssued', 'BatchIssued'].map(topicOf),
  revoked: ['DocumentRevoked', 'DocumentInBatchRevoked', 'BatchRevoked'].map(topicOf),
  released: ['DocumentReleased', 'DocumentInBatchReleased', 'BatchReleased'].map(topicOf),
}

/** @param address The address of the registry. */
export function createRegistryReader(
  calls: ChainCalls,
  address: string,
  issuerId: number,
  finalizedBlock: Blocks['finalizedBlock'],
): RegistryReader {
  const { request } = calls
  const issuerTopic: Hex = `0x${issuerId.toString(16).padStart(64, '0')}`

  return {
    async records(keys) {
      const records = await readAll(calls, issuerId, keys)
      const distrust = await readDistrust(calls, issuerId, records)
      const distrustOf = (index: number) => distrust.get(index) ?? 0
      return records.map((record) => ({
        ...record,
        distrusted:
          record.anchoredBlock !== 0 &&
          isDistrustedAt({ distrustedFrom: distrustOf(record.accountIndex) }, record.anchoredBlock),
        revoker:
          record.revokedBlock === 0 ? null : { distrustedFrom: distrustOf(record.revokerIndex) },
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
      const logs = await unlessPruned(request('eth_getLogs', read, filter))
      if (logs === undefined) return undefined
      // Callers request this when a record shows that there is an event, so a final block without
      // one has been pruned.
      if (logs.length === 0 && blockNumber <= (await finalizedBlock())) return undefined
      return new Map(
        logs.map(({ topics, transactionHash, blockHash }) => [
          topics[1] as Hex,
          { blockNumber, blockHash, transactionHash },
        ]),
      )
    },

    receiptOf: (transactionHash) =>
      unlessPruned(
        request(
          'eth_getTransactionReceipt',
          (answer) =>
            readReceipt(answer, (log) => log.address === address && log.topics[2] === issuerTopic),
          transactionHash,
        ),
      ),
  }
}

/** @returns The records in the order of their keys. */
async function readAll(
  calls: ChainCalls,
  issuerId: number,
  keys: readonly RecordKey[],
): Promise<RegistryRecord[]> {
  const [batches, documents] = [keys.filter(isWholeBatch), keys.filter((key) => !isWholeBatch(key))]
  const [ofBatches, ofDocuments] = await Promise.all([
    Promise.all(batches.map(({ documentHash: root }) => readBatch(calls, issuerId, root))),
    readRecords(
      calls,
      issuerId,
      documents.map(({ documentHash }) => documentHash),
    ),
  ])
  const [nextBatch, nextDocument] = [ofBatches.values(), ofDocuments.values()]
  return keys.map((key) => {
    const { value } = (isWholeBatch(key) ? nextBatch : nextDocument).next()
    return value as RegistryRecord
  })
}

/** The contract packs a batch like a record, with the size in place of the expiry. */
async function readBatch(
  { view }: ChainCalls,
  issuerId: number,
  root: Hex,
): Promise<RegistryRecord> {
  const batch = await view('batchOf', issuerId, root)
  return {
    accountIndex: Number(batch.accountIndex),
    anchoredBlock: Number(batch.anchoredBlock),
    anchoredAt: Number(batch.anchoredAt),
    validUntil: Number(batch.size),
    revokerIndex: Number(batch.revokerIndex),
    revokedBlock: Number(batch.revokedBlock),
    revokedAt: Number(batch.revokedAt),
    reason: Number(batch.reason),
    setAside: batch.setAside,
  }
}

async function readRecords(
  { call }: ChainCalls,
  issuerId: number,
  documentHashes: readonly Hex[],
): Promise<RegistryRecord[]> {
  const chunks = Array.from({ length: Math.ceil(documentHashes.length / MAX_RECORDS) }, (_, i) =>
    documentHashes.slice(i * MAX_RECORDS, (i + 1) * MAX_RECORDS),
  )
  const records = await Promise.all(
    chunks.map((chunk) =>
      call(encodeRecordsOf(issuerId, chunk), (result) => decodeRecords(result, chunk.length)),
    ),
  )
  return records.flat()
}

/**
 * @returns The block from which each account is distrusted, by account index; 0 = the account is
 * not distrusted.
 */
async function readDistrust(
  { view }: ChainCalls,
  issuerId: number,
  records: readonly RegistryRecord[],
): Promise<Map<number, number>> {
  const indexes = new Set(
    records.flatMap(({ accountIndex, anchoredBlock, revokerIndex, revokedBlock }) => [
      ...(anchoredBlock === 0 ? [] : [accountIndex]),
      ...(revokedBlock === 0 ? [] : [revokerIndex]),
    ]),
  )
  return new Map(
    await Promise.all(
      [...indexes].map(async (index) => {
        const { distrustedFrom } = await view('accountAt', issuerId, index)
        return [index, Number(distrustedFrom)] as const
      }),
    ),
  )
}

/** @returns `undefined` when no node still has that part of the history. */
async function unlessPruned<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error) => {
    if (isPrunedHistory(error.cause)) return undefined
    throw error
  })
}

/**
 * @param isOwn Whether a log comes from the registry and concerns this issuer.
 * @returns `undefined` while the transaction is not in a block.
 */
function readReceipt(answer: unknown, isOwn: (log: RpcLog) => boolean): Receipt | undefined {
  if (answer === null) return undefined
  const receipt = readObject(answer)
  const { blockNumber, blockHash, status, logs } = receipt
  // Some nodes return receipts of transactions that are still pending.
  if (blockNumber === null || blockHash === null) return undefined
  const own = readList(logs, readLog).filter(isOwn)
  const issued = own.filter((log) => isOf('issued', log))
  return {
    blockNumber: readQuantity(blockNumber),
    blockHash: readHash(blockHash),
    succeeded: readQuantity(status) === 1,
    issued: new Set(issued.map(hashIn)),
    revised: new Map(
      own
        .filter((log) => isOf('revoked', log) || isOf('released', log))
        .map((log) => [hashIn(log), isOf('released', log) ? RELEASED : reasonOfLog(log)]),
    ),
    ...feeOf(receipt),
  }
}

const isOf = (event: RegistryEvent, { topics: [topic] }: RpcLog) =>
  topic !== undefined && TOPICS[event].includes(topic)

/** The documentHash, or the root of a batch. */
const hashIn = ({ topics }: RpcLog) => topics[1] as Hex

/** In each event of a revocation, the reason follows the account. */
function reasonOfLog({ data }: RpcLog): number {
  if (data.length !== 2 + 2 * 64)
    throw new RangeError('the event must have an account and a reason')
  return Number(`0x${data.slice(2 + 64)}`)
}

/**
 * The fee that rollups charge for the data of a transaction is missing, because these fields do not
 * include it.
 */
function feeOf({ gasUsed, effectiveGasPrice }: Record<string, unknown>) {
  if (gasUsed === undefined || effectiveGasPrice === undefined) return {}
  return { fee: readBigQuantity(gasUsed) * readBigQuantity(effectiveGasPrice) }
}
