import { Interface } from 'ethers'
import type { Hex } from '../../document/hex.ts'
import { ChainError, RpcResponseError } from '../errors.ts'
import {
  type ChainReader,
  type ChainReading,
  type Eip1193Provider,
  type IssuedEvent,
  REGISTRY_STATUSES,
  type RegistryRecord,
  type RegistryStatus,
} from '../ports.ts'
import { registryAbi } from './registry-abi.ts'

const registryInterface = new Interface(registryAbi)

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

    async read(documentHash) {
      const data = registryInterface.encodeFunctionData('verificationOf', [
        documentHash,
      ])
      const result = await request('eth_call', [
        { to: address, data },
        'latest',
      ])
      const answer = decodeVerification(result)
      if (answer.chainId !== chainId)
        throw new ChainError(
          'wrong_chain',
          `chain ${answer.chainId}, not ${chainId}`,
        )
      return answer.reading
    },

    async issuedEvent(documentHash, blockNumber) {
      const block = quantity(blockNumber)
      const logs = await request('eth_getLogs', [
        {
          address,
          fromBlock: block,
          toBlock: block,
          topics: [topicOf('DocumentIssued'), documentHash],
        },
      ])
      const [log] = Array.isArray(logs) ? logs : []
      return log && decodeEvent(log, address, documentHash)
    },

    async finalityOf(blockNumber) {
      const [finalized, safe] = await Promise.all([
        readFinalizedBlock(request),
        readTag(request, 'safe'),
      ])
      if (blockNumber <= finalized) return 'finalized'
      return safe !== undefined && blockNumber <= safe ? 'safe' : 'included'
    },
  }
}

type Request = (method: string, params: unknown[]) => Promise<unknown>

/** @returns Requests that reject with a `ChainError`. */
export function createRequest(provider: Eip1193Provider): Request {
  return async (method, params) => {
    try {
      return await provider.request({ method, params })
    } catch (cause) {
      if (cause instanceof RpcResponseError)
        throw new ChainError('rpc_error', `${method}: ${cause.message}`, cause)
      throw new ChainError('rpc_unreachable', `${method}: no answer`, cause)
    }
  }
}

/** @returns The number of the newest final block: by the chain's tag, or by depth where it has none. */
export async function readFinalizedBlock(request: Request): Promise<number> {
  const finalized = await readTag(request, 'finalized')
  if (finalized !== undefined) return finalized
  const head = Number(await request('eth_blockNumber', []))
  return head - FINALITY_DEPTH
}

/** @returns The number of the block with this tag; `undefined` when the node does not know the tag. */
async function readTag(
  request: Request,
  tag: string,
): Promise<number | undefined> {
  try {
    const block = await request('eth_getBlockByNumber', [tag, false])
    const number = (block as { number?: string } | null)?.number
    return number === undefined ? undefined : Number(number)
  } catch (error) {
    if (error instanceof ChainError && error.code === 'rpc_error')
      return undefined
    throw error
  }
}

/** @throws {TypeError} when it is not a CAIP-10 account of eip155 in lower case. */
export function parseRegistry(registry: string): {
  chainId: number
  address: Hex
} {
  const match = /^eip155:([1-9][0-9]*):(0x[0-9a-f]{40})$/.exec(registry)
  if (!match) throw new TypeError('registry: not CAIP-10 of eip155, lower case')
  return { chainId: Number(match[1]), address: match[2] as Hex }
}

function decodeVerification(result: unknown): {
  chainId: number
  reading: ChainReading
} {
  try {
    const [v] = registryInterface.decodeFunctionResult(
      'verificationOf',
      String(result),
    )
    const record = decodeRecord(v.record)
    const status = REGISTRY_STATUSES[Number(v.status)]
    if (status === undefined || !agree(status, record, Number(v.blockTime)))
      throw new RangeError('the status contradicts the record')
    return {
      chainId: Number(v.chainId),
      reading: {
        blockNumber: Number(v.blockNumber),
        blockTime: Number(v.blockTime),
        status,
        record,
        issuer: {
          account: v.account.toLowerCase(),
          name: v.issuerName,
          uri: v.issuerUri,
        },
      },
    }
  } catch (cause) {
    throw new ChainError(
      'no_registry',
      'no document registry answers at this address',
      cause,
    )
  }
}

/** A node that contradicts itself is not to be believed in either. */
function agree(
  status: RegistryStatus,
  record: RegistryRecord,
  blockTime: number,
): boolean {
  const expired = record.validUntil !== 0 && blockTime >= record.validUntil
  if (record.issuerId === 0) return status === 'not_issued'
  if (record.revokedBlock !== 0)
    return status === (record.reason === SUPERSEDED ? 'superseded' : 'revoked')
  return status === 'distrusted' || status === (expired ? 'expired' : 'valid')
}

/** @param record A `Record` as ethers decodes it. */
function decodeRecord(
  record: Record<keyof RegistryRecord, bigint>,
): RegistryRecord {
  return {
    issuerId: Number(record.issuerId),
    accountIndex: Number(record.accountIndex),
    anchoredBlock: Number(record.anchoredBlock),
    anchoredAt: Number(record.anchoredAt),
    validUntil: Number(record.validUntil),
    revokedBlock: Number(record.revokedBlock),
    revokedAt: Number(record.revokedAt),
    reason: Number(record.reason),
  }
}

/** @returns The event; for a log that is not what was asked for, an event that agrees with no record. */
function decodeEvent(
  log: RpcLog,
  address: Hex,
  documentHash: Hex,
): IssuedEvent {
  const { transactionHash, blockHash } = log
  const place = { transactionHash, blockHash, logIndex: Number(log.logIndex) }
  const asked =
    log.address?.toLowerCase() === address && log.topics?.[1] === documentHash
  const placed =
    isHash(transactionHash) && isHash(blockHash) && place.logIndex >= 0
  try {
    if (!asked || !placed) throw new TypeError('not what was asked for')
    const args = registryInterface.decodeEventLog(
      'DocumentIssued',
      log.data,
      log.topics,
    )
    return {
      issuerId: Number(args.issuerId),
      account: args.account.toLowerCase(),
      validUntil: Number(args.validUntil),
      ...place,
    }
  } catch {
    return { issuerId: 0, account: '0x', validUntil: 0, ...place }
  }
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value)
}

type RpcLog = {
  address?: string
  topics: string[]
  data: string
  transactionHash: Hex
  blockHash: Hex
  logIndex: Hex
}

function topicOf(event: string): string {
  const fragment = registryInterface.getEvent(event)
  if (fragment === null) throw new TypeError(`no event ${event}`)
  return fragment.topicHash
}

function quantity(value: number): Hex {
  return `0x${value.toString(16)}`
}
