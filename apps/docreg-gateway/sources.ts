import { createLog } from '#base/log.ts'
import { InputError } from '#cli/errors.ts'
import { recountManifest } from '#cli/manifest.ts'
import type { Batch } from '#document/batch/batch.ts'
import { fromHex, type Hex } from '#document/hex.ts'
import { openKubo } from '#parts/stores.ts'
import type { Config } from '#settings/config.ts'
import { readPayload } from '#verifier/checks/payload.ts'
import type { BlockSource } from '#verifier/ports.ts'
import { createIpfsGatewaySource } from '#verifier/readers/ipfs-gateway.ts'
import { patientSource } from '#verifier/readers/patience.ts'

// Payloads that commands copy. What a source does not answer is not lost, so the command ends.

/** @returns The sources besides the database. */
export async function openSources(config: Config): Promise<BlockSource[]> {
  const { ipfsGateways, ipfsTimeout, logLevel } = config
  const kubo = await openKubo(config, createLog(logLevel))
  const gateways = ipfsGateways.map((url) =>
    patientSource(createIpfsGatewaySource(url, ipfsTimeout)),
  )
  return kubo ? [kubo, ...gateways] : gateways
}

/**
 * @param hash The sha-256 of the block.
 * @returns The block; `undefined` when no source has it.
 * @throws {InputError} `unreachable` when a source did not answer and no other has it.
 */
export async function readBlock(
  hash: Uint8Array,
  sources: readonly BlockSource[],
): Promise<Uint8Array | undefined> {
  const { bytes, check } = await readPayload(hash, sources)
  if (check.code === 'unreachable') throw unreachable()
  return bytes
}

/**
 * @param manifest The sha-256 of the root block of a manifest.
 * @returns The recounted batch; `undefined` when no source has all of its blocks.
 * @throws {InputError} as {@link readBlock}.
 */
export async function readManifest(
  manifest: Hex,
  sources: readonly BlockSource[],
): Promise<Batch | undefined> {
  try {
    return (await recountManifest(fromHex(manifest), sources)).batch
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    if (error.code === 'unreachable') throw unreachable()
    return undefined
  }
}

function unreachable(): InputError {
  return new InputError(
    'unreachable',
    'a source of payloads does not answer: start the command again when it does, or take it out of IPFS_GATEWAYS',
  )
}
