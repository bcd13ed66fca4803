import { parseRegistryId, type RegistryId } from '../document/registry-id.ts'
import type { ChainReading, DocumentKey, Finality, IssuedEvent, RegistryAccount } from './ports.ts'
import { reasonName, SUSPENDED } from './reasons.ts'
import { isReleased, isRevoked, isSuspended } from './status.ts'
import type { AccountProof, BlockchainProof } from './verdict.ts'

/**
 * @param registry The CAIP-10 account ID of the registry that was read.
 * @param found What was read besides the record; `null` = none, or unknown.
 * @returns How a document is anchored, for its verdict.
 */
export function proofOf(
  registry: RegistryId,
  { documentHash, batch }: DocumentKey,
  { record, account, revoker, issuer }: ChainReading,
  found: {
    domain: string | null
    event: IssuedEvent | undefined
    finality: Finality | null
    closedAt: number | null
  },
): BlockchainProof {
  const { id, name, uri, closedBlock } = issuer
  const { domain, event, finality, closedAt } = found
  const revoked = isRevoked(record)
  const suspended = isSuspended(record, revoker)
  const released = isReleased(record)
  return {
    chainId: parseRegistryId(registry).chainId,
    registry,
    documentHash,
    batchRoot: batch?.root ?? null,
    issuer: {
      id,
      account: account.account,
      name,
      uri,
      domain,
      closedBlock: closedBlock || null,
      closedAt,
    },
    account: accountProofOf(account),
    transactionHash: event?.transactionHash ?? null,
    blockNumber: record.anchoredBlock,
    blockHash: event?.blockHash ?? null,
    blockTime: record.anchoredAt,
    logIndex: event?.logIndex ?? null,
    finality,
    validUntil: record.validUntil || null,
    // If a release does not count, the registry does not say when the suspension began.
    revokedAt: (revoked || suspended) && !released ? record.revokedAt : null,
    reason: revoked ? reasonName(record.reason) : suspended ? reasonName(SUSPENDED) : null,
    releasedAt: released ? record.revokedAt : null,
    revoker: revoker && accountProofOf(revoker),
    revokedBlock: record.revokedBlock || null,
    setAside: record.setAside,
  }
}

function accountProofOf(account: RegistryAccount): AccountProof {
  return {
    address: account.account,
    addedBlock: account.addedBlock,
    changedBlock: account.changedBlock || null,
    retiredBlock: account.retiredBlock || null,
    distrustedFrom: account.distrustedFrom || null,
  }
}
