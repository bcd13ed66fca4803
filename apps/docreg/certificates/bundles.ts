import { CertificateError } from '#certificates/errors.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { type Bundle, createBundle, readBundle } from '#verifier/bundle.ts'
import type { Network } from '#verifier/network.ts'
import type { Gateway } from '../gateway.ts'
import { refusalOf } from '../outcome.ts'
import { type CommandSources, firstAnswering } from '../sources.ts'

/** The source of the documents, keys and proofs for certificates. */
export type Bundles = {
  /** @throws {ChainError | CertificateError} for this document only. @throws {InputError} */
  read(publicId: string): Promise<Bundle>
  /** The registry to trust, with its code; absent = the one that the gateway names. */
  trusted?: { registry: RegistryId; network: Network; codeHash?: Hex }
}

/**
 * Reads bundles from the issuer's own gateway over REST, which requires the scope `documents:read`.
 */
export function bundlesOfGateway({ client }: Gateway): Bundles {
  return {
    async read(publicId) {
      try {
        return readBundle(await client.retrieveBundle({ path: { publicId } })).bundle
      } catch (error) {
        throw new CertificateError('not_valid', refusalOf(error), error)
      }
    },
  }
}

/** Reads bundles from chain and IPFS. @throws {UsageError} without a node. */
export function bundlesOfSources(sources: CommandSources): Bundles {
  const { registry, network, codeHash, patientBlocks: blocks, asOf, nodes } = sources
  const provider = firstAnswering(nodes)
  return {
    read: (publicId) =>
      createBundle(publicId, {
        provider,
        registry,
        blocks,
        ...(asOf !== undefined && { block: asOf }),
      }),
    trusted: { registry, network, ...(codeHash !== undefined && { codeHash }) },
  }
}
