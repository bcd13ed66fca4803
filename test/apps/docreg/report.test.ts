import { describe, expect, test } from 'vitest'
import { ACCOUNT_NOT_LISTED, DENIED, MINIMAL_DISCLOSURE, report, SET_ASIDE } from '#cli/report.ts'
import type { Hex } from '#document/hex.ts'
import { TEST_NETWORK } from '#verifier/network.ts'
import type {
  BlockchainProof,
  Check,
  PresentationVerdict,
  Verdict,
  VerdictStatus,
} from '#verifier/verdict.ts'

const STATUSES: VerdictStatus[] = [
  'unverifiable',
  'not_issued',
  'distrusted',
  'superseded',
  'revoked',
  'suspended',
  'erased',
  'wrong_key',
  'tampered',
  'expired',
  'valid',
]

const verdictOf = (status: VerdictStatus, more: Partial<Verdict> = {}): Verdict => ({
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

const linesOf = (verdict: Verdict, network: 'test' | 'live', warnings: string[] = []) =>
  report({ verdict, network, warnings }, (_, text) => text).split('\n')

test('prints the text of the banner', () => {
  expect(TEST_NETWORK).toBe('Test network, or one not known to carry real documents')
})

describe.each(STATUSES)('%s', (status) => {
  test('prints the banner of a test network after the verdict', () => {
    const [verdict, banner] = linesOf(verdictOf(status), 'test')
    expect(verdict).toMatch(/^(VALID|NOT VALID|COULD NOT CHECK): /)
    expect(banner).toBe(TEST_NETWORK)
  })

  test('prints no banner on a live network', () => {
    const lines = linesOf(verdictOf(status), 'live')
    expect(lines.join('\n')).not.toMatch(/test/i)
  })

  test('prints a date in the future before block and warnings', () => {
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

test('omits a date that has passed', () => {
  const checks = [{ check: 'dating', outcome: 'pass', code: 'not_in_future' } as const]
  const lines = linesOf({ ...dated('valid'), checks }, 'live')
  expect(lines.join('\n')).not.toContain('dated in the future')
})

test('names the document that this one supersedes', () => {
  const verdict = dated('valid')
  const supersedes: Hex = `0x${'09af'.repeat(16)}`
  const document = verdict.document && { ...verdict.document, supersedes }
  expect(linesOf({ ...verdict, document }, 'live')).toContain(`  supersedes   ${supersedes}`)
  expect(linesOf(verdict, 'live').join('\n')).not.toContain('supersedes')
})

test('highlights the notices on a terminal', () => {
  const painted = report(
    { verdict: dated('valid'), network: 'test', warnings: [] },
    (colour, text) => `<${colour}>${text}</${colour}>`,
  )
  expect(painted).toContain(`<yellow><bold>${TEST_NETWORK}</bold></yellow>`)
  expect(painted).toMatch(/<yellow><bold>This document is dated in the future/)
})

describe('the details of a record', () => {
  const issuing = {
    address: `0x${'1'.repeat(40)}`,
    addedBlock: 7,
    changedBlock: null,
    retiredBlock: null,
    distrustedFrom: null,
  } as const
  const revoking = {
    address: `0x${'2'.repeat(40)}`,
    addedBlock: 8,
    changedBlock: 9,
    retiredBlock: 12,
    distrustedFrom: null,
  } as const
  const proofOf = (proof: Partial<BlockchainProof>): BlockchainProof => ({
    chainId: 1,
    registry: `eip155:1:0x${'a'.repeat(40)}`,
    documentHash: `0x${'3'.repeat(64)}`,
    batchRoot: null,
    issuer: {
      id: 1,
      account: issuing.address,
      name: 'Office',
      uri: '',
      domain: null,
      closedBlock: null,
      closedAt: null,
    },
    account: issuing,
    transactionHash: null,
    blockNumber: 10,
    blockHash: null,
    blockTime: 1_800_000_000,
    logIndex: null,
    finality: null,
    validUntil: null,
    revokedAt: null,
    reason: null,
    releasedAt: null,
    revoker: null,
    revokedBlock: null,
    setAside: false,
    ...proof,
  })
  const recorded = (proof: Partial<BlockchainProof>) =>
    linesOf(verdictOf('valid', { blockchainProof: proofOf(proof) }), 'live')
  const shown = (label: string, proof: Partial<BlockchainProof>) =>
    recorded(proof)
      .find((line) => line.startsWith(`  ${label} `))
      ?.slice(2 + label.length)
      .trim()
  const AT = 1_800_000_500

  test('shows how long before the document its account was added', () => {
    const [lines, oneBlock] = [recorded({}).join('\n'), { account: { ...issuing, addedBlock: 9 } }]
    expect(lines).toContain('added in block 7, 3 blocks before it issued this')
    expect(lines).not.toMatch(/^ {2}(revoked|suspended|released|by account)/m)
    expect(recorded(oneBlock).join('\n')).toContain('1 block before it')
  })

  test('a suspension has no reason, and a release follows it', () => {
    const held = { reason: 'certificateHold', revokedAt: AT, revoker: issuing }
    expect(shown('suspended', held)).toBe('2027-01-15 08:08:20 UTC')
    expect(shown('revoked', held)).toBeUndefined()
    expect(shown('by account', held)).toBeUndefined()
    const released = { releasedAt: AT, revoker: revoking }
    expect(shown('released', released)).toBe('2027-01-15 08:08:20 UTC')
  })

  test('shows the batch of the document', () => {
    const root: Hex = `0x${'4'.repeat(64)}`
    expect(shown('batchRoot', { batchRoot: root })).toBe(root)
    expect(shown('batchRoot', {})).toBeUndefined()
  })

  test('shows the revoker when it is another account', () => {
    const proof = { reason: 'keyCompromise', revokedAt: AT, revoker: revoking }
    expect(shown('revoked', proof)).toContain('reason keyCompromise')
    expect(shown('by account', proof)).toBe(
      `${revoking.address}, added in block 8; permissions last changed in block 9; retired in block 12`,
    )
  })

  describe('with a stolen key or a closed issuer', () => {
    const stolen = { ...revoking, distrustedFrom: 11 }
    const by = `by account ${revoking.address}, which the issuer distrusts from block 11 on`

    test.each([
      ['keyCompromise', 'Revoked'],
      ['certificateHold', 'Suspended'],
    ])('names the distrusted account of reason %s', (reason, word) => {
      const proof = { reason, revokedAt: AT, revoker: stolen, revokedBlock: 11 }
      expect(recorded(proof)[1]).toBe(`${word} ${by}: ask the issuer`)
      expect(shown('by account', proof)).toContain('; distrusted from block 11 on')
      expect(recorded({ ...proof, revoker: revoking }).join('\n')).not.toMatch(/distrust/)
      expect(recorded({ ...proof, revokedBlock: 10 })[1]).not.toContain(by)
    })

    test('says that a release does not count', () => {
      const proof = { reason: 'certificateHold', releasedAt: AT, revoker: stolen, revokedBlock: 12 }
      expect(recorded(proof)[1]).toBe(
        `Released on 2027-01-15 08:08:20 UTC ${by}: suspended until a trusted account releases it`,
      )
      expect(shown('released', proof)).toBe('2027-01-15 08:08:20 UTC, does not count')
      expect(shown('suspended', proof)).toBeUndefined()
    })

    test('a release before the distrust counts, and needs no notice', () => {
      const proof = { releasedAt: AT, revoker: { ...stolen, distrustedFrom: 99 }, revokedBlock: 12 }
      expect(shown('released', proof)).toBe('2027-01-15 08:08:20 UTC')
      expect(recorded(proof)[1]).not.toContain('account')
    })

    test('warns of a closed issuer, with the time where it is known', () => {
      const closed = (closedAt: number | null) =>
        recorded({ issuer: { ...proofOf({}).issuer, closedBlock: 40, closedAt } }).slice(1, 3)
      const closed40 = "The registry's admin closed this issuer in block 40"
      const meaning = 'It can no longer issue documents; if in doubt, ask the issuer'
      expect(closed(AT)).toEqual([`${closed40} (2027-01-15 08:08:20 UTC)`, meaning])
      expect(closed(null)).toEqual([closed40, meaning])
    })
  })

  const judged = (status: Verdict['status'], check: Check, domain: string | null = null) =>
    linesOf(
      verdictOf(status, {
        checks: [{ check: 'issuer', outcome: 'pass', code: 'trusted' }, check],
        blockchainProof: {
          ...proofOf({}),
          issuer: { ...proofOf({}).issuer, domain },
        },
      }),
      'live',
    )
  const identity = (outcome: Check['outcome'], code: string): Check => ({
    check: 'identity',
    outcome,
    code,
  })

  test('puts the domain that confirms the issuer before its name', () => {
    const lines = judged('valid', identity('pass', 'linked'), 'example.edu')
    const at = lines.indexOf('Issuer')
    expect(lines.slice(at + 1, at + 3).map((line) => line.trim())).toEqual([
      expect.stringMatching(/^domain +✓ example\.edu$/),
      expect.stringMatching(/^name +Office$/),
    ])
  })

  test('says without a domain that the name of the issuer is unconfirmed', () => {
    const lines = judged('valid', identity('unknown', 'no_domain'))
    expect(lines.join('\n')).toContain('calls itself Office, not confirmed by any domain')
    expect(lines.join('\n')).not.toContain('✓')
  })

  const CLEAN = 'VALID: issued, not revoked or suspended, not expired, unchanged'
  const BARE = `${CLEAN}; but no domain has confirmed the issuer`
  test.each([
    ['pass', 'linked', 'green', CLEAN],
    ['unknown', 'unreachable', 'yellow', BARE],
    ['unknown', 'not_asked', 'yellow', BARE],
    ['fail', 'denied', 'red', BARE],
  ] as const)('a valid document whose domain is %s, %s, is %s', (...row) => {
    const [outcome, code, colour, headline] = row
    const verdict = verdictOf('valid', { checks: [identity(outcome, code)] })
    const paint = (name: string, text: string) => `<${name}>${text}`
    const [first] = report({ verdict, network: 'live', warnings: [] }, paint).split('\n')
    expect(first).toBe(`<${colour}><bold>${headline}`)
  })

  test('does not show a date in the future in green', () => {
    const { checks, ...verdict } = dated('valid')
    const linked = { ...verdict, checks: [...checks, identity('pass', 'linked')] }
    const paint = (name: string, text: string) => `<${name}>${text}`
    const shown = report({ verdict: linked, network: 'live', warnings: [] }, paint)
    expect(shown).toMatch(new RegExp(`^<yellow><bold>${CLEAN}$`, 'm'))
  })

  test('sorts entries with numbers by their value', () => {
    const verdict = dated('valid')
    const metadata = { module_10: 'b', module_2: 'a' }
    const document = verdict.document && { ...verdict.document, metadata }
    const lines = linesOf({ ...verdict, document }, 'live').join('\n')
    expect(lines).toMatch(/module_2 .*\n.*module_10/)
  })

  test('prints a denial directly below the verdict', () => {
    expect(judged('valid', identity('fail', 'denied'))[1]).toBe(DENIED)
    expect(judged('valid', identity('fail', 'account_not_listed'))[1]).toBe(ACCOUNT_NOT_LISTED)
  })

  test('reports a required domain that is not linked', () => {
    expect(judged('distrusted', identity('fail', 'other_domain'))[0]).toBe(
      'NOT VALID: the domain that you require does not vouch for it',
    )
  })

  test('prints a revocation ignored after a theft directly below the verdict', () => {
    expect(recorded({ setAside: true })[1]).toBe(SET_ASIDE)
  })
})

test('shows only the fields of a presentation', () => {
  const { document, ...judged } = verdictOf('valid')
  const disclosed = { category: 'diploma', metadata: { '\u001b[2J': 'A' } }
  const linesFor = (part: PresentationVerdict['disclosed']) =>
    report(
      {
        verdict: { ...judged, disclosed: part },
        network: 'live',
        warnings: [],
      },
      (_, text) => text,
    ).split('\n')
  const note = MINIMAL_DISCLOSURE.map((line) => `  ${line}`)
  expect(linesFor(disclosed).slice(1, 7)).toEqual([
    '',
    'Disclosed, to be compared with what you were told',
    expect.stringMatching(/^ {2}category +diploma$/),
    expect.stringMatching(/^ {2}metadata\.\P{Cc}+A$/u),
    ...note,
  ])
  expect(linesFor({}).slice(1, 5)).toEqual(['', 'Nothing is disclosed', ...note])
  expect(linesFor(null).join('\n')).not.toContain('isclosed')
})
