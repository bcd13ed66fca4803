import * as v from 'valibot'
import { decodeUtf8, equalBytes } from '../document/bytes.ts'
import { FormatError } from '../document/errors.ts'
import { fromHex, type Hex } from '../document/hex.ts'
import { decodeJsonText, parseStrictJson } from '../document/json.ts'
import { decodePublicId } from '../document/public-id.ts'
import { REGISTRY_ID } from '../document/registry-id.ts'
import { readBatch } from './checks/batch.ts'
import { readEvent } from './checks/event.ts'
import { readPayload } from './checks/payload.ts'
import { ChainError } from './errors.ts'
import type {
  BlockSource,
  ChainReader,
  Eip1193Provider,
  IssuedEvent,
  ReadOptions,
} from './ports.ts'
import { decodeHeader, type Header } from './proof/header.ts'
import { readStateProof, type StateProof } from './proof/state-proof.ts'
import { createChainReader, parseRegistry } from './readers/chain.ts'
import { createProvingReader } from './readers/proof.ts'
import { abortable } from './signal.ts'
import type { Check, Verdict } from './verdict.ts'
import { keyOf, verify } from './verify.ts'

/**
 * Everything that is needed to verify a document at one block, in one JSON file (docs/formats.md, "The bundle"). Warning: it holds
 * the document and its key.
 */
export type Bundle = {
  type: 'document-registry-bundle'
  v: 1
  publicId: string
  /** CAIP-10. What it claims to be of; its reader chooses the registry to trust. */
  registry: string
  /** The batch block of a document of a batch; `null` = issued alone. */
  batch: string | null
  /** The sealed document (JWE compact); `null` when there is none or it could not be had. */
  sealed: string | null
  stateProof: StateProof
  /** Of the event, where it agrees with the record. No storage proof covers it, so no verdict rests on it. */
  unprovenEvent: Pick<
    IssuedEvent,
    'transactionHash' | 'blockHash' | 'logIndex'
  > | null
}

const TYPE = 'document-registry-bundle'
/** A sealed document has at most 1 MiB, proofs some hundred KiB. More is refused unread; in characters or bytes. */
const MAX_TEXT = 8 * 1024 * 1024
/** With name and URI of the issuer at 64 KiB each. More are refused unread: each could have several bad fields to report. */
const MAX_SLOTS = 4096

// Every rule has its message: valibot's own repeat what they were given, and a bundle holds a key.
const text = v.string('must be a string')
const bytes = v.custom<Hex>(
  (value) =>
    typeof value === 'string' &&
    /^0x[0-9a-f]+$/.test(value) &&
    value.length % 2 === 0,
  'must be 0x and bytes in lower-case hex',
)
const word = v.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value),
  'must be 0x and 64 digits in lower-case hex',
)
const nodes = v.custom<Hex[]>(
  (value) =>
    Array.isArray(value) && [...value].every((node) => v.is(bytes, node)),
  'must be an array of 0x and bytes in lower-case hex',
)
const members = ({ expected, input }: v.StrictObjectIssue) =>
  expected === 'never'
    ? 'is not a member here'
    : input === undefined
      ? 'is required'
      : 'must be an object'
const bundle = v.strictObject(
  {
    type: v.literal(TYPE, `must be ${TYPE}`),
    v: v.literal(1, 'must be 1'),
    publicId: text,
    registry: v.pipe(
      text,
      v.regex(REGISTRY_ID, 'must be CAIP-10 of eip155, lower case'),
    ),
    batch: v.nullable(v.string('must be a string or null')),
    sealed: v.nullable(v.string('must be a string or null')),
    stateProof: v.strictObject(
      {
        header: bytes,
        accountProof: nodes,
        storageProof: v.pipe(
          v.array(v.unknown(), 'must be an array'),
          v.maxLength(MAX_SLOTS, `must have at most ${MAX_SLOTS} slots`),
          v.array(
            v.strictObject({ key: word, value: word, proof: nodes }, members),
          ),
        ),
      },
      members,
    ),
    unprovenEvent: v.nullable(
      v.strictObject(
        {
          transactionHash: word,
          blockHash: word,
          logIndex: v.custom<number>(
            (value) => Number.isSafeInteger(value) && Number(value) >= 0,
            'must be a whole number',
          ),
        },
        members,
      ),
    ),
  },
  members,
)

/**
 * @param input A bundle as JSON text, the bytes of one, or parsed.
 * @returns The bundle, and the block that it is for, so that its reader can decide whether to trust that block's hash.
 * @throws {FormatError} `bundle_malformed` with every bad field, a code of strict JSON, or `public_id_…`.
 */
export function readBundle(input: unknown): {
  bundle: Bundle
  block: Pick<Header, 'blockNumber' | 'blockHash' | 'blockTime'>
} {
  const read = v.safeParse(bundle, parseInput(input))
  if (!read.success)
    throw new FormatError('bundle_malformed', 'not a bundle', {
      fields: read.issues.map((issue) => ({
        field: v.getDotPath(issue) ?? '',
        message: issue.message,
      })),
    })
  decodePublicId(read.output.publicId)
  const { blockNumber, blockHash, blockTime } = readHeader(read.output)
  return { bundle: read.output, block: { blockNumber, blockHash, blockTime } }
}

function parseInput(input: unknown): unknown {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) return input
  if (input.length > MAX_TEXT)
    throw new FormatError('bundle_malformed', 'too long for a bundle')
  return parseStrictJson(
    typeof input === 'string' ? input : decodeJsonText(input),
  )
}

function readHeader({ stateProof }: Bundle): Header {
  try {
    return decodeHeader(stateProof.header)
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new FormatError('bundle_malformed', 'not a bundle', {
      cause,
      fields: [{ field: 'stateProof.header', message: 'must be a header' }],
    })
  }
}

export type BundleOptions = {
  /** The registry to trust, CAIP-10. From the reader, never from the bundle. */
  registry: string
  /** Hashes of blocks of the registry's chain that the reader trusts. */
  trustedBlocks: readonly Hex[]
  /** keccak256 of the registry's code, as `deployments/` has it; without it, any code at the address is the registry's. */
  codeHash?: Hex
  onCheck?: (check: Check) => void
}

/**
 * Verifies a bundle. Nothing is asked of anybody. The verdict is true as of the bundle's block, `asOf`: what happened later, a
 * revocation above all, is not in it.
 *
 * @param input As {@link readBundle}.
 * @returns A verdict; `unverifiable` when the block is not trusted or the proof proves nothing.
 * @throws {FormatError} as {@link readBundle}.
 */
export async function verifyBundle(
  input: unknown,
  options: BundleOptions,
): Promise<Verdict> {
  const { bundle, block } = readBundle(input)
  return verify(bundle.publicId, {
    chain: createBundleReader(bundle, block, options),
    blocks: [createBundleSource(bundle)],
    asOf: block.blockNumber,
    ...(options.onCheck && { onCheck: options.onCheck }),
  })
}

function createBundleReader(
  { registry, stateProof }: Bundle,
  { blockHash }: { blockHash: Hex },
  options: BundleOptions,
): ChainReader {
  parseRegistry(options.registry)
  const unproven = async () => {
    throw new ChainError('unproven', 'a bundle does not prove it')
  }
  return {
    registry: options.registry,
    async read(key) {
      if (registry !== options.registry)
        throw new ChainError('other_registry', `a bundle of ${registry}`)
      const trusted = options.trustedBlocks.some(
        (hash) => hash.toLowerCase() === blockHash,
      )
      if (!trusted)
        throw new ChainError('block_untrusted', `a bundle of ${blockHash}`)
      return readStateProof(stateProof, registry, key, options.codeHash)
    },
    issuedEvent: unproven,
    finalityOf: unproven,
  }
}

function createBundleSource({ publicId, batch, sealed }: Bundle): BlockSource {
  const { kind, hash } = decodePublicId(publicId)
  return {
    async get(wanted) {
      const isBatch = kind === 'batch' && equalBytes(wanted, hash)
      const text = isBatch ? batch : sealed
      return text === null
        ? { status: 'missing' }
        : { status: 'found', bytes: new TextEncoder().encode(text) }
    },
  }
}

/** What a bundle is made from. */
export type BundleSource = ReadOptions & {
  /** A node that knows `eth_getProof`. */
  provider: Eip1193Provider
  /** CAIP-10. */
  registry: string
  /** Where to look for the sealed document. */
  blocks: readonly BlockSource[]
  /** The number of the block that it is to be for; the newest if absent. */
  block?: number
}

/**
 * Makes a bundle of a document, or of its absence.
 *
 * @param publicId As issued.
 * @returns The bundle; without `sealed` when no source has the block.
 * @throws {FormatError} `public_id_…`
 * @throws {ChainError} when record and proof could not be read.
 */
export async function createBundle(
  publicId: string,
  source: BundleSource,
): Promise<Bundle> {
  return abortable(() => makeBundle(publicId, source), source.signal)
}

async function makeBundle(
  publicId: string,
  source: BundleSource,
): Promise<Bundle> {
  const { provider, registry, blocks, block, signal } = source
  const decoded = decodePublicId(publicId)
  const batch =
    decoded.kind === 'batch'
      ? await readBatch(decoded, registry, blocks, { signal })
      : undefined
  const key = batch ? batch.key : keyOf(decoded)
  if (!key)
    throw new ChainError(
      'batch_unknown',
      `the batch block is ${batch?.check.code}`,
    )
  const reading = await createProvingReader(provider, registry).read(key, {
    block,
    signal,
  })
  const { record, stateProof } = reading
  if (!stateProof) throw new TypeError('read without a proof')
  const issued = record.anchoredBlock !== 0
  const chain = createChainReader(provider, registry)
  const [payload, read] = await Promise.all([
    issued
      ? readPayload(fromHex(key.documentHash), blocks, { signal })
      : undefined,
    issued ? readEvent(chain, key, reading, { signal }) : undefined,
  ])
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

/** @returns `null` for what is no text, so no sealed document: it could not be given back to the byte. */
function textOf(sealed: Uint8Array): string | null {
  try {
    return decodeUtf8(sealed)
  } catch (error) {
    if (error instanceof FormatError) return null
    throw error
  }
}
