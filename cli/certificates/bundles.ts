import { CertificateError } from '#certificates/errors.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { type Bundle, createBundle, readBundle } from '#verifier/bundle.ts'
import type { Network } from '#verifier/network.ts'
import type { Gateway } from '../gateway.ts'
import { refusalOf } from '../outcome.ts'
import { type CommandSources, onlyNode } from '../sources.ts'

/** Where certificates get their documents, keys and proofs from. */
export type Bundles = {
  /** @throws {ChainError | CertificateError} about this document alone. @throws {InputError} */
  read(publicId: string): Promise<Bundle>
  /** The registry to trust, and its code; absent = what the gateway says. */
  trusted?: { registry: RegistryId; network: Network; codeHash?: Hex }
}

/** From the issuer's own gateway, over REST: it needs the scope `documents:read`. */
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

/** From chain and IPFS. @throws {UsageError} without a node. */
export function bundlesOfSources(sources: CommandSources, flags: { rpc?: string[] }): Bundles {
  const { registry, network, codeHash, blocks, asOf, nodes } = sources
  return {
    read: (publicId) =>
      createBundle(publicId, {
        provider: onlyNode(nodes, flags),
        registry,
        blocks,
        ...(asOf !== undefined && { block: asOf }),
      }),
    trusted: { registry, network, ...(codeHash !== undefined && { codeHash }) },
  }
}
