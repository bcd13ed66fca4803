import * as v from 'valibot'
import type { Hex } from './hex.ts'
import { bytes32, describeMember } from './members.ts'

/**
 * One slot of the registry: its position and value (32 bytes each), and the nodes from the storage
 * root to it.
 */
export type SlotProof = { key: Hex; value: Hex; proof: readonly Hex[] }

/**
 * Everything that a verdict reads from the chain, with its proof (EIP-1186). It is as trustworthy
 * as the hash of the header. `readStateProof` of the verifier reads it.
 */
export type StateProof = {
  /** The RLP of the block's header. */
  header: Hex
  /** The nodes from the header's state root to the registry's account. */
  accountProof: readonly Hex[]
  /** The slots in the order in which the verdict reads them, each once, and no others. */
  storageProof: readonly SlotProof[]
}

/**
 * Enough for a name and URI of the issuer of 64 KiB each. More are refused unread, because each
 * could have several bad fields to report.
 */
const MAX_SLOTS = 4096

const bytes = v.custom<Hex>(
  (value) => typeof value === 'string' && /^0x[0-9a-f]+$/.test(value) && value.length % 2 === 0,
  'must be bytes in lower-case hexadecimal, with 0x',
)
const nodes = v.custom<Hex[]>(
  (value) => Array.isArray(value) && [...value].every((node) => v.is(bytes, node)),
  'must be an array of bytes in lower-case hexadecimal, with 0x',
)

/** The form of a state proof in a file. What it proves is not checked here. */
export const stateProof = v.strictObject(
  {
    header: bytes,
    accountProof: nodes,
    storageProof: v.pipe(
      v.array(v.unknown(), 'must be an array'),
      v.maxLength(MAX_SLOTS, `must have at most ${MAX_SLOTS} slots`),
      v.array(v.strictObject({ key: bytes32, value: bytes32, proof: nodes }, describeMember)),
    ),
  },
  describeMember,
)
