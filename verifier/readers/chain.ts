import { FormatError } from '../../document/errors.ts'
import type { Hex } from '../../document/hex.ts'
import { parseRegistryId } from '../../document/registry-id.ts'
import { ChainError, RpcResponseError } from '../errors.ts'
import type {
  ChainReader,
  ChainReading,
  Eip1193Provider,
  IssuedEvent,
} from '../ports.ts'
import {
  readList,
  readLog,
  readObject,
  readQuantity,
  toQuantity,
} from './rpc-codec.ts'
import {
  decodeIssued,
  decodeVerification,
  encodeVerificationCall,
  ISSUED_TOPIC,
} from './verification-codec.ts'

/** RFC 5280 reason code. */
const SUPERSEDED = 4
/** Blocks on top of one that count as final on a chain whose nodes do not know the tag `finalized`. */
const FINALITY_DEPTH = 64

/**
 * Reads a registry through a node's JSON-RPC.
 *
 * @param registry CAIP-10, `eip155:<chainId>:<address>`, lower case.
 */
export function createChainReader(
  provider: Eip1193Provider,
  registry: string,
): ChainReader {
  const { chainId, address } = parseRegistry(registry)
  const request = createRequest(provider)

  return {
    registry,

    async read(documentHash, { block, signal } = {}) {
      const data = encodeVerificationCall(documentHash)
      const at = block === undefined ? 'latest' : toQuantity(block)
      const result = await request(
        'eth_call',
        [{ to: address, data }, at],
        signal,
      ).catch((error) => {
        throw block === undefined ? error : stateError(error, block)
      })
      const { chainId: answering, reading } = decodeReading(result)
      if (answering !== chainId)
        throw new ChainError(
          'wrong_chain',
          `chain ${answering}, not ${chainId}`,
        )
      if (block !== undefined && reading.blockNumber !== block)
        throw new ChainError(
          'state_unavailable',
          `answered for block ${reading.blockNumber}, not ${block}`,
        )
      return reading
    },

    async issuedEvent(documentHash, blockNumber, { signal } = {}) {
      const block = toQuantity(blockNumber)
      const logs = await request(
        'eth_getLogs',
        [
          {
            address,
            fromBlock: block,
            toBlock: block,
            topics: [ISSUED_TOPIC, documentHash],
          },
        ],
        signal,
      )
      const [event] = readStrictly('eth_getLogs', () =>
        readList(logs, (log) => decodeEvent(log, address, documentHash)),
      )
      return event
    },

    async finalityOf(blockNumber, { signal } = {}) {
      const [finalized, safe] = await Promise.all([
        readFinalizedBlock(request, signal),
        readTag(request, 'safe', signal),
      ])
      if (blockNumber <= finalized) return 'finalized'
      return safe !== undefined && blockNumber <= safe ? 'safe' : 'included'
    },
  }
}

/** A revert, JSON-RPC 2.0 and EIP-1474: what a node says of the call or of itself, not of the state that was asked for. */
const OF_THE_REQUEST = [3, -32700, -32600, -32601, -32004, -32005, -32006]

/** `verificationOf` never reverts: an error where the newest block gives none is a state that the node does not have. */
export function stateError(error: unknown, block: number): unknown {
  const cause = error instanceof ChainError ? error.cause : undefined
  const ofState =
    cause instanceof RpcResponseError && !OF_THE_REQUEST.includes(cause.code)
  if (!ofState) return error
  return new ChainError(
    'state_unavailable',
    `the node does not have the state of block ${block}: ${cause.message}`,
    cause,
  )
}

/** @throws {ChainError} `rpc_unreachable` for an answer that `read` refuses: garbage is not an answer. */
export function readStrictly<T>(method: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new ChainError('rpc_unreachable', `${method}: garbage`, cause)
  }
}

export type Request = (
  method: string,
  params: unknown[],
  signal?: AbortSignal,
) => Promise<unknown>

/** @returns Requests that reject with a `ChainError`, or with the signal's reason once it aborts. */
export function createRequest(provider: Eip1193Provider): Request {
  return async (method, params, signal) => {
    try {
      return await provider.request({
        method,
        params,
        ...(signal && { signal }),
      })
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof RpcResponseError)
        throw new ChainError('rpc_error', `${method}: ${cause.message}`, cause)
      throw new ChainError('rpc_unreachable', `${method}: no answer`, cause)
    }
  }
}

/** @returns The number of the newest final block: by the chain's tag, or by depth where it has none. */
export async function readFinalizedBlock(
  request: Request,
  signal?: AbortSignal,
): Promise<number> {
  const finalized = await readTag(request, 'finalized', signal)
  if (finalized !== undefined) return finalized
  const head = await request('eth_blockNumber', [], signal)
  return (
    readStrictly('eth_blockNumber', () => readQuantity(head)) - FINALITY_DEPTH
  )
}

/** @returns The number of the block with this tag; `undefined` when the node does not know the tag. */
async function readTag(
  request: Request,
  tag: string,
  signal?: AbortSignal,
): Promise<number | undefined> {
  try {
    const block = await request('eth_getBlockByNumber', [tag, false], signal)
    if (block === null) return undefined
    return readStrictly('eth_getBlockByNumber', () =>
      readQuantity(readObject(block).number),
    )
  } catch (error) {
    if (error instanceof ChainError && error.code === 'rpc_error')
      return undefined
    throw error
  }
}

/** As {@link parseRegistryId}. */
export const parseRegistry = parseRegistryId

function decodeReading(result: unknown): {
  chainId: number
  reading: ChainReading
} {
  try {
    const answer = decodeVerification(result)
    if (!agree(answer.reading))
      throw new FormatError(
        'abi_malformed',
        'the status contradicts the record',
      )
    return answer
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new ChainError(
      'no_registry',
      'no document registry answers at this address',
      cause,
    )
  }
}

/** A node that contradicts itself is not to be believed in either. */
function agree({ status, record, blockTime }: ChainReading): boolean {
  const expired = record.validUntil !== 0 && blockTime >= record.validUntil
  if (record.issuerId === 0) return status === 'not_issued'
  if (record.revokedBlock !== 0)
    return status === (record.reason === SUPERSEDED ? 'superseded' : 'revoked')
  return status === 'distrusted' || status === (expired ? 'expired' : 'valid')
}

/** Agrees with no record. */
const NO_EVENT: IssuedEvent = {
  issuerId: 0,
  account: '0x',
  validUntil: 0,
  transactionHash: '0x',
  blockHash: '0x',
  logIndex: 0,
}

/** @returns The event; for a log that is not what was asked for, one that agrees with no record. */
function decodeEvent(
  answer: unknown,
  address: Hex,
  documentHash: Hex,
): IssuedEvent {
  try {
    const log = readLog(answer)
    const asked = log.address === address && log.topics[1] === documentHash
    if (!asked) return NO_EVENT
    const { transactionHash, blockHash, logIndex } = log
    return { ...decodeIssued(log), transactionHash, blockHash, logIndex }
  } catch (error) {
    if (error instanceof FormatError) return NO_EVENT
    throw error
  }
}
