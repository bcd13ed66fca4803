import * as v from 'valibot'
import { decodeUtf8, encodeUtf8, equalBytes } from '../document/bytes.ts'
import { FormatError } from '../document/errors.ts'
import { fromHex } from '../document/hex.ts'
import { readJsonFile } from '../document/json.ts'
import { bytes32, describeMember, problemsOf } from '../document/members.ts'
import { decodePublicId } from '../document/public-id.ts'
import { isRegistryId, type RegistryId } from '../document/registry-id.ts'
import { type StateProof, stateProof } from '../document/state-proof.ts'
import { readBatch } from './checks/batch.ts'
import { readEvent } from './checks/event.ts'
import { readPayload } from './checks/payload.ts'
import { ChainError } from './errors.ts'
import type { BlockSource, Eip1193Provider, IssuedEvent, ReadOptions } from './ports.ts'
import { decodeHeader, type Header } from './proof/header.ts'
import { createChainReader } from './readers/chain.ts'
import { createProvingReader } from './readers/proof.ts'
import { createProofReader, type ProofOptions } from './readers/state-proof.ts'
import { abortable } from './signal.ts'
import type { Check, Verdict } from './verdict.ts'
import { keyOf, verify } from './verify.ts'

/**
 * Everything needed to verify a document as of one block, in one JSON file (docs/formats.md, "The
 * bundle"). Warning: it contains the document and its key.
 */
export type Bundle = {
  type: 'document-registry-bundle'
  v: 1
  publicId: string
  /** A CAIP-10 account ID. It is only a claim: the reader chooses the registry to trust. */
  registry: RegistryId
  /** The batch block of a document in a batch; `null` = issued alone. */
  batch: string | null
  /** The sealed document (JWE compact); `null` if it was never issued or no source had it. */
  sealed: string | null
  stateProof: StateProof
  /**
   * Taken from the event if it agrees with the record. No storage proof covers it, so no verdict
   * depends on it.
   */
  unprovenEvent: Pick<IssuedEvent, 'transactionHash' | 'blockHash' | 'logIndex'> | null
}

const TYPE = 'document-registry-bundle'
/**
 * The maximum size in characters or bytes: a sealed document has at most 1 MiB, proofs some hundred
 * KiB. Larger input is refused unread.
 */
const MAX_TEXT = 8 * 1024 * 1024

// Every rule has its own message, because those of valibot repeat the input, and a bundle contains
// a key.
const text = v.string('must be a string')
const bundle = v.strictObject(
  {
    type: v.literal(TYPE, `must be ${TYPE}`),
    v: v.literal(1, 'must be 1'),
    publicId: text,
    registry: v.pipe(
      text,
      v.custom<RegistryId>(
        isRegistryId,
        'must be a lower-case CAIP-10 account ID, eip155:<chainId>:<address>',
      ),
    ),
    batch: v.nullable(v.string('must be a string or null')),
    sealed: v.nullable(v.string('must be a string or null')),
    stateProof,
    unprovenEvent: v.nullable(
      v.strictObject(
        {
          transactionHash: bytes32,
          blockHash: bytes32,
          logIndex: v.custom<number>(
            (value) => Number.isSafeInteger(value) && Number(value) >= 0,
            'must be a whole number',
          ),
        },
        describeMember,
      ),
    ),
  },
  describeMember,
)

/**
 * @param input A bundle as JSON text, bytes of JSON text, or a parsed value.
 * @returns The bundle and its block, so that the reader can decide whether to trust the hash of
 * that block.
 * @throws {FormatError} `bundle_malformed` with every bad field, a code of strict JSON, or
 * `public_id_…`.
 *
 * @example
 * ```ts
 * const { block } = readBundle(bundle)
 * const { blockNumber, blockHash } = block // is this a block of the chain?
 * ```
 */
export function readBundle(input: unknown): {
  bundle: Bundle
  block: Pick<Header, 'blockNumber' | 'blockHash' | 'blockTime'>
} {
  const read = v.safeParse(bundle, readJsonFile(input, MAX_TEXT, 'bundle_malformed'))
  if (!read.success) throw malformed(problemsOf(read.issues))
  const { kind } = decodePublicId(read.output.publicId)
  if (kind === 'single' && read.output.batch !== null)
    throw malformed([{ field: 'batch', message: 'must be null for a publicId of kind 1' }])
  const { blockNumber, blockHash, blockTime } = readHeader(read.output)
  return { bundle: read.output, block: { blockNumber, blockHash, blockTime } }
}

function readHeader({ stateProof }: Bundle): Header {
  try {
    return decodeHeader(stateProof.header)
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw malformed(
      [{ field: 'stateProof.header', message: 'must be an RLP-encoded block header' }],
      cause,
    )
  }
}

function malformed(fields: FormatError['fields'], cause?: FormatError): FormatError {
  return new FormatError('bundle_malformed', 'invalid bundle', { fields, cause })
}

export type BundleOptions = ProofOptions & { onCheck?: (check: Check) => void }

/**
 * Verifies a bundle without any request. The verdict holds as of the bundle's block, `asOf`; it
 * does not include later events such as a revocation.
 *
 * @param input As {@link readBundle}.
 * @returns A verdict; `unverifiable` when the block is not trusted or the proof is invalid.
 * @throws {FormatError} as {@link readBundle}.
 *
 * @example
 * ```ts
 * const trustedBlocks = [readBundle(bundle).block.blockHash] // once you have compared it
 * const { status } = await verifyBundle(bundle, { registry, trustedBlocks })
 * status // => 'valid'
 * ```
 */
export async function verifyBundle(input: unknown, options: BundleOptions): Promise<Verdict> {
  const { bundle, block } = readBundle(input)
  return verify(bundle.publicId, {
    chain: createProofReader(bundle, block, options),
    blocks: [createBundleSource(bundle)],
    asOf: block.blockNumber,
    ...(options.onCheck && { onCheck: options.onCheck }),
  })
}

/** @returns A source of the blocks in a bundle. */
export function createBundleSource({ publicId, batch, sealed }: Bundle): BlockSource {
  const { kind, hash } = decodePublicId(publicId)
  return {
    async get(wanted) {
      const isBatch = kind === 'batch' && equalBytes(wanted, hash)
      const text = isBatch ? batch : sealed
      return text === null ? { status: 'missing' } : { status: 'found', bytes: encodeUtf8(text) }
    },
  }
}

/** The sources of a bundle. */
export type BundleSource = ReadOptions & {
  /** A node that supports `eth_getProof`. */
  provider: Eip1193Provider
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  /** Sources of the sealed document. */
  blocks: readonly BlockSource[]
  /** The block number; absent = the newest block. */
  block?: number
}

/**
 * Makes a bundle for a document, for its absence, or for a batch block that leads to no record.
 *
 * @param publicId The publicId as issued.
 * @returns The bundle; without `sealed` when no source has the block.
 * @throws {FormatError} `public_id_…`
 * @throws {ChainError} when record and proof could not be read; `batch_unknown` when no source has
 * the batch block, and `payload_unreachable` when a source did not answer, with the check as its
 * cause.
 *
 * @example
 * ```ts
 * const provider = createFetchProvider('https://rpc.example')
 * const blocks = [createIpfsGatewaySource('https://ipfs.example')]
 * const file = JSON.stringify(await createBundle(publicId, { provider, registry, blocks }))
 * ```
 */
export async function createBundle(publicId: string, source: BundleSource): Promise<Bundle> {
  return abortable(() => makeBundle(publicId, source), source.signal)
}

async function makeBundle(publicId: string, source: BundleSource): Promise<Bundle> {
  const { provider, registry, blocks, block, signal } = source
  const decoded = decodePublicId(publicId)
  const batch =
    decoded.kind === 'batch' ? await readBatch(decoded, registry, blocks, { signal }) : undefined
  if (batch?.check.outcome === 'unknown')
    throw new ChainError(
      'batch_unknown',
      `the batch block cannot be used: ${batch.check.code}`,
      batch.check,
    )
  // A batch block that fails decides the verdict and leads to no record. The proof then covers the
  // hash of the block itself, and its reader does not get that far.
  const key = batch?.key ?? keyOf(decoded)
  const reading = await createProvingReader(provider, registry).read(key, {
    block,
    signal,
  })
  const { record, stateProof } = reading
  if (!stateProof) throw new TypeError('the reading has no proof')
  const issued = record.anchoredBlock !== 0
  const chain = createChainReader(provider, registry)
  const [payload, read] = await Promise.all([
    issued ? readPayload(fromHex(key.documentHash), blocks, { signal }) : undefined,
    issued ? readEvent(chain, key, reading, { signal }) : undefined,
  ])
  // The bundle is kept, and would lack the document for ever.
  if (payload?.check.code === 'unreachable')
    throw new ChainError(
      'payload_unreachable',
      'a source of the sealed document did not answer: try again later',
      payload.check,
    )
  const event = read?.event
  return {
    type: TYPE,
    v: 1,
    publicId,
    registry,
    batch: batch?.bytes ? textOf(batch.bytes) : null,
    sealed: payload?.bytes ? textOf(payload.bytes) : null,
    stateProof,
    unprovenEvent: event
      ? {
          transactionHash: event.transactionHash,
          blockHash: event.blockHash,
          logIndex: event.logIndex,
        }
      : null,
  }
}

/**
 * @returns `null` for bytes that are not UTF-8. They are not a sealed document, and a JSON string
 * could not contain them unchanged.
 */
function textOf(sealed: Uint8Array): string | null {
  try {
    return decodeUtf8(sealed)
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}
