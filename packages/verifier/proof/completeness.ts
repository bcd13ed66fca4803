import { keccak_256 } from '@noble/hashes/sha3.js'
import * as v from 'valibot'
import { FormatError } from '../../document/errors.ts'
import { fromHex, type Hex, toHex } from '../../document/hex.ts'
import { decodeJsonText, parseStrictJson } from '../../document/json.ts'
import { bytes32, issuerId, registry } from '../../document/members.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import { ChainError, type ChainErrorCode } from '../errors.ts'
import type { RegistryAccount, RegistryIssuer, RegistryRecord, RegistryStatus } from '../ports.ts'
import { parseRegistry } from '../readers/chain.ts'
import { NO_ACCOUNT, registryStatusOf } from '../status.ts'
import { decodeHeader, type Header } from './header.ts'
import { invalid, readProof } from './invalid.ts'
import { slotsOfIssuer, trieKeyOf, unpackRecord, unpackSigner, unpackState } from './slots.ts'
import { readStorageRoot, wordOf } from './state-proof.ts'
import { decodeNode, type NodeOf, readTrieBy, type TrieNode } from './trie.ts'

/** Hashes of documents that were issued alone, and roots of batches. */
export type IssuedKeys = {
  documentHashes: readonly Hex[]
  roots: readonly Hex[]
}

/**
 * Proves what is in the registry under a list of hashes and roots, and how many there are in total
 * (docs/formats.md, "Completeness"). It contains no document and no key.
 */
export type CompletenessProof = IssuedKeys & {
  type: typeof TYPE
  v: 1
  /** A CAIP-10 account ID. It is only a claim: the reader chooses the registry to trust. */
  registry: RegistryId
  issuerId: number
  /** The RLP of the block's header. */
  header: Hex
  /** The nodes from the header's state root to the registry's account. */
  accountProof: readonly Hex[]
  /** The nodes of the registry's storage that the slots need, each once, in any order. */
  nodes: readonly Hex[]
}

/** A document that was issued alone. */
export type ListedDocument = {
  documentHash: Hex
  status: RegistryStatus
  record: RegistryRecord
  /** The account that issued it. */
  account: Hex
}

/** A batch. `recountBatch` checks whether a manifest has all of its documents. */
export type ListedBatch = {
  root: Hex
  /** The number of documents. */
  size: number
  /** The status of the batch as a whole. A document in it may have its own revocation. */
  status: RegistryStatus
  record: Omit<RegistryRecord, 'validUntil'>
  /** The account that issued it. */
  account: Hex
}

/** The number of existing entries, the listed ones, and listed hashes that were never issued. */
export type Listed<T> = {
  /** The count in the registry. */
  count: number
  listed: T[]
  /**
   * Hashes that this issuer did not issue alone: never issued, issued by another issuer, or issued
   * in a batch.
   */
  notIssued: Hex[]
}

/** The result of checking a list of an issuer's documents and batches at a block. */
export type Listing = {
  /** `complete` = the list has every document and every batch of the issuer. */
  status: 'complete' | 'incomplete'
  issuerId: number
  /** Whether the issuer is in the registry. An empty list of an issuer that is not is complete. */
  isRegistered: boolean
  asOf: {
    blockNumber: number
    /** `null` when the listing was not proven. */
    blockHash: Hex | null
    blockTime: number
  }
  documents: Listed<ListedDocument>
  batches: Listed<ListedBatch>
}

/** The statement that a proof of completeness proves. */
export type Completeness =
  | Listing
  | {
      /** The proof proves nothing about the registry that the reader trusts. */
      status: 'unverifiable'
      code: ChainErrorCode
      message: string
    }

const TYPE = 'document-registry-completeness'
/** The maximum number of hashes and of roots in one list and one proof. */
export const MAX_KEYS = 100_000
/**
 * The maximum size of a proof in characters or bytes. A proof for 10,000 documents has about 3 MB,
 * up to 30 MB in a registry of many millions.
 */
const MAX_TEXT = 256 * 1024 * 1024
/**
 * The maximum number of nodes in a proof: a leaf for each slot, and the branches above it that no
 * other slot shares.
 */
const MAX_NODES = 10 * MAX_KEYS

const bytes = v.custom<Hex>(
  (value) => typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-f]+$/.test(value),
)
const listOf = (item: v.GenericSchema<Hex, Hex>, max: number) =>
  v.pipe(
    v.custom<Hex[]>((value) => Array.isArray(value) && value.length <= max),
    v.check((list) => Array.from(list).every((one) => v.is(item, one))),
  )
const keys = v.pipe(
  listOf(bytes32, MAX_KEYS),
  // The list is in strictly ascending order, so it has no duplicates.
  v.check((list) => list.every((key, i) => i === 0 || key > (list[i - 1] ?? key))),
)
const schema = v.strictObject({
  type: v.literal(TYPE),
  v: v.literal(1),
  registry,
  issuerId,
  documentHashes: keys,
  roots: keys,
  header: bytes,
  accountProof: listOf(bytes, 64),
  nodes: v.pipe(
    listOf(bytes, MAX_NODES),
    v.check((list) => new Set(list).size === list.length),
  ),
})

/**
 * @param input A proof as JSON text, bytes of JSON text, or a parsed value.
 * @throws {FormatError} `completeness_malformed`
 */
function readInput(input: unknown): CompletenessProof {
  const read = v.safeParse(schema, parseInput(input), { abortEarly: true })
  if (read.success) return read.output
  const field = read.issues[0] && v.getDotPath(read.issues[0])
  throw malformed(field ? [{ field, message: 'is malformed' }] : [])
}

function parseInput(input: unknown): unknown {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) return input
  if (input.length > MAX_TEXT) throw malformed([])
  try {
    return parseStrictJson(typeof input === 'string' ? input : decodeJsonText(input))
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw malformed([], cause)
  }
}

function malformed(fields: FormatError['fields'], cause?: FormatError): FormatError {
  const message = 'invalid proof of completeness'
  return new FormatError('completeness_malformed', message, { fields, cause })
}

export type CompletenessOptions = {
  /** The CAIP-10 account ID of the registry to trust. The reader chooses it, never the proof. */
  registry: RegistryId
  /** Hashes of blocks of the registry's chain that the reader trusts. */
  trustedBlocks: readonly Hex[]
  /**
   * The keccak256 of the registry's code, as in `deployments/`. Without it, any code at the address
   * is accepted as that of the registry.
   */
  codeHash?: Hex
}

/**
 * Checks a proof of completeness without any request. The result holds as of the proof's block.
 *
 * @param input A proof as JSON text, bytes of JSON text, or a parsed value.
 * @throws {FormatError} `completeness_malformed` when it is not such a proof, or when a hash is
 * repeated or out of order, or a node is repeated.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const keys = await collectIssued(provider, registry, 1)
 * const proof = await createCompletenessProof(provider, registry, 1, keys)
 * verifyCompleteness(proof, { registry, trustedBlocks: [] }).code // => 'block_untrusted'
 * ```
 */
export function verifyCompleteness(input: unknown, options: CompletenessOptions): Completeness {
  const { address } = parseRegistry(options.registry)
  const proof = readInput(input)
  try {
    if (proof.registry !== options.registry)
      throw new ChainError('other_registry', `the proof is for another registry, ${proof.registry}`)
    const header = readProof(() => decodeHeader(proof.header))
    const { blockHash } = header
    const trusted = options.trustedBlocks.some((hash) => hash.toLowerCase() === blockHash)
    if (!trusted)
      throw new ChainError(
        'block_untrusted',
        `the proof is for block ${header.blockNumber}, ${blockHash}, which is not trusted`,
      )
    return readProof(() => readListing(proof, header, address, options))
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    const { code, message } = error
    return { status: 'unverifiable', code, message }
  }
}

function readListing(
  proof: CompletenessProof,
  header: Header,
  address: Hex,
  { codeHash }: CompletenessOptions,
): Listing {
  const { accountProof, issuerId } = proof
  const root = readStorageRoot(accountProof, header, address, codeHash)
  const nodes = createNodeSet(proof.nodes)
  const listing = listingOf(
    proof,
    createSlotReader(issuerId, (slot) => readWord(root, slot, nodes.nodeOf)),
    header,
  )
  if (nodes.used().length < proof.nodes.length) throw invalid('the proof has too many nodes')
  return listing
}

/** @returns The value of a slot, 32 bytes. @throws {FormatError} `proof_invalid` */
export function readWord(root: Uint8Array, slot: Hex, nodeOf: NodeOf): bigint {
  const leaf = readTrieBy(root, trieKeyOf(slot), nodeOf)
  return BigInt(toHex(wordOf(leaf)))
}

/** Nodes of a trie by hash. Each node is stored once, however many paths use it. */
export function createNodeSet(nodes: Iterable<Hex>): {
  nodeOf: NodeOf
  /** The nodes used so far. */
  used(): Hex[]
} {
  const known = new Map<string, { node: Hex; decoded?: TrieNode }>()
  for (const node of nodes) known.set(toHex(keccak_256(fromHex(node))), { node })
  // A path that shares nodes with the previous one passes the same byte arrays, those in their
  // parents.
  const followed = new WeakMap<Uint8Array, TrieNode>()
  return {
    nodeOf(hash) {
      const again = followed.get(hash)
      if (again) return again
      const found = known.get(toHex(hash))
      if (!found) throw invalid('the proof has too few nodes')
      found.decoded ??= decodeNode(fromHex(found.node))
      followed.set(hash, found.decoded)
      return found.decoded
    },
    used: () => [...known.values()].flatMap(({ node, decoded }) => (decoded ? [node] : [])),
  }
}

type Signer = Pick<RegistryAccount, 'account' | 'distrustedFrom'>

/** The counts of an issuer in the registry. Only an unknown issuer has no account. */
export type IssuerCounts = Pick<RegistryIssuer, 'documentCount' | 'batchCount' | 'accountCount'>

/** Reads the registry's state of an issuer at one block. */
type IssuerReader = {
  counts: IssuerCounts
  record(documentHash: Hex): RegistryRecord
  /** @returns The record of a batch, with the size in place of the expiry. */
  batch(root: Hex): RegistryRecord
  signer(accountIndex: number): Signer
}

/** @param read Returns the value of a slot. */
export function createSlotReader(issuerId: number, read: (slot: Hex) => bigint): IssuerReader {
  const slots = slotsOfIssuer(issuerId)
  return {
    counts: unpackState(read(slots.state)),
    record: (hash) => unpackRecord(read(slots.record(hash))),
    batch: (root) => unpackRecord(read(slots.batch(root))),
    signer: (index) => unpackSigner(read(slots.signer(index))),
  }
}

/**
 * The registry counts every hash once, when its slot first gets an anchoring part, and never
 * removes that part. So a list with as many distinct anchored hashes as the count is complete.
 *
 * @param keys Each hash and each root once.
 */
export function listingOf(
  { issuerId, ...keys }: IssuedKeys & { issuerId: number },
  reader: IssuerReader,
  at: Omit<Listing['asOf'], 'blockHash'> & { blockHash?: Hex },
): Listing {
  const { blockNumber, blockHash = null, blockTime } = at
  const signers = new Map<number, Signer>()
  const signerOf = (index: number): Signer => {
    const signer = signers.get(index) ?? reader.signer(index)
    signers.set(index, signer)
    return signer
  }
  const judge = (record: RegistryRecord) => {
    const { account, distrustedFrom } = signerOf(record.accountIndex)
    const held = { ...NO_ACCOUNT, account, distrustedFrom }
    const revoker = record.revokedBlock === 0 ? null : signerOf(record.revokerIndex)
    const status = registryStatusOf({ record, account: held, revoker, blockTime })
    return { status, account }
  }
  const documents = split(keys.documentHashes, reader.record)
  const batches = split(keys.roots, reader.batch)
  const { documentCount, batchCount, accountCount } = reader.counts
  const complete = documents.issued.length === documentCount && batches.issued.length === batchCount
  return {
    status: complete ? 'complete' : 'incomplete',
    issuerId,
    isRegistered: accountCount > 0,
    asOf: { blockNumber, blockHash, blockTime },
    documents: {
      count: documentCount,
      listed: documents.issued.map(({ key: documentHash, record }) => ({
        documentHash,
        record,
        ...judge(record),
      })),
      notIssued: documents.notIssued,
    },
    batches: {
      count: batchCount,
      listed: batches.issued.map(({ key: root, record: packed }) => {
        const { validUntil: size, ...record } = packed
        // A batch has no expiry.
        return { root, size, record, ...judge({ ...record, validUntil: 0 }) }
      }),
      notIssued: batches.notIssued,
    },
  }
}

function split(
  keys: readonly Hex[],
  recordOf: (key: Hex) => RegistryRecord,
): { issued: { key: Hex; record: RegistryRecord }[]; notIssued: Hex[] } {
  const all = keys.map((key) => ({ key, record: recordOf(key) }))
  const isIssued = ({ record }: { record: RegistryRecord }) => record.anchoredBlock !== 0
  return {
    issued: all.filter(isIssued),
    notIssued: all.filter((one) => !isIssued(one)).map(({ key }) => key),
  }
}
