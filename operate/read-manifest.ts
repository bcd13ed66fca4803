import { type Batch, recountBatch } from '#document/batch/batch.ts'
import { decodeManifest } from '#document/batch/manifest.ts'
import { FormatError } from '#document/errors.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { firstOf } from './backup/blocks.ts'

/**
 * @param manifest The sha-256 of the root block of a manifest.
 * @returns The batch that it lists, recounted; `undefined` when no source has all of its blocks.
 */
export async function readManifest(
  manifest: Hex,
  sources: readonly BlockSource[],
): Promise<Batch | undefined> {
  const block = await firstOf(sources, fromHex(manifest))
  if (!block) return undefined
  try {
    return await recountBatch(block, chunksOf(block, sources))
  } catch (error) {
    // A chunk is missing, or the issuer published something else.
    if (error instanceof FormatError) return undefined
    throw error
  }
}

async function* chunksOf(
  block: Uint8Array,
  sources: readonly BlockSource[],
): AsyncGenerator<Uint8Array> {
  for (const hash of decodeManifest(block).chunks) {
    const chunk = await firstOf(sources, fromHex(hash))
    if (chunk) yield chunk
  }
}
