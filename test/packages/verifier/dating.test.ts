import { describe, expect, test } from 'vitest'
import type { Document } from '#document/document.ts'
import { checkDating } from '#verifier/checks/chain.ts'
import type { ChainReading } from '#verifier/ports.ts'
import { emptyIssuer, NO_ACCOUNT } from '#verifier/status.ts'
import { type Check, statusOf } from '#verifier/verdict.ts'

const document: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'birth_certificate',
  issuedAt: '2026-11-22',
  registry: `eip155:31337:0x${'a'.repeat(40)}`,
  issuerId: 1,
}
const reading: ChainReading = {
  blockNumber: 7,
  blockTime: 0,
  status: 'valid',
  record: {
    accountIndex: 0,
    anchoredBlock: 5,
    anchoredAt: 0,
    validUntil: 0,
    revokerIndex: 0,
    revokedBlock: 0,
    revokedAt: 0,
    reason: 0,
    setAside: false,
  },
  account: { ...NO_ACCOUNT, account: `0x${'b'.repeat(40)}` },
  revoker: null,
  issuer: emptyIssuer(1),
}
const secondsOf = (time: string) => Date.parse(time) / 1000
const PASS = { check: 'dating', outcome: 'pass', code: 'not_in_future' }
const FAIL = { check: 'dating', outcome: 'fail', code: 'in_future' }

describe('checkDating', () => {
  test('a day that has begun is not in the future', () => {
    const now = secondsOf('2026-11-22T08:00:00Z')
    expect(checkDating(document, reading, now)).toEqual(PASS)
    const past = { ...document, issuedAt: '1970-01-02' }
    expect(checkDating(past, reading, now)).toEqual(PASS)
  })

  test('a day begins with the first time zone, UTC+14', () => {
    const begins = secondsOf('2026-11-22T00:00:00+14:00')
    expect(checkDating(document, reading, begins)).toEqual(PASS)
    expect(checkDating(document, reading, begins - 1)).toEqual(FAIL)
  })

  test('the later of clock and block time counts', () => {
    const day = secondsOf('2026-11-22T00:00:00Z')
    const later = { ...reading, blockTime: day }
    expect(checkDating(document, later, 0)).toEqual(PASS)
    expect(checkDating(document, reading, day)).toEqual(PASS)
    expect(checkDating(document, reading, 0)).toEqual(FAIL)
  })

  test('fails a document dated centuries ahead', () => {
    const now = secondsOf('2026-11-22T08:00:00Z')
    const ahead = { ...document, issuedAt: '2999-03-01' }
    expect(checkDating(ahead, reading, now)).toEqual(FAIL)
    const last = { ...document, issuedAt: '9999-12-30' }
    expect(checkDating(last, reading, now)).toEqual(FAIL)
  })
})

describe('statusOf', () => {
  const names = [
    'chain',
    'record',
    'issuer',
    'supersession',
    'revocation',
    'suspension',
    'payload',
    'key',
    'content',
    'expiry',
  ] as Check['check'][]
  const passed = names.map<Check>((check) => ({
    check,
    outcome: 'pass',
    code: 'x',
  }))
  const failing = (check: Check['check']): Check[] =>
    passed.map((one) => (one.check === check ? { ...one, outcome: 'fail' } : one))
  const dated = FAIL as Check

  test('the date never changes the status', () => {
    expect(statusOf(passed)).toBe('valid')
    expect(statusOf([...passed, dated])).toBe('valid')
    expect(statusOf([...passed, PASS as Check])).toBe('valid')
  })

  test('the date hides no other status', () => {
    for (const [check, status] of [
      ['revocation', 'revoked'],
      ['suspension', 'suspended'],
      ['supersession', 'superseded'],
      ['issuer', 'distrusted'],
      ['expiry', 'expired'],
    ] as const)
      expect(statusOf([dated, ...failing(check)])).toBe(status)
  })

  test('distrust comes first, and a revocation before a suspension', () => {
    const fail = (...checks: Check['check'][]) =>
      statusOf(
        passed.map((one) => (checks.includes(one.check) ? { ...one, outcome: 'fail' } : one)),
      )
    expect(fail('suspension', 'revocation', 'issuer')).toBe('distrusted')
    expect(fail('suspension', 'revocation', 'expiry')).toBe('revoked')
    expect(fail('suspension', 'content', 'expiry')).toBe('suspended')
  })

  test('the date replaces no missing check', () => {
    // A presentation has no key: there, `content` passes without one.
    for (const name of names.filter((one) => one !== 'key'))
      expect(statusOf([...passed.filter((c) => c.check !== name), PASS as Check])).toBe(
        'unverifiable',
      )
  })
})
