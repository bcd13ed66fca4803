import { type Batch, recountBatch } from '#document/batch/batch.ts'
import { decodeManifest } from '#document/batch/manifest.ts'
import { FormatError, type FormatErrorCode } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import type { BlockSource } from '#verifier/ports.ts'
import type { ListedBatch } from '#verifier/proof/completeness.ts'
import { InputError } from './errors.ts'

/** Why a manifest does not list all documents of a batch. */
export type Finding =
  | FormatErrorCode
  | 'other_registry'
  | 'other_issuer'
  | 'other_root'
  | 'other_size'
  | 'not_issued'

/** Why a listed batch was not recounted; `null` = its manifest lists all of its documents. */
export type Recount = Finding | Unread | null
/** The batch could not be recounted, which says nothing about its manifest. */
type Unread = (typeof UNREAD)[number]
const UNREAD = ['no_manifest', 'unreadable', 'unreachable'] as const

export const isUnread = (code: Recount): code is Unread => UNREAD.some((one) => one === code)

/**
 * @param hash The sha-256 of the manifest's root block.
 * @returns The batch rebuilt from the manifest, or the code of its error.
 * @throws {InputError} `unreadable` when no source has all of it; `unreachable` when one of them
 * did not answer.
 */
export async function recountManifest(
  hash: Uint8Array,
  blocks: readonly BlockSource[],
): Promise<{ batch?: Batch; code?: FormatErrorCode }> {
  const read = async (hash: Uint8Array, what: string) => {
    const { bytes, check } = await readPayload(hash, blocks)
    if (bytes) return bytes
    if (check.code === 'unreachable')
      throw new InputError(
        'unreachable',
        `a source did not answer for ${what} of the manifest: try again later`,
      )
    throw new InputError('unreadable', `no --ipfs has ${what} of the manifest`)
  }
  try {
    const root = await read(hash, 'the root block')
    const { chunks } = decodeManifest(root)
    const readChunks = async function* () {
      for (const [index, chunk] of chunks.entries()) yield read(fromHex(chunk), `chunk ${index}`)
    }
    return { batch: await recountBatch(root, readChunks()) }
  } catch (error) {
    if (error instanceof FormatError) return { code: error.code }
    throw error
  }
}

/**
 * Recounts a batch of a list.
 *
 * @param manifest The sha-256 of its manifest's root block, if known.
 * @param onBatch Receives the batch when its manifest lists all of its documents.
 */
export async function recountListed(
  { root, size }: Pick<ListedBatch, 'root' | 'size'>,
  manifest: Hex | undefined | null,
  {
    registry,
    issuerId,
    blocks,
  }: { registry: RegistryId; issuerId: number; blocks: readonly BlockSource[] },
  onBatch: (batch: Batch) => Promise<void> = async () => {},
): Promise<Recount> {
  if (manifest === undefined || manifest === null) return 'no_manifest'
  try {
    const { batch, code } = await recountManifest(fromHex(manifest), blocks)
    if (code !== undefined) return code
    if (batch?.registry !== registry) return 'other_registry'
    if (batch.issuerId !== issuerId) return 'other_issuer'
    if (batch.root !== root) return 'other_root'
    if (batch.size !== size) return 'other_size'
    await onBatch(batch)
    return null
  } catch (error) {
    if (
      error instanceof InputError &&
      (error.code === 'unreadable' || error.code === 'unreachable')
    )
      return error.code
    throw error
  }
}
