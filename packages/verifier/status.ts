import type {
  ChainReading,
  RegistryAccount,
  RegistryIssuer,
  RegistryRecord,
  RegistryStatus,
} from './ports.ts'
import { RELEASED, SUPERSEDED, SUSPENDED } from './reasons.ts'

// The registry's rules (contracts/DocumentRegistry.sol), for readers of its storage and for
// checking that a node's answer is consistent.

/** Represents a missing account. */
export const NO_ACCOUNT: RegistryAccount = {
  account: `0x${'00'.repeat(20)}`,
  accountIndex: 0,
  permissions: 0,
  addedBlock: 0,
  changedBlock: 0,
  retiredBlock: 0,
  distrustedFrom: 0,
}

/** The issuer in the registry's answer for a document that was never issued. */
export function emptyIssuer(id: number): RegistryIssuer {
  return {
    id,
    name: '',
    uri: '',
    documentCount: 0,
    batchCount: 0,
    accountCount: 0,
    changedBlock: 0,
    closedBlock: 0,
  }
}

type Revocation = Pick<RegistryRecord, 'revokedBlock' | 'reason'>

/** @returns Whether a record is revoked, which includes superseded documents. */
export function isRevoked({ revokedBlock, reason }: Revocation): boolean {
  return revokedBlock !== 0 && reason !== SUSPENDED && reason !== RELEASED
}

export function isSuperseded(record: Revocation): boolean {
  return isRevoked(record) && record.reason === SUPERSEDED
}

/** The account that last revoked, suspended or released; `null` when none did. */
type Revoker = Pick<RegistryAccount, 'distrustedFrom'> | null

/**
 * @returns Whether a record is suspended. A release by an account that is distrusted from that
 * block or an earlier one counts as a suspension.
 */
export function isSuspended(record: Revocation, revoker: Revoker): boolean {
  const { revokedBlock, reason } = record
  if (revokedBlock === 0) return false
  return reason === SUSPENDED || (isReleased(record) && isDistrustedRevision(record, revoker))
}

/** {@link isSuspended} decides whether a release counts. */
export function isReleased({ revokedBlock, reason }: Revocation): boolean {
  return revokedBlock !== 0 && reason === RELEASED
}

/** @returns Whether the last revocation, suspension or release was made by a distrusted account. */
export function isDistrustedRevision(
  { revokedBlock }: Pick<RegistryRecord, 'revokedBlock'>,
  revoker: Revoker,
): boolean {
  return revokedBlock !== 0 && revoker !== null && isDistrustedAt(revoker, revokedBlock)
}

/** @returns Whether an account's actions in a block are distrusted. */
export function isDistrustedAt(
  { distrustedFrom }: Pick<RegistryAccount, 'distrustedFrom'>,
  block: number,
): boolean {
  return distrustedFrom !== 0 && block >= distrustedFrom
}

/** @returns The registry's status of a record, at a block with this timestamp. */
export function registryStatusOf({
  record,
  account,
  revoker,
  blockTime,
}: Pick<ChainReading, 'record' | 'account' | 'blockTime'> & {
  revoker: Revoker
}): RegistryStatus {
  if (record.anchoredBlock === 0) return 'not_issued'
  if (isDistrustedAt(account, record.anchoredBlock)) return 'distrusted'
  if (isSuperseded(record)) return 'superseded'
  if (isRevoked(record)) return 'revoked'
  if (isSuspended(record, revoker)) return 'suspended'
  const { validUntil } = record
  return validUntil !== 0 && blockTime >= validUntil ? 'expired' : 'valid'
}

/**
 * The slot of a document or a batch, with the account that last revoked, suspended or released it.
 */
export type RevisedSlot<T extends Revoker = Revoker> = { record: RegistryRecord; revoker: T }

/**
 * @param own The document's own slot, whose revocation applies to every path.
 * @param batch The batch's slot, with the size in place of the expiry.
 * @param validUntil The expiry in the leaf.
 * @returns The record of a document in a batch, and its revoker. Of the two revocations it has a
 * final one before a suspension, and otherwise the earlier one; on a tie, and if neither has
 * effect, the document's own.
 */
export function recordInBatch<T extends Revoker>(
  own: RevisedSlot<T>,
  batch: RevisedSlot<T>,
  validUntil: number,
): RevisedSlot<T> {
  const { accountIndex, anchoredBlock, anchoredAt } = batch.record
  const shown = prevails(batch, own) ? batch : own
  return {
    record: {
      ...shown.record,
      accountIndex,
      anchoredBlock,
      anchoredAt,
      validUntil,
      setAside: own.record.setAside || batch.record.setAside,
    },
    revoker: shown.revoker,
  }
}

function prevails(batch: RevisedSlot, own: RevisedSlot): boolean {
  const weight = weightOf(batch)
  if (weight !== weightOf(own)) return weight > weightOf(own)
  return weight !== 0 && batch.record.revokedBlock < own.record.revokedBlock
}

function weightOf({ record, revoker }: RevisedSlot): number {
  if (isRevoked(record)) return 2
  return isSuspended(record, revoker) ? 1 : 0
}

/**
 * Checks a reading for contradictions, because a node that contradicts itself cannot be trusted.
 *
 * @returns Why a reading cannot be the registry's answer, or `undefined`.
 */
export function contradictionOf(reading: ChainReading): string | undefined {
  const { record, account, revoker, issuer, status } = reading
  if (status !== registryStatusOf(reading)) return 'the status contradicts the record'
  if (status === 'not_issued')
    return revoker === null && isEmpty(account) && isEmpty(issuer, 'id')
      ? undefined
      : 'a record that was never issued has an account or issuer'
  if (account.account === NO_ACCOUNT.account || account.accountIndex !== record.accountIndex)
    return 'the account does not match the record'
  if (record.revokedBlock === 0)
    return revoker === null && !hasRevocation(record) ? undefined : 'the revocation has no block'
  if (revoker?.accountIndex !== record.revokerIndex || revoker.account === NO_ACCOUNT.account)
    return 'the revoker does not match the record'
  const { accountIndex } = account
  const isOneAccount = revoker.accountIndex === accountIndex
  return isOneAccount && !isSame(revoker, account)
    ? 'the same account has two different states'
    : undefined
}

/** `setAside` is ignored, because a document in a batch may have that of the batch. */
function hasRevocation({ revokerIndex, revokedAt, reason }: RegistryRecord) {
  return revokerIndex !== 0 || revokedAt !== 0 || reason !== 0
}

function isEmpty(part: object, ...except: string[]): boolean {
  return Object.entries(part).every(
    ([name, value]) => except.includes(name) || value === 0 || /^(0x0*)?$/.test(String(value)),
  )
}

function isSame(one: RegistryAccount, other: RegistryAccount): boolean {
  return Object.entries(one).every(
    ([name, value]) => other[name as keyof RegistryAccount] === value,
  )
}
