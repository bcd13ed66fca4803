import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Hex, toHex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { ChainError } from '../errors.ts'
import type { Eip1193Provider, ReadOptions, RegistryAccount, RegistryRecord } from '../ports.ts'
import {
  type CompletenessProof,
  createSlotReader,
  type IssuedKeys,
  type Listing,
  listingOf,
  MAX_KEYS,
} from '../proof/completeness.ts'
import { decodeHeader } from '../proof/header.ts'
import { readProof } from '../proof/invalid.ts'
import { slotsOfIssuer, trieKeyOf } from '../proof/slots.ts'
import { parseRegistry, refuseAnswer, stateError } from './chain.ts'
import {
  decodeBatch,
  decodeCounts,
  decodeRecords,
  decodeSigner,
  encodeAccountCall,
  encodeBatchCall,
  encodeIssuerCall,
  encodeRecordsCall,
} from './listing-codec.ts'
import { patientRequest } from './patience.ts'
import { fetchHeader, unlessOvertaken } from './proof.ts'
import { createRequest, type Request, readStrictly } from './request.ts'
import { readBytes, readHash, readObject, readQuantity, toQuantity } from './rpc-codec.ts'
import { createSlotProver } from './slot-prover.ts'

/** The number of hashes in one call of `recordsOf`. */
const MAX_RECORDS_PER_REQUEST = 500
/** The number of concurrent requests when each reads one item. */
const MAX_AT_A_TIME = 16

/** A list to check against the registry; duplicates count once. */
export type CompletenessSource = IssuedKeys &
  ReadOptions & {
    /** The block number; absent = the newest block. */
    block?: number | undefined
  }

/**
 * Makes a proof of completeness for a list from any source. An incomplete list also gets a proof,
 * which shows that it is incomplete. Starts again when a reorg or a newer block interferes, up to
 * five times in all.
 *
 * @param provider A node that supports `eth_getProof`.
 * @param registry A CAIP-10 account ID.
 * @throws {ChainError} as `fetchProof`, and `wrong_chain`.
 * @throws {RangeError} for a list of more than 100,000.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const keys = await collectIssued(provider, registry, 1)
 * const proof = await createCompletenessProof(provider, registry, 1, keys)
 * ```
 */
export async function createCompletenessProof(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  { block, signal, ...given }: CompletenessSource,
): Promise<CompletenessProof> {
  const keys = normalized(given)
  const at = { block, signal }
  return unlessOvertaken(at, () => proveKeys(provider, registry, issuerId, keys, at))
}

async function proveKeys(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  keys: IssuedKeys,
  { block, signal }: Pick<CompletenessSource, 'block' | 'signal'>,
): Promise<CompletenessProof> {
  const { address, chainId } = parseRegistry(registry)
  const request = patientRequest(createRequest(provider))
  const blockNumber = await blockAt(request, chainId, block, signal)
  const header = await fetchHeader(request, blockNumber, signal)
  const decoded = readProof(() => decodeHeader(header))
  if (decoded.blockNumber !== blockNumber)
    throw new ChainError(
      'state_unavailable',
      `the node returned the header of block ${decoded.blockNumber}, not ${blockNumber}`,
    )

  const nodes = new Set<Hex>()
  const words = new Map<Hex, bigint>()
  let accountProof: readonly Hex[] = []
  const prover = createSlotProver({
    request,
    address,
    header: decoded,
    signal,
    onNodes(used, account) {
      for (const node of used) nodes.add(node)
      accountProof = account
    },
  })
  const prove = (slots: readonly Hex[]) =>
    prover.prove(slots, (word, i) => void words.set(slots[i] as Hex, word))
  const slots = slotsOfIssuer(issuerId)
  const records = [...keys.documentHashes.map(slots.record), ...keys.roots.map(slots.batch)]
  await prove([slots.state, ...inTrieOrder(records)])
  const reader = createSlotReader(issuerId, (slot) => words.get(slot) ?? 0n)
  await prove(
    signersOf([...keys.documentHashes.map(reader.record), ...keys.roots.map(reader.batch)]).map(
      slots.signer,
    ),
  )
  return {
    type: 'document-registry-completeness',
    v: 1,
    registry,
    issuerId,
    ...keys,
    header,
    accountProof,
    nodes: [...nodes],
  }
}

/**
 * @returns The slots in an order in which neighbours share most nodes, which saves work for the
 * node and for this program.
 */
function inTrieOrder(slots: readonly Hex[]): Hex[] {
  const keyed = slots.map((slot) => ({ slot, key: toHex(trieKeyOf(slot)) }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ slot }) => slot)
}

/** Compares the code, trusting the node. @throws {ChainError} `other_code`, `no_registry` */
export async function checkCode(
  request: Request,
  params: [address: Hex, block: Hex | 'latest'],
  codeHash: Hex,
  signal?: AbortSignal,
): Promise<void> {
  const answer = await request('eth_getCode', params, signal)
  const code = readStrictly('eth_getCode', () => readBytes(answer))
  if (code.length === 0) throw new ChainError('no_registry', 'there is no code at the address')
  if (toHex(keccak_256(code)) !== codeHash)
    throw new ChainError('other_code', 'the code at the address is not that of the registry')
}

/**
 * Checks a list for completeness with calls of the contract, trusting the node. Starts again when a
 * reorg or a newer block interferes, up to five times in all.
 *
 * @param registry A CAIP-10 account ID.
 * @throws {ChainError} `rpc_unreachable`, `rpc_error`, `wrong_chain`, `no_registry`, `other_code`,
 * `state_unavailable`
 * @throws {RangeError} for a list of more than 100,000.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const keys = await collectIssued(provider, registry, 1)
 * const { status } = await readCompleteness(provider, registry, 1, keys)
 * status // => 'complete'
 * ```
 */
export async function readCompleteness(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  { block, signal, codeHash, ...given }: ViewSource,
): Promise<Listing> {
  const keys = normalized(given)
  const at = { block, signal, ...(codeHash !== undefined && { codeHash }) }
  return unlessOvertaken(at, () => readKeys(provider, registry, issuerId, keys, at))
}

type ViewSource = CompletenessSource & { codeHash?: Hex }

async function readKeys(
  provider: Eip1193Provider,
  registry: RegistryId,
  issuerId: number,
  keys: IssuedKeys,
  { block, signal, codeHash }: Omit<ViewSource, keyof IssuedKeys>,
): Promise<Listing> {
  const { address: to, chainId } = parseRegistry(registry)
  const request = createRequest(provider)
  const blockNumber = await blockAt(request, chainId, block, signal)
  const at = toQuantity(blockNumber)
  const call = async <T>(data: Hex, decode: (answer: unknown) => T) => {
    const answer = await request('eth_call', [{ to, data }, at], signal).catch((error) => {
      throw stateError(error, blockNumber)
    })
    return refuseAnswer(() => decode(answer))
  }
  const before = await fetchBlock(request, blockNumber, signal)
  if (codeHash !== undefined) await checkCode(request, [to, at], codeHash, signal)
  const counts = await call(encodeIssuerCall(issuerId), decodeCounts)
  const records = new Map<Hex, RegistryRecord>()
  for (const some of chunksOf(keys.documentHashes, MAX_RECORDS_PER_REQUEST)) {
    const found = await call(encodeRecordsCall(issuerId, some), (data) =>
      decodeRecords(data, some.length),
    )
    found.forEach((record, i) => {
      records.set(some[i] as Hex, record)
    })
  }
  const batches = await eachOf(keys.roots, (root) =>
    call(encodeBatchCall(issuerId, root), decodeBatch),
  )
  const signers = await eachOf(signersOf([...records.values(), ...batches.values()]), (index) =>
    call(encodeAccountCall(issuerId, index), decodeSigner),
  )
  const after = await fetchBlock(request, blockNumber, signal)
  if (after.hash !== before.hash)
    throw new ChainError(
      'state_unavailable',
      `block ${blockNumber} was replaced by a reorg while it was read`,
    )
  return listingOf(
    { issuerId, ...keys },
    {
      counts,
      record: (hash) => records.get(hash) as RegistryRecord,
      batch: (root) => batches.get(root) as RegistryRecord,
      signer: (index) => signers.get(index) as RegistryAccount,
    },
    { blockNumber, blockTime: before.time },
  )
}

async function fetchBlock(
  request: Request,
  blockNumber: number,
  signal: AbortSignal | undefined,
): Promise<{ hash: Hex; time: number }> {
  const method = 'eth_getBlockByNumber'
  const params = [toQuantity(blockNumber), false]
  const answer = await request(method, params, signal)
  if (answer === null)
    throw new ChainError('state_unavailable', `the node has no block ${blockNumber}`)
  return readStrictly(method, () => {
    const { hash, timestamp } = readObject(answer)
    return { hash: readHash(hash), time: readQuantity(timestamp) }
  })
}

/** @returns The hashes without duplicates, in the order of a proof. */
function normalized({ documentHashes, roots }: IssuedKeys): IssuedKeys {
  const sorted = (keys: readonly Hex[]) =>
    [...new Set(keys.map((key) => key.toLowerCase() as Hex))].sort()
  const keys = { documentHashes: sorted(documentHashes), roots: sorted(roots) }
  for (const list of Object.values(keys)) {
    if (list.length > MAX_KEYS) throw new RangeError(`more than ${MAX_KEYS} hashes`)
    if (!list.every((key) => /^0x[0-9a-f]{64}$/.test(key)))
      throw new TypeError('a hash must be 32 bytes in hexadecimal, with 0x')
  }
  return keys
}

async function blockAt(
  request: Request,
  chainId: number,
  block: number | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  const read = async (method: string) => {
    const answer = await request(method, [], signal)
    return readStrictly(method, () => readQuantity(answer))
  }
  const answering = await read('eth_chainId')
  if (answering !== chainId)
    throw new ChainError('wrong_chain', `the node is on chain ${answering}, not ${chainId}`)
  return block ?? read('eth_blockNumber')
}

/** @returns The indices of the accounts that issued, and of those that last revised. */
function signersOf(records: readonly RegistryRecord[]): number[] {
  const issued = records.filter(({ anchoredBlock }) => anchoredBlock !== 0)
  return [
    ...new Set(
      issued.flatMap(({ accountIndex, revokedBlock, revokerIndex }) =>
        revokedBlock === 0 ? [accountIndex] : [accountIndex, revokerIndex],
      ),
    ),
  ]
}

function* chunksOf<T>(list: readonly T[], length: number): Generator<T[]> {
  for (let at = 0; at < list.length; at += length) yield list.slice(at, at + length)
}

async function eachOf<K, V>(keys: readonly K[], read: (key: K) => Promise<V>): Promise<Map<K, V>> {
  const found = new Map<K, V>()
  for (const some of chunksOf(keys, MAX_AT_A_TIME))
    await Promise.all(
      some.map(async (key) => {
        found.set(key, await read(key))
      }),
    )
  return found
}
