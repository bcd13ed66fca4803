import { encodeEntry } from '#document/batch/entry.ts'
import { NODE, rootOf } from '#document/batch/tree.ts'
import { fromHex, type Hex, toHex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type {
  ChainReader,
  ChainReading,
  DocumentKey,
  RegistryIssuer,
  RegistryRecord,
} from '#verifier/ports.ts'
import { emptyIssuer, NO_ACCOUNT } from '#verifier/status.ts'

/**
 * A registry in memory, with its records and a reader that checks Merkle paths like the contract.
 */
export type MemoryRegistry = {
  reader: ChainReader
  issue(documentHash: Uint8Array, validUntil?: number): void
  issueBatch(root: Hex): void
  revoke(documentHash: Uint8Array): void
}

const ACCOUNT: Hex = `0x${'ab'.repeat(20)}`
const BLOCK = { blockNumber: 20, blockTime: 1_800_000_000 }

/**
 * @param registry A CAIP-10 account ID.
 * @param issuerId The only issuer.
 * @param uri Its domain.
 */
export function createMemoryRegistry(registry: RegistryId, issuerId = 1, uri = ''): MemoryRegistry {
  const issuer = { ...emptyIssuer(issuerId), uri }
  const records = new Map<Hex, { validUntil: number }>()
  const roots = new Set<Hex>()
  const revoked = new Set<Hex>()

  /** @returns The record; `undefined` = not issued. */
  function validUntilOf(key: DocumentKey): number | undefined {
    if (key.issuerId !== issuerId) return undefined
    const { batch } = key
    if (!batch) return records.get(key.documentHash)?.validUntil
    const { root, validUntil, proof } = batch
    if (!roots.has(root) || proof.length % NODE !== 0) return undefined
    const documentHash = fromHex(key.documentHash)
    const proven = rootOf(encodeEntry({ documentHash, validUntil }), proof)
    return toHex(proven) === root ? validUntil : undefined
  }

  return {
    issue: (hash, validUntil = 0) => void records.set(toHex(hash), { validUntil }),
    issueBatch: (root) => void roots.add(root),
    revoke: (hash) => void revoked.add(toHex(hash)),
    reader: {
      registry,
      read: async (key) => {
        const validUntil = validUntilOf(key)
        if (validUntil === undefined) return readingOf(emptyIssuer(issuerId), emptyRecord())
        const isRevoked = revoked.has(key.documentHash)
        return readingOf(issuer, issuedRecord(validUntil, isRevoked))
      },
      issuedEvent: async () => undefined,
      finalityOf: async () => 'finalized',
      blockTime: async () => 0,
    },
  }
}

function emptyRecord(): RegistryRecord {
  return {
    accountIndex: 0,
    anchoredBlock: 0,
    anchoredAt: 0,
    validUntil: 0,
    revokerIndex: 0,
    revokedBlock: 0,
    revokedAt: 0,
    reason: 0,
    setAside: false,
  }
}

function issuedRecord(validUntil: number, isRevoked: boolean): RegistryRecord {
  const { blockTime } = BLOCK
  return {
    ...emptyRecord(),
    accountIndex: 1,
    anchoredBlock: 10,
    anchoredAt: blockTime - 100,
    validUntil,
    ...(isRevoked && { revokerIndex: 1, revokedBlock: 15, revokedAt: blockTime - 50, reason: 1 }),
  }
}

function readingOf(issuer: RegistryIssuer, record: RegistryRecord): ChainReading {
  const issued = record.anchoredBlock !== 0
  const account = issued
    ? { ...NO_ACCOUNT, account: ACCOUNT, accountIndex: 1, addedBlock: 3 }
    : NO_ACCOUNT
  return {
    ...BLOCK,
    status: issued ? 'valid' : 'not_issued',
    record,
    account,
    revoker: record.revokedBlock === 0 ? null : account,
    issuer,
  }
}
