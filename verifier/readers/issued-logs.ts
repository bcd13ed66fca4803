import type { Hex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { ChainError } from '../errors.ts'
import type { Eip1193Provider, ReadOptions } from '../ports.ts'
import { type IssuedKeys, MAX_KEYS } from '../proof/completeness.ts'
import { parseRegistry } from './chain.ts'
import { requestLogs } from './logs.ts'
import { createRequest, readStrictly } from './request.ts'
import { readList, readLog, readQuantity, toQuantity } from './rpc-codec.ts'
import { BATCH_ISSUED_TOPIC, ISSUED_TOPIC, toWord } from './verification-codec.ts'

/** Blocks in the first request; doubled after each answer, halved after each refusal. */
const FIRST_RANGE = 10_000
const MAX_RANGE = 1_000_000
/** After this many consecutive failures the node counts as down. */
const MAX_UNANSWERED = 3

export type IssuedKeysOptions = ReadOptions & {
  /** The first block; the one in which the registry was deployed has everything. */
  from?: number
  /** The last block; the newest if absent. */
  to?: number | undefined
}

/** What an issuer has issued, according to its events. */
export type IssuedList = IssuedKeys & {
  /** The manifest of each root, from the last event about it: the sha-256 of its root block. */
  manifests: ReadonlyMap<Hex, Hex>
}

/**
 * Collects what an issuer issued from the registry's events, in ranges of blocks that the node
 * accepts. A node can omit or invent events: check the list with `createCompletenessProof` or
 * `readCompleteness`. Nodes drop old events: store the list.
 *
 * @param registry CAIP-10.
 * @returns Each hash and each root once.
 * @throws {ChainError} `pruned` when the node no longer has the logs; else `rpc_unreachable`,
 * `rpc_error`.
 * @throws {RangeError} for more than 100,000 of one kind.
 */
export async function collectIssued(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  { from = 0, to, signal }: IssuedKeysOptions = {},
): Promise<IssuedList> {
  const { address } = parseRegistry(registry)
  const request = createRequest(provider)
  const issuer = toWord(issuerId)
  const documentHashes = new Set<Hex>()
  const roots = new Set<Hex>()
  const manifests = new Map<Hex, Hex>()
  const found = new Map([
    [ISSUED_TOPIC, documentHashes],
    [BATCH_ISSUED_TOPIC, roots],
  ])
  const last = to ?? (await newest())
  let range = FIRST_RANGE
  let unanswered = 0
  for (let at = from; at <= last; ) {
    const end = Math.min(at + range - 1, last)
    const filter = {
      address,
      fromBlock: toQuantity(at),
      toBlock: toQuantity(end),
      topics: [[...found.keys()], null, issuer],
    }
    try {
      const logs = await requestLogs(request, filter, signal)
      readStrictly('eth_getLogs', () => readList(logs, take))
      at = end + 1
      range = Math.min(range * 2, MAX_RANGE)
      unanswered = 0
    } catch (error) {
      if (!(error instanceof ChainError) || end === at) throw error
      if (error.code === 'pruned') throw error
      // The response is too long for the node or this program, or the node is down.
      unanswered = error.code === 'rpc_unreachable' ? unanswered + 1 : 0
      if (unanswered === MAX_UNANSWERED) throw error
      range = Math.ceil((end - at + 1) / 2)
    }
  }
  return { documentHashes: [...documentHashes], roots: [...roots], manifests }

  async function newest(): Promise<number> {
    const answer = await request('eth_blockNumber', [], signal)
    return readStrictly('eth_blockNumber', () => readQuantity(answer))
  }

  function take(answer: unknown): void {
    const log = readLog(answer)
    const [topic = '0x', key, ofIssuer] = log.topics
    const keys = found.get(topic)
    const isAsked = log.address === address && ofIssuer === issuer
    if (!isAsked || !keys || key === undefined)
      throw new ChainError('rpc_unreachable', 'eth_getLogs: a log that was not requested')
    keys.add(key)
    if (keys.size > MAX_KEYS) throw new RangeError(`more than ${MAX_KEYS}`)
    if (keys === roots) manifests.set(key, `0x${log.data.slice(-64)}`)
  }
}
