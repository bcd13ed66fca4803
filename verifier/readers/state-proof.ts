import type { Hex } from '../../document/hex.ts'
import type { RegistryId } from '../../document/registry-id.ts'
import type { StateProof } from '../../document/state-proof.ts'
import { ChainError } from '../errors.ts'
import type { ChainReader } from '../ports.ts'
import { readStateProof } from '../proof/state-proof.ts'
import { parseRegistry } from './chain.ts'

/** What the reader of a proof trusts. */
export type ProofOptions = {
  /** The registry to trust, CAIP-10. The reader chooses it, never the file. */
  registry: RegistryId
  /** Hashes of blocks of the registry's chain that the reader trusts. */
  trustedBlocks: readonly Hex[]
  /**
   * keccak256 of the registry's code, as `deployments/` has it; without it, any code at the address
   * is the registry's.
   */
  codeHash?: Hex
}

/**
 * Reads a record from a proof in a file, without any request.
 *
 * @param proven The registry that the file claims to be of, and its proof; `null` = it has none.
 * @param block The block that the proof is for.
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
