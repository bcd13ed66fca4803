import { FormatError } from '../../document/errors.ts'
import type { Hex } from '../../document/hex.ts'
import { parseRegistryId, type RegistryId } from '../../document/registry-id.ts'
import { ChainError, RpcResponseError } from '../errors.ts'
import type {
  ChainReader,
  ChainReading,
  DocumentKey,
  Eip1193Provider,
  IssuedEvent,
} from '../ports.ts'
import { contradictionOf } from '../status.ts'
import { createFinalityReader, type FinalityRule } from './finality.ts'
import { requestLogs } from './logs.ts'
import { createRequest, readStrictly } from './request.ts'
import { readList, readLog, readObject, readQuantity, toQuantity } from './rpc-codec.ts'
import {
  BATCH_ISSUED_TOPIC,
  decodeIssued,
  decodeVerification,
  encodeVerificationCall,
  ISSUED_TOPIC,
  toWord,
} from './verification-codec.ts'

/**
 * Reads a registry through a node's JSON-RPC.
 *
 * @param registry A CAIP-10 account ID, `eip155:<chainId>:<address>`, in lower case.
 * @param rule Which blocks count as final; absent = only the node's tags decide.
 *
 * @example
 * ```ts
 * const chain = createChainReader(createFetchProvider('https://rpc.example'), registry)
 * const { status } = await verify(publicId, { chain, blocks: [] })
 * status // => 'unverifiable'
 * ```
 */
export function createChainReader(
  provider: Eip1193Provider,
  registry: RegistryId,
  rule?: FinalityRule,
): ChainReader {
  const { chainId, address } = parseRegistry(registry)
  const request = createRequest(provider)
  const finality = createFinalityReader(request, rule)

  return {
    registry,

    async read(key, { block, signal } = {}) {
      const data = encodeVerificationCall(key)
      const at = block === undefined ? 'latest' : toQuantity(block)
      const result = await request('eth_call', [{ to: address, data }, at], signal).catch(
        (error) => {
          throw block === undefined ? error : stateError(error, block)
        },
      )
      const { chainId: answering, reading } = decodeReading(result, key)
      if (answering !== chainId)
        throw new ChainError('wrong_chain', `the node is on chain ${answering}, not ${chainId}`)
      if (block !== undefined && reading.blockNumber !== block)
        throw new ChainError(
          'state_unavailable',
          `the node answered for block ${reading.blockNumber}, not ${block}`,
        )
      return reading
    },

    async issuedEvent(key, blockNumber, { signal } = {}) {
      const block = toQuantity(blockNumber)
      const filter = {
        address,
        fromBlock: block,
        toBlock: block,
        topics: topicsOf(key),
      }
      const logs = await requestLogs(request, filter, signal)
      const items = readStrictly('eth_getLogs', () => readList(logs, (log) => log))
      // Only the last one is used. A hostile node can send a million, and a document that is issued
      // again in the block in which its issue was distrusted has two.
      return items.length === 0 ? undefined : decodeEvent(items.at(-1), address, key)
    },

    finalityOf: (blockNumber, { signal } = {}) => finality.finalityOf(blockNumber, signal),

    async blockTime(blockNumber, { signal } = {}) {
      const method = 'eth_getBlockByNumber'
      const block = await request(method, [toQuantity(blockNumber), false], signal)
      return readStrictly(method, () => {
        const { number, timestamp } = readObject(block)
        if (readQuantity(number) !== blockNumber)
          throw new FormatError('rpc_malformed', 'the answer is for another block')
        return readQuantity(timestamp)
      })
    },
  }
}

/**
 * Errors of JSON-RPC 2.0 and EIP-1474 about the call or the node itself, not about the requested
 * state.
 */
const OF_THE_REQUEST = [3, -32700, -32600, -32601, -32004, -32005, -32006]

/**
 * `verificationOf` never reverts. If the call fails at an old block but not at the newest, the node
 * does not have that state.
 */
export function stateError(error: unknown, block: number): unknown {
  const cause = error instanceof ChainError ? error.cause : undefined
  const ofState = cause instanceof RpcResponseError && !OF_THE_REQUEST.includes(cause.code)
  if (!ofState) return error
  return new ChainError(
    'state_unavailable',
    `the node does not have the state of block ${block}: ${cause.message}`,
    cause,
  )
}

/**
 * @param registry The registry that the caller trusts. A malformed one is misuse of the API.
 * @throws {TypeError} when it is not a CAIP-10 account ID of namespace eip155 in lower case.
 */
export function parseRegistry(registry: string): ReturnType<typeof parseRegistryId> {
  try {
    return parseRegistryId(registry)
  } catch (cause) {
    throw new TypeError(
      'registry must be a lower-case CAIP-10 account ID, eip155:<chainId>:<address>',
      {
        cause,
      },
    )
  }
}

function decodeReading(
  result: unknown,
  { issuerId }: DocumentKey,
): { chainId: number; reading: ChainReading } {
  return refuseAnswer(() => {
    const answer = decodeVerification(result, issuerId)
    const contradiction = contradictionOf(answer.reading)
    if (contradiction) throw new FormatError('abi_malformed', contradiction)
    return answer
  })
}

/** @throws {ChainError} `no_registry` for an answer that `decode` refuses. */
export function refuseAnswer<T>(decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new ChainError('no_registry', 'there is no document registry at this address', cause)
  }
}

/** An event that matches no record. */
const NO_EVENT: IssuedEvent = {
  issuerId: 0,
  account: '0x',
  validUntil: 0,
  transactionHash: '0x',
  blockHash: '0x',
  logIndex: 0,
}

/** @returns The topics of the event of a document, or of its batch. */
export function topicsOf({ documentHash, issuerId, batch }: DocumentKey): Hex[] {
  const issuer = toWord(issuerId)
  return batch ? [BATCH_ISSUED_TOPIC, batch.root, issuer] : [ISSUED_TOPIC, documentHash, issuer]
}

/** @returns The event; any other log gives an event that matches no record. */
function decodeEvent(answer: unknown, address: Hex, key: DocumentKey): IssuedEvent {
  try {
    const log = readLog(answer)
    const asked =
      log.address === address && topicsOf(key).every((topic, i) => topic === log.topics[i])
    if (!asked) return NO_EVENT
    const { transactionHash, blockHash, logIndex } = log
    return { ...decodeIssued(log), transactionHash, blockHash, logIndex }
  } catch (error) {
    if (error instanceof FormatError) return NO_EVENT
    throw error
  }
}
