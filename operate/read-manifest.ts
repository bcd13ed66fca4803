import { InputError } from '#cli/errors.ts'
import { recountManifest } from '#cli/manifest.ts'
import type { Batch } from '#document/batch/batch.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import type { BlockSource } from '#verifier/ports.ts'

/**
 * @param manifest The sha-256 of the root block of a manifest.
 * @returns The recounted batch; `undefined` when no source has all of its blocks.
 */
export async function readManifest(
  manifest: Hex,
  sources: readonly BlockSource[],
): Promise<Batch | undefined> {
  try {
    return (await recountManifest(fromHex(manifest), sources)).batch
  } catch (error) {
    if (error instanceof InputError) return undefined
    throw error
  }
}
