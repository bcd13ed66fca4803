import type { Document, DocumentPart } from '../document/document.ts'
import type { Hex } from '../document/hex.ts'
import type { RegistryId } from '../document/registry-id.ts'
import type { StateProof } from '../document/state-proof.ts'
import type { Finality } from './ports.ts'

/** The names of the checks. */
export type CheckName =
  | 'batch'
  | 'chain'
  | 'record'
  | 'issuer'
  | 'identity'
  | 'credential'
  | 'supersession'
  | 'revocation'
  | 'suspension'
  | 'payload'
  | 'key'
  | 'content'
  | 'expiry'
  | 'dating'
  | 'event'

/**
 * One check. `unknown` means "could not be checked" and is never a failure. `code` is stable and
 * gives the reason.
 */
export type Check = {
  check: CheckName
  outcome: 'pass' | 'fail' | 'unknown'
  code: string
}

export type VerdictStatus =
  | 'unverifiable'
  | 'not_issued'
  | 'distrusted'
  | 'superseded'
  | 'revoked'
  | 'suspended'
  | 'erased'
  | 'wrong_key'
  | 'tampered'
  | 'expired'
  | 'valid'

/** An account of the issuer in the registry; `null` = it did not happen. */
export type AccountProof = {
  address: Hex
  addedBlock: number
  /** The block in which its permissions last changed. */
  changedBlock: number | null
  retiredBlock: number | null
  /** Whatever it issued or released at or after this block is not trusted. */
  distrustedFrom: number | null
}

/** How a document is anchored. Times are Unix seconds; `null` = none, or it could not be read. */
export type BlockchainProof = {
  chainId: number
  /** The CAIP-10 account ID of the registry. */
  registry: RegistryId
  documentHash: Hex
  /** The Merkle root of its batch; `null` = issued alone. */
  batchRoot: Hex | null
  issuer: {
    id: number
    account: Hex
    name: string
    uri: string
    /**
     * The domain that vouches for the issuer, as host with optional port and path; `null` = none
     * does, or it was not checked. It is in lower-case ASCII: an internationalized name is in its
     * A-label form (`xn--…`).
     */
    domain: string | null
    /** The block in which the registry's admin closed it; `null` = it is open. */
    closedBlock: number | null
    /** The time of that block, for information only; `null` also when it could not be read. */
    closedAt: number | null
  }
  /** The account that issued it, `issuer.account`. */
  account: AccountProof
  transactionHash: Hex | null
  blockNumber: number
  blockHash: Hex | null
  blockTime: number
  logIndex: number | null
  /** For information only, it never decides `valid`; `null` also when it was not requested. */
  finality: Finality | null
  /** The first second at which the document is no longer valid; `null` = never expires. */
  validUntil: number | null
  /**
   * When it was revoked or suspended; `null` also when it is suspended because the account that
   * released it is distrusted, since the registry then does not say when.
   */
  revokedAt: number | null
  /** The name of the RFC 5280 reason; `certificateHold` = suspended. */
  reason: string | null
  /**
   * When it was last released; `null` = never, or it was revoked or suspended since. A release by
   * an account that is distrusted from that block on (`revoker`) does not count.
   */
  releasedAt: number | null
  /** The account that last revoked, suspended or released it; `null` = none did. */
  revoker: AccountProof | null
  /** The block in which that account did so. Compare it with `revoker.distrustedFrom`. */
  revokedBlock: number | null
  /** Whether a final revocation was set aside because the account that made it is distrusted. */
  setAside: boolean
}

/** The judgement about a document or the disclosed part of it. */
export type Judgement = {
  /** True only for `status: 'valid'`. */
  valid: boolean
  status: VerdictStatus
  blockchainProof: BlockchainProof | null
  checks: Check[]
  /**
   * The block as of which the verdict holds; `null` when the chain could not be read. Its hash is
   * `null` unless the reading was proven against it.
   */
  asOf: { blockNumber: number; blockHash: Hex | null; blockTime: number } | null
  /** Set for a reading with a proof, also for a proof of absence. */
  stateProof?: StateProof
}

export type Verdict = Judgement & { document: Document | null }

/** The verdict on a presentation; `disclosed` has the fields that its holder disclosed. */
export type PresentationVerdict = Judgement & { disclosed: DocumentPart | null }

type Rule = [CheckName, Check['outcome'], VerdictStatus]

/**
 * The first rule that applies gives the status. `dating` and `event` have no rules, because they
 * only inform. The rules of `identity` are for readers who require a domain. An outage of the domain
 * comes last, because it must not hide what the chain says.
 */
const RULES: Rule[] = [
  ['batch', 'unknown', 'unverifiable'],
  ['batch', 'fail', 'tampered'],
  ['chain', 'unknown', 'unverifiable'],
  ['record', 'fail', 'not_issued'],
  ['issuer', 'fail', 'distrusted'],
  ['identity', 'fail', 'distrusted'],
  ['supersession', 'fail', 'superseded'],
  ['revocation', 'fail', 'revoked'],
  ['suspension', 'fail', 'suspended'],
  ['payload', 'fail', 'erased'],
  ['payload', 'unknown', 'unverifiable'],
  ['key', 'fail', 'wrong_key'],
  ['content', 'fail', 'tampered'],
  ['content', 'unknown', 'unverifiable'],
  ['credential', 'fail', 'tampered'],
  ['expiry', 'fail', 'expired'],
  ['identity', 'unknown', 'unverifiable'],
  ['credential', 'unknown', 'unverifiable'],
]

/**
 * The checks that must all pass for `valid`. `batch` and `key` are missing because not every
 * document has them; if they apply, the content cannot pass without them. Only a credential has
 * `credential`.
 */
const NEEDED: CheckName[] = [
  'chain',
  'record',
  'issuer',
  'supersession',
  'revocation',
  'suspension',
  'payload',
  'content',
  'expiry',
]

/**
 * @param issuerDomain The domain that the reader requires; if absent, `identity` decides nothing.
 * @returns The status that follows from the checks, which is never `valid` if a required check is
 * missing.
 */
export function statusOf(checks: readonly Check[], issuerDomain?: string): VerdictStatus {
  const isAsked = (name: CheckName) => name !== 'identity' || issuerDomain !== undefined
  const has = (name: CheckName, outcome: Check['outcome']) =>
    isAsked(name) && checks.some((c) => c.check === name && c.outcome === outcome)
  const rule = RULES.find(([name, outcome]) => has(name, outcome))
  if (rule) return rule[2]
  const needed = [...NEEDED, 'identity' as const].filter(isAsked)
  return needed.every((name) => has(name, 'pass')) ? 'valid' : 'unverifiable'
}
