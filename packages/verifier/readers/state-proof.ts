import type { Hex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import type { StateProof } from '../../document/state-proof.ts'
import { ChainError } from '../errors.ts'
import type { ChainReader } from '../ports.ts'
import { readStateProof } from '../proof/state-proof.ts'
import { parseRegistry } from './chain.ts'

/** The values that the reader of a proof trusts. */
export type ProofOptions = {
  /** The CAIP-10 account ID of the registry to trust. The reader chooses it, never the file. */
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
 * Reads a record from a proof in a file, without any request.
 *
 * @param proven The registry that the file claims, and its proof; `null` = it has none.
 * @param block The block of the proof.
 */
export function createProofReader(
  proven: { registry: RegistryId; stateProof: StateProof | null },
  block: { blockHash: Hex } | null,
  options: ProofOptions,
): ChainReader {
  parseRegistry(options.registry)
  const { registry, stateProof } = proven
  const unproven = async () => {
    throw new ChainError('unproven', 'the file contains no proof of this')
  }
  return {
    registry: options.registry,
    async read(key) {
      if (registry !== options.registry)
        throw new ChainError('other_registry', `the proof is for another registry, ${registry}`)
      if (!stateProof || !block) return unproven()
      const { blockHash } = block
      const trusted = options.trustedBlocks.some((hash) => hash.toLowerCase() === blockHash)
      if (!trusted)
        throw new ChainError(
          'block_untrusted',
          `the proof is for block ${blockHash}, which is not trusted`,
        )
      return readStateProof(stateProof, registry, key, options.codeHash)
    },
    issuedEvent: unproven,
    finalityOf: unproven,
    blockTime: unproven,
  }
}
