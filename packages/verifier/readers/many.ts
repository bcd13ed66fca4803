import { FormatError } from '../../document/errors.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { ChainError } from '../errors.ts'
import type {
  ChainReading,
  DocumentKey,
  Eip1193Provider,
  IssuedEvent,
  ReadOptions,
} from '../ports.ts'
import { contradictionOf } from '../status.ts'
import { parseRegistry, refuseAnswer, topicsOf } from './chain.ts'
import { createRequest, readStrictly } from './request.ts'
import {
  type RpcLog,
  readList,
  readLog,
  readObject,
  readQuantity,
  toQuantity,
} from './rpc-codec.ts'
import { decodeIssued, decodeVerifications, encodeVerificationsCall } from './verification-codec.ts'

/**
 * Reads many documents of a registry in one call. A call returns all answers or rejects with a
 * `ChainError`. After an error, a caller that groups requests repeats each one alone.
 */
export type ManyReader = {
  /**
   * @param keys Documents that were issued alone, without duplicates.
   * @returns Their readings in the order of the keys, all at the same newest block.
   */
  read(keys: readonly DocumentKey[], options?: ReadOptions): Promise<ChainReading[]>
  /**
   * @param keys Keys without duplicates, each with the number of its event's block. A call reads
   * all blocks from the first to the last of them, and nodes limit that range.
   * @returns The events in the order of the keys; `undefined` when that block has none.
   */
  issuedEvents(
    keys: readonly EventKey[],
    options?: ReadOptions,
  ): Promise<(IssuedEvent | undefined)[]>
}

export type EventKey = DocumentKey & { block: number }

/** A document that is issued again after its issue was distrusted has a second event. */
const MAX_EVENTS_OF_ONE = 4

/** @param registry A CAIP-10 account ID, `eip155:<chainId>:<address>`, in lower case. */
export function createManyReader(provider: Eip1193Provider, registry: RegistryId): ManyReader {
  const { chainId, address } = parseRegistry(registry)
  const request = createRequest(provider)

  return {
    async read(keys, { signal } = {}) {
      const data = encodeVerificationsCall(keys)
      const call = [{ to: address, data }, 'latest']
      const result = await request('eth_call', call, signal)
      return decodeReadings(result, keys, chainId)
    },

    async issuedEvents(keys, { signal } = {}) {
      const wanted = keys.map(topicsOf)
      const blocks = keys.map(({ block }) => block)
      const topics = [0, 1, 2].map((i) => new Set(wanted.map((one) => one[i])))
      const filter = {
        address,
        fromBlock: toQuantity(Math.min(...blocks)),
        toBlock: toQuantity(Math.max(...blocks)),
        topics: topics.map((some) => [...some]),
      }
      const result = await request('eth_getLogs', [filter], signal)
      return readStrictly('eth_getLogs', () => {
        const found = new Map<string, RpcLog>()
        for (const { log, block } of readLogs(result, keys.length)) {
          const asked =
            log.address === address && topics.every((some, i) => some.has(log.topics[i]))
          if (!asked)
            throw new FormatError(
              'rpc_malformed',
              'the answer contains an event that was not requested',
            )
          found.set([block, ...log.topics].join(), log)
        }
        return wanted.map((one, i) => eventOf(found.get([blocks[i], ...one].join())))
      })
    },
  }
}

function decodeReadings(
  result: unknown,
  keys: readonly DocumentKey[],
  chainId: number,
): ChainReading[] {
  const answers = refuseAnswer(() => {
    const issuerIds = keys.map(({ issuerId }) => issuerId)
    const decoded = decodeVerifications(result, issuerIds)
    const [first] = decoded
    for (const { chainId, reading } of decoded) {
      const contradiction = contradictionOf(reading)
      if (contradiction) throw new FormatError('abi_malformed', contradiction)
      const together =
        chainId === first?.chainId &&
        reading.blockNumber === first.reading.blockNumber &&
        reading.blockTime === first.reading.blockTime
      if (!together)
        throw new FormatError('abi_malformed', 'the node answered one call from two blocks')
    }
    return decoded
  })
  return answers.map(({ chainId: answering, reading }) => {
    if (answering !== chainId)
      throw new ChainError('wrong_chain', `the node is on chain ${answering}, not ${chainId}`)
    return reading
  })
}

function readLogs(result: unknown, keys: number): { log: RpcLog; block: number }[] {
  const logs = readList(result, (log) => log)
  // A hostile node can send a million.
  if (logs.length > keys * MAX_EVENTS_OF_ONE)
    throw new FormatError('rpc_malformed', 'the answer has too many events')
  return logs.map((log) => ({
    log: readLog(log),
    block: readQuantity(readObject(log).blockNumber),
  }))
}

function eventOf(log: RpcLog | undefined): IssuedEvent | undefined {
  if (!log) return undefined
  const { transactionHash, blockHash, logIndex } = log
  return { ...decodeIssued(log), transactionHash, blockHash, logIndex }
}
