import { describe, expect, test } from 'vitest'
import { report, TEST_NETWORK } from '../../cli/report.ts'
import type { Hex } from '../../document/hex.ts'
import type { Verdict, VerdictStatus } from '../../verifier/verdict.ts'

const STATUSES: VerdictStatus[] = [
  ...(['unverifiable', 'not_issued', 'superseded', 'revoked'] as const),
  ...(['distrusted', 'erased', 'wrong_key', 'tampered'] as const),
  ...(['expired', 'valid'] as const),
]

const verdictOf = (
  status: VerdictStatus,
  more: Partial<Verdict> = {},
): Verdict => ({
  valid: status === 'valid',
  status,
  document: null,
  blockchainProof: null,
  checks: [],
  asOf: null,
  ...more,
})

const dated = (status: VerdictStatus) =>
  verdictOf(status, {
    document: {
      subjectName: 'Ada Lovelace',
      subjectId: '18151210',
      category: 'birth_certificate',
      issuedAt: '2999-03-01',
      registry: `eip155:31337:0x${'a'.repeat(40)}`,
      issuerId: 1,
    },
    checks: [{ check: 'dating', outcome: 'fail', code: 'in_future' }],
  })

const linesOf = (
  verdict: Verdict,
  network: 'test' | 'live',
  warnings: string[] = [],
) => report({ verdict, network, warnings }, (_, text) => text).split('\n')

test('default: the words of the banner', () => {
  expect(TEST_NETWORK).toBe('Test network: not a real document')
})

describe.each(STATUSES)('%s', (status) => {
  test('behavior: on a test network, the banner follows the verdict', () => {
    const [verdict, banner] = linesOf(verdictOf(status), 'test')
    expect(verdict).toMatch(/^(VALID|NOT VALID|COULD NOT CHECK): /)
    expect(banner).toBe('Test network: not a real document')
  })

  test('behavior: on a live network, there is no banner', () => {
    const lines = linesOf(verdictOf(status), 'live')
    expect(lines.join('\n')).not.toMatch(/test/i)
  })

  test('behavior: a date in the future follows, above block and warnings', () => {
    const future = 'This document is dated in the future: 1 March 2999'
    const asOf = { blockNumber: 7, blockHash: null, blockTime: 1_800_000_000 }
    const verdict = { ...dated(status), asOf }
    expect(linesOf(verdict, 'live')[1]).toBe(future)
    const lines = linesOf(verdict, 'test', ['another registry'])
    expect(lines.slice(1, 5)).toEqual([
      TEST_NETWORK,
      future,
      expect.stringMatching(/^as of block 7/),
      'Warning: another registry',
    ])
  })
})

test('behavior: a date that has come is not mentioned', () => {
  const checks = [
    { check: 'dating', outcome: 'pass', code: 'not_in_future' } as const,
  ]
  const lines = linesOf({ ...dated('valid'), checks }, 'live')
  expect(lines.join('\n')).not.toContain('dated in the future')
})

test('behavior: names the document that this one replaces', () => {
  const verdict = dated('valid')
  const supersedes: Hex = `0x${'09af'.repeat(16)}`
  const document = verdict.document && { ...verdict.document, supersedes }
  expect(linesOf({ ...verdict, document }, 'live')).toContain(
    `  supersedes   ${supersedes}`,
  )
  expect(linesOf(verdict, 'live').join('\n')).not.toContain('supersedes')
})

test('behavior: on a terminal, the notices stand out', () => {
  const painted = report(
    { verdict: dated('valid'), network: 'test', warnings: [] },
    (colour, text) => `<${colour}>${text}</${colour}>`,
  )
  expect(painted).toContain(`<yellow><bold>${TEST_NETWORK}</bold></yellow>`)
  expect(painted).toMatch(/<yellow><bold>This document is dated in the future/)
})
