import * as v from 'valibot'
import { fromCanonical, toCanonical } from '../canonical.ts'
import { FormatError, refusingAs } from '../errors.ts'
import { bytes32, issuerId, registry } from '../members.ts'
import { ENTRY } from './entry.ts'

/**
 * The number of entries in every chunk of a manifest except the last, because a chunk is a block of
 * at most 1 MiB.
 */
export const ENTRIES_A_CHUNK = 28_339
/** The root block is also a block of at most 1 MiB. */
const MAX_CHUNKS = 15_000
/** The maximum number of documents in a batch. */
export const MAX_BATCH_SIZE = MAX_CHUNKS * ENTRIES_A_CHUNK
const MAX_BYTES = 1_048_576

/**
 * The root block of a manifest: registry, issuer and size of a batch, and the sha-256 of every
 * chunk.
 */
type Manifest = v.InferOutput<typeof schema>

export const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_BATCH_SIZE))

const schema = v.pipe(
  v.strictObject({
    chunks: v.array(bytes32),
    issuerId,
    registry,
    root: bytes32,
    size,
    v: v.literal(1),
  }),
  v.check(({ chunks, size }) => chunks.length === chunksOf(size)),
)

export function encodeManifest(manifest: Manifest): Uint8Array {
  return toCanonical(manifest)
}

/** @throws {FormatError} `manifest_malformed`. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  return refusingAs('manifest_malformed', 'invalid manifest', () => {
    const { success, output } = v.safeParse(
      schema,
      bytes.length <= MAX_BYTES ? fromCanonical(bytes) : undefined,
    )
    if (success) return output
    throw new FormatError('manifest_malformed', 'invalid manifest')
  })
}

/** @returns The number of chunks of a batch of this size. */
export function chunksOf(size: number): number {
  return Math.ceil(size / ENTRIES_A_CHUNK)
}

/** @returns The bytes of a chunk of a batch of this size. */
export function chunkLength(size: number, index: number): number {
  return Math.min(ENTRIES_A_CHUNK, size - index * ENTRIES_A_CHUNK) * ENTRY
}
