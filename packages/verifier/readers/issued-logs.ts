import type { Hex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { ChainError } from '../errors.ts'
import type { Eip1193Provider, ReadOptions } from '../ports.ts'
import { type IssuedKeys, MAX_KEYS } from '../proof/completeness.ts'
import { parseRegistry } from './chain.ts'
import { scanLogs } from './log-scan.ts'
import { patientRequest } from './patience.ts'
import { createRequest, readStrictly } from './request.ts'
import { readLog, readQuantity } from './rpc-codec.ts'
import { BATCH_ISSUED_TOPIC, ISSUED_TOPIC, toWord } from './verification-codec.ts'

export type IssuedKeysOptions = ReadOptions & {
  /** The first block. From the one in which the registry was deployed, the list is complete. */
  from?: number
  /** The last block; absent = the newest block. */
  to?: number | undefined
}

/** The documents and batches of an issuer, according to its events. */
export type IssuedList = IssuedKeys & {
  /** The manifest of each root, from the last event about it, as the sha-256 of its root block. */
  manifests: ReadonlyMap<Hex, Hex>
}

/**
 * Collects what an issuer issued from the registry's events, in ranges of blocks that the node
 * accepts. A node can omit or invent events, so check the list with `createCompletenessProof` or
 * `readCompleteness`. Nodes drop old events, so store the list.
 *
 * @param registry A CAIP-10 account ID.
 * @returns Each hash and each root once.
 * @throws {ChainError} `pruned` when the node no longer has the logs; otherwise `rpc_unreachable`,
 * `rpc_error`.
 * @throws {RangeError} for more than 100,000 of one kind.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const { documentHashes, roots } = await collectIssued(provider, registry, 1)
 * documentHashes.length // => 1
 * ```
 */
export async function collectIssued(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  { from = 0, to, signal }: IssuedKeysOptions = {},
): Promise<IssuedList> {
  const { address } = parseRegistry(registry)
  const request = patientRequest(createRequest(provider))
  const issuer = toWord(issuerId)
  const documentHashes = new Set<Hex>()
  const roots = new Set<Hex>()
  const manifests = new Map<Hex, Hex>()
  const found = new Map([
    [ISSUED_TOPIC, documentHashes],
    [BATCH_ISSUED_TOPIC, roots],
  ])
  const filter = { address, topics: [[...found.keys()], null, issuer] }
  const last = to ?? (await newest())
  for await (const { logs } of scanLogs(request, [filter], { from, to: last, signal }))
    readStrictly('eth_getLogs', () => logs[0]?.forEach(take))
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
      throw new ChainError('rpc_unreachable', 'eth_getLogs returned a log that was not requested')
    keys.add(key)
    if (keys.size > MAX_KEYS) throw new RangeError(`more than ${MAX_KEYS} hashes`)
    if (keys === roots) manifests.set(key, `0x${log.data.slice(-64)}`)
  }
}
