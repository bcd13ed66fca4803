import { describe, expect, test } from 'vitest'
import type {
  ChainReading,
  RegistryAccount,
  RegistryRecord,
  RegistryStatus,
} from '#verifier/ports.ts'
import {
  contradictionOf,
  emptyIssuer,
  isDistrustedRevision,
  isSuspended,
  NO_ACCOUNT,
  type RevisedSlot,
  recordInBatch,
  registryStatusOf,
} from '#verifier/status.ts'

const NO_RECORD: RegistryRecord = {
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
const issued = (more: Partial<RegistryRecord> = {}): RegistryRecord => ({
  ...NO_RECORD,
  accountIndex: 2,
  anchoredBlock: 7,
  anchoredAt: 70,
  ...more,
})
const revoked = (revokedBlock: number, reason: number) => ({
  revokedBlock,
  reason,
  revokedAt: 10 * revokedBlock,
  revokerIndex: 3,
})
const account: RegistryAccount = {
  ...NO_ACCOUNT,
  account: `0x${'b2'.repeat(20)}`,
  accountIndex: 2,
  permissions: 1,
  addedBlock: 3,
}
const revoker: RegistryAccount = {
  ...account,
  account: `0x${'c3'.repeat(20)}`,
  accountIndex: 3,
  permissions: 2,
}
const statusOf = (
  record: RegistryRecord,
  { distrustedFrom = 0, revokerFrom = 0, blockTime = 100 } = {},
) =>
  registryStatusOf({
    record,
    account: { ...account, distrustedFrom },
    revoker: record.revokedBlock === 0 ? null : { ...revoker, distrustedFrom: revokerFrom },
    blockTime,
  })

describe('registryStatusOf', () => {
  test.each<[string, RegistryStatus, Partial<RegistryRecord>]>([
    ['a record', 'valid', {}],
    ['the last second', 'valid', { validUntil: 101 }],
    ['the first second after', 'expired', { validUntil: 100 }],
    ['a suspension', 'suspended', { ...revoked(8, 6), validUntil: 1 }],
    ['a release', 'valid', revoked(8, 8)],
    ['a release, then the end', 'expired', { ...revoked(8, 8), validUntil: 1 }],
    ['a revocation without a reason', 'revoked', revoked(8, 0)],
    ['a revocation after the end', 'revoked', { ...revoked(8, 1), validUntil: 1 }],
    ['a successor', 'superseded', revoked(8, 4)],
    ['a reason without a revocation', 'valid', { reason: 6 }],
  ])('%s: %s', (_, status, more) => {
    expect(statusOf(issued(more))).toBe(status)
  })

  test('distrust comes before everything else', () => {
    for (const more of [{}, revoked(8, 1), revoked(8, 4), { validUntil: 1 }]) {
      for (const distrustedFrom of [1, 7])
        expect(statusOf(issued(more), { distrustedFrom })).toBe('distrusted')
      expect(statusOf(issued(more), { distrustedFrom: 8 })).toBe(statusOf(issued(more)))
    }
  })

  test('a revocation alone does not mean issued', () => {
    const record = { ...NO_RECORD, ...revoked(8, 1) }
    expect(statusOf(record, { distrustedFrom: 1 })).toBe('not_issued')
  })
})

describe('a release by a distrusted account', () => {
  test.each<[string, RegistryStatus, number]>([
    ['trusted', 'valid', 0],
    ['distrusted from an earlier block', 'suspended', 1],
    ['distrusted from the block before', 'suspended', 7],
    ['distrusted from that very block', 'suspended', 8],
    ['distrusted from the next block', 'valid', 9],
  ])('released in block 8, %s: %s', (_, status, revokerFrom) => {
    const record = issued(revoked(8, 8))
    expect(statusOf(record, { revokerFrom })).toBe(status)
    const slot = { ...revoker, distrustedFrom: revokerFrom }
    expect(isSuspended(record, slot)).toBe(status === 'suspended')
    expect(isDistrustedRevision(record, slot)).toBe(status === 'suspended')
  })

  test('comes before the expiry, but after a distrusted issue', () => {
    const record = issued({ ...revoked(8, 8), validUntil: 1 })
    expect(statusOf(record, { revokerFrom: 8 })).toBe('suspended')
    expect(statusOf(record, { revokerFrom: 9 })).toBe('expired')
    expect(statusOf(record, { revokerFrom: 8, distrustedFrom: 7 })).toBe('distrusted')
  })

  test('has no effect on other revisions', () => {
    for (const reason of [0, 1, 4, 6])
      for (const revokerFrom of [1, 8])
        expect(statusOf(issued(revoked(8, reason)), { revokerFrom })).toBe(
          statusOf(issued(revoked(8, reason))),
        )
  })

  test('is nothing without a revision', () => {
    for (const reason of [0, 6, 8]) {
      expect(isSuspended(issued({ reason }), { distrustedFrom: 1 })).toBe(false)
      expect(isDistrustedRevision(issued({ reason }), { distrustedFrom: 1 })).toBe(false)
    }
    expect(isSuspended(issued(revoked(8, 8)), null)).toBe(false)
  })
})

describe('recordInBatch', () => {
  const batch = (more: Partial<RegistryRecord> = {}) =>
    issued({ accountIndex: 5, validUntil: 1000, ...more })
  const own = (more: Partial<RegistryRecord> = {}) => ({
    ...NO_RECORD,
    ...more,
  })
  /** @param distrustedFrom Of who last revised it. */
  const slot = (record: RegistryRecord, distrustedFrom = 0): RevisedSlot => ({
    record,
    revoker: record.revokedBlock === 0 ? null : { distrustedFrom },
  })
  const chosen = (
    ofOwn: readonly [block: number, reason: number, distrustedFrom?: number],
    ofBatch: readonly [block: number, reason: number, distrustedFrom?: number],
  ) => {
    const [ownBlock, ownReason, ownFrom] = ofOwn
    const [batchBlock, batchReason, batchFrom] = ofBatch
    const ownSlot = slot(own(revoked(ownBlock, ownReason)), ownFrom)
    const batchSlot = slot(batch(revoked(batchBlock, batchReason)), batchFrom)
    const { record, revoker } = recordInBatch(ownSlot, batchSlot, 0)
    // The revoker is that of the record that is shown.
    expect([ownSlot, batchSlot].find((one) => one.revoker === revoker)?.record).toMatchObject({
      revokedBlock: record.revokedBlock,
      reason: record.reason,
    })
    return [record.revokedBlock, record.reason]
  }

  test('uses the anchoring of the batch and the expiry of the leaf', () => {
    const alone = issued({ anchoredBlock: 99, validUntil: 98 })
    const { record, revoker } = recordInBatch(slot(alone), slot(batch()), 4)
    expect(record).toEqual(batch({ validUntil: 4 }))
    expect(revoker).toBeNull()
  })

  test.each<[string, [number, number], [number, number], 'own' | 'batch']>([
    ['only the document is revoked', [8, 1], [0, 0], 'own'],
    ['only the batch is', [0, 0], [8, 1], 'batch'],
    ['final beats a hold', [8, 6], [9, 1], 'batch'],
    ['final beats a hold', [9, 1], [8, 6], 'own'],
    ['a hold beats a release', [8, 8], [9, 6], 'batch'],
    ['the earlier of two final ones', [9, 1], [8, 5], 'batch'],
    ['the earlier of two holds', [8, 6], [9, 6], 'own'],
    ["the document's own in one block", [8, 1], [8, 5], 'own'],
    ["the document's own of two releases", [9, 8], [8, 8], 'own'],
    ["the document's own nothing, of a release", [0, 0], [8, 8], 'own'],
  ])('%s: %o, %o', (_, ofOwn, ofBatch, which) => {
    expect(chosen(ofOwn, ofBatch)).toEqual(which === 'own' ? ofOwn : ofBatch)
  })

  type Revised = [block: number, reason: number, distrustedFrom: number]
  test.each<[string, Revised, Revised, 'own' | 'batch']>([
    ["a thief's release of the batch beats nothing", [0, 0, 0], [8, 8, 8], 'batch'],
    ["a thief's release of the batch beats a trusted one", [7, 8, 0], [8, 8, 8], 'batch'],
    ["a thief's release of the document beats a trusted one", [9, 8, 9], [8, 8, 0], 'own'],
    ['a release of before the distrust does not', [7, 8, 0], [8, 8, 9], 'own'],
    ["the earlier of two thief's releases", [9, 8, 1], [8, 8, 1], 'batch'],
    ["the earlier of a hold and a thief's release", [8, 6, 0], [7, 8, 1], 'batch'],
    ["the earlier of a thief's release and a hold", [7, 8, 1], [8, 6, 0], 'own'],
    ["the document's own in one block", [8, 8, 1], [8, 6, 0], 'own'],
    ["a final one beats a thief's release", [7, 8, 1], [8, 1, 0], 'batch'],
    ["a thief's final one beats a thief's release", [8, 1, 1], [7, 8, 1], 'own'],
  ])('%s: %o, %o', (_, ofOwn, ofBatch, which) => {
    expect(chosen(ofOwn, ofBatch)).toEqual((which === 'own' ? ofOwn : ofBatch).slice(0, 2))
  })

  test('uses setAside of either', () => {
    const setAside = (ofOwn: boolean, ofBatch: boolean) =>
      recordInBatch(slot(own({ setAside: ofOwn })), slot(batch({ setAside: ofBatch })), 0).record
        .setAside
    for (const [one, other] of [
      [true, false],
      [false, true],
    ] as const)
      expect(setAside(one, other)).toBe(true)
    expect(setAside(false, false)).toBe(false)
  })
})

describe('contradictionOf', () => {
  const reading = (more: Partial<ChainReading> = {}): ChainReading => ({
    blockNumber: 9,
    blockTime: 100,
    status: 'valid',
    record: issued(),
    account,
    revoker: null,
    issuer: emptyIssuer(1),
    ...more,
  })
  const thief = { ...revoker, distrustedFrom: 8 }
  const absent = (more: Partial<ChainReading> = {}) =>
    reading({
      status: 'not_issued',
      record: NO_RECORD,
      account: NO_ACCOUNT,
      ...more,
    })

  test('accepts every answer that the registry can give', () => {
    for (const one of [
      reading(),
      reading({ status: 'revoked', record: issued(revoked(8, 1)), revoker }),
      reading({
        record: issued({ ...revoked(8, 8), setAside: true }),
        revoker,
      }),
      reading({ record: issued({ setAside: true }) }),
      reading({
        record: issued({ ...revoked(8, 8), revokerIndex: 2 }),
        revoker: account,
      }),
      reading({ status: 'suspended', record: issued(revoked(8, 8)), revoker: thief }),
      reading({ record: issued(revoked(7, 8)), revoker: thief }),
      reading({
        status: 'suspended',
        record: issued({ ...revoked(8, 8), revokerIndex: 2 }),
        account: { ...account, distrustedFrom: 8 },
        revoker: { ...account, distrustedFrom: 8 },
      }),
      absent(),
      absent({ record: { ...NO_RECORD, ...revoked(8, 1) } }),
    ])
      expect(contradictionOf(one)).toBeUndefined()
  })

  test.each<[string, ChainReading]>([
    ['valid, of a revoked record', reading({ record: issued(revoked(8, 1)), revoker })],
    ['revoked, of a record that is not', reading({ status: 'revoked' })],
    [
      'suspended, of a released one',
      reading({ status: 'suspended', record: issued(revoked(8, 8)), revoker }),
    ],
    [
      'valid, of one that a distrusted account released',
      reading({ record: issued(revoked(8, 8)), revoker: thief }),
    ],
    [
      'suspended, of a release of before the distrust',
      reading({ status: 'suspended', record: issued(revoked(7, 8)), revoker: thief }),
    ],
    [
      'one account, distrusted as the releaser alone',
      reading({
        status: 'suspended',
        record: issued({ ...revoked(8, 8), revokerIndex: 2 }),
        revoker: { ...account, distrustedFrom: 8 },
      }),
    ],
    ['not issued, of a record', reading({ status: 'not_issued' })],
    ['distrusted, of a trusted account', reading({ status: 'distrusted' })],
    ['a distrusted account, ignored', reading({ account: { ...account, distrustedFrom: 7 } })],
    ['no account', reading({ account: NO_ACCOUNT, record: issued({ accountIndex: 0 }) })],
    ['another account', reading({ account: { ...account, accountIndex: 1 } })],
    ['no revoker', reading({ status: 'revoked', record: issued(revoked(8, 1)) })],
    [
      'another revoker',
      reading({
        status: 'revoked',
        record: issued(revoked(8, 1)),
        revoker: account,
      }),
    ],
    ['a revoker of nothing', reading({ revoker })],
    ['a reason of nothing', reading({ record: issued({ reason: 1 }) })],
    [
      'a revoker in another state',
      reading({
        record: issued({ ...revoked(8, 8), revokerIndex: 2 }),
        revoker: { ...account, permissions: 3 },
      }),
    ],
    ['the account of nothing', absent({ account })],
    ['the revoker of nothing', absent({ record: { ...NO_RECORD, ...revoked(8, 1) }, revoker })],
    ['the issuer of nothing', absent({ issuer: { ...emptyIssuer(1), name: 'A' } })],
  ])('%s', (_, one) => {
    expect(contradictionOf(one)).toEqual(expect.any(String))
  })
})
