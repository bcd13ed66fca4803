import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toFile } from 'qrcode'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parsePresentation } from '#document/presentation.ts'
import { decodePresentationLink, MAX_QR_LINK } from '#document/presentation-link.ts'
import { docreg } from '../../../support/docreg.ts'
import { ADA, type Stack, startStack } from '../../../support/stack.ts'

const PAGE = 'https://registry.example/verify'
const METADATA = { grade: 'A, with honours', place: 'London' }
const SENTENCE =
  'This is minimal disclosure, not anonymity: presentations of one document can be linked.'

let stack: Stack
let dir: string
let publicId: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-present-'))
  stack = await startStack()
  const issued = await stack.issue({ ...ADA, metadata: METADATA })
  publicId = issued.body.data.publicId
})
afterAll(async () => {
  await stack?.stop()
  rmSync(dir, { recursive: true, force: true })
})

const path = (name: string) => join(dir, name)
const registry = () => ['--registry', stack.registry]
const present = (...args: string[]) =>
  docreg(['present', '-', ...registry(), '--ipfs', stack.url, ...args], {
    stdin: publicId,
  })
const verify = (...args: string[]) => docreg(['verify', ...args, ...registry(), '--no-identity'])
const asked = () => ['--rpc', stack.chainUrl, '--ipfs', stack.url]
const NAME = ['--fields', 'subjectName']

describe('present', () => {
  test('lists the fields that can be shown', async () => {
    const { code, stdout } = await present()
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      'Name what to show. This document has:',
      '  --fields    category,issuedAt,subjectId,subjectName',
      '  --metadata  grade',
      '  --metadata  place',
      '',
    ])
    const { stdout: json } = await present('--json')
    expect(JSON.parse(json)).toEqual({
      fields: ['category', 'issuedAt', 'subjectId', 'subjectName'],
      metadata: ['grade', 'place'],
    })
  })

  test('shows the named fields, in a file that only its owner can read', async () => {
    const file = path('shown.json')
    const { code, stdout, stderr } = await present(
      '--fields',
      'subjectName,category',
      '--metadata',
      'grade',
      '--out',
      file,
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toBe('Warning: Test network, or one not known to carry real documents\n')
    expect(statSync(file).mode & 0o077).toBe(0)
    const shown = parsePresentation(readFileSync(file))
    expect(shown.disclosures).toHaveLength(3)
    expect(shown).toMatchObject({ sealed: null, stateProof: null })
    const verdict = await verify(file, ...asked(), '--json')
    expect(verdict.code).toBe(0)
    expect(JSON.parse(verdict.stdout)).toMatchObject({
      status: 'valid',
      disclosed: {
        subjectName: ADA.subjectName,
        category: ADA.category,
        metadata: { grade: METADATA.grade },
      },
      network: 'test',
      warnings: [],
    })
  })

  test('the report lists the fields shown, with their values', async () => {
    const { stdout } = await present('--fields', 'issuedAt')
    const file = path('dated.json')
    writeFileSync(file, stdout)
    const report = await verify(file, ...asked())
    const lines = report.stdout.split('\n')
    expect(lines[0]).toMatch(/^VALID/)
    const at = lines.indexOf('Disclosed, to be compared with what you were told')
    expect(lines.slice(at + 1, at + 5)).toEqual([
      `  issuedAt  ${ADA.issuedAt}`,
      '  How much the document holds besides is not known.',
      `  ${SENTENCE}`,
      '',
    ])
    expect(report.stdout).not.toContain('never')
    expect(report.stdout).not.toContain(ADA.subjectName)
  })

  test('makes a link and its QR code that hold only the chosen fields', async () => {
    const qr = path('qr.svg')
    const { code, stdout } = await present(...NAME, '--link', PAGE, '--qr', qr)
    expect(code).toBe(0)
    const link = stdout.trim()
    expect(link.startsWith(`${PAGE}#presentation=`)).toBe(true)
    expect((await decodePresentationLink(link)).disclosures).toHaveLength(1)
    expect(readFileSync(qr, 'utf8')).toMatch(/^<svg/)
    const picture = path('qr.png')
    await toFile(picture, link, { errorCorrectionLevel: 'L' })
    for (const given of [link, picture]) {
      const verdict = await verify(given, ...asked(), '--json')
      expect(JSON.parse(verdict.stdout).disclosed).toEqual({
        subjectName: ADA.subjectName,
      })
    }
  })

  test('the longest link that gets a QR code can be scanned', async () => {
    const link = `${PAGE}#presentation=`.padEnd(MAX_QR_LINK, 'x')
    const picture = path('long.png')
    // Two pixels a module: half a millimetre at 100 dpi.
    await toFile(picture, link, { errorCorrectionLevel: 'L', scale: 2 })
    const { stdout } = await verify(picture, ...asked(), '--json')
    expect(JSON.parse(stdout).error.code).toBe('presentation_malformed')
  })

  test('makes no request when it has the sealed document and the proof', async () => {
    const file = path('proven.json')
    const made = await present(
      ...NAME,
      '--sealed',
      '--proof',
      '--rpc',
      stack.chainUrl,
      '--out',
      file,
      '--link',
      PAGE,
    )
    expect(made.code).toBe(0)
    const link = await decodePresentationLink(made.stdout.trim())
    expect(link).toMatchObject({ sealed: null, stateProof: null })
    const { stdout } = await verify(file, ...asked().slice(0, 2), '--json')
    const { asOf, disclosed } = JSON.parse(stdout)
    expect(disclosed).toEqual({ subjectName: ADA.subjectName })
    const block = await stack.provider.request({
      method: 'eth_getBlockByNumber',
      params: [`0x${asOf.blockNumber.toString(16)}`, false],
    })
    const { hash } = block as { hash: string }
    const offline = await verify(file, '--block-hash', hash, '--json')
    expect(JSON.parse(offline.stdout)).toMatchObject({
      status: 'valid',
      disclosed: { subjectName: ADA.subjectName },
      asOf: { blockHash: hash },
      warnings: [expect.stringMatching(/^the presentation was made at block/)],
    })
    const untrusted = await verify(file, '--block-hash', `0x${'0'.repeat(64)}`)
    expect(untrusted.code).toBe(2)
    expect(untrusted.stdout).toContain('a block that you did not name')
  })

  test('makes a presentation from only a bundle', async () => {
    const bundle = path('bundle.json')
    await docreg(['bundle', '-', ...asked(), ...registry(), '--out', bundle], {
      stdin: publicId,
    })
    const { stdout } = await docreg(['present', bundle, ...registry(), ...NAME])
    expect(parsePresentation(stdout).disclosures).toHaveLength(1)
  })

  test('names the fields that the document lacks', async () => {
    const { code, stderr } = await present('--fields', 'expiresAt,grade', '--metadata', 'marks')
    expect(code).toBe(2)
    for (const name of ['expiresAt', 'grade', 'metadata.marks'])
      expect(stderr).toContain(`${name} is not in the document`)
    expect(stderr).not.toContain(publicId)
  })

  test('reports that the sealed document is unavailable', async () => {
    const { code, stdout } = await docreg(['present', '-', ...registry(), ...NAME, '--json'], {
      stdin: publicId,
    })
    expect(code).toBe(2)
    expect(JSON.parse(stdout).error.code).toBe('unavailable')
  })

  test('refuses a document of another registry', async () => {
    const { code, stdout } = await docreg(
      [
        'present',
        '-',
        '--ipfs',
        stack.url,
        ...NAME,
        '--json',
        '--registry',
        `eip155:1:0x${'0'.repeat(40)}`,
      ],
      { stdin: publicId },
    )
    expect(code).toBe(2)
    expect(JSON.parse(stdout).error.code).toBe('other_registry')
  })

  test.each([
    [['--proof']],
    [['--rpc', 'http://localhost:1']],
    [['--qr', 'x.svg']],
    [['--link', 'verify']],
    [['--link', `${PAGE}#x`]],
  ])('refuses the usage %s', async (args) => {
    expect((await present(...NAME, ...args)).code).toBe(64)
  })
})

describe('verify', () => {
  test('refuses a presentation that is malformed or of another kind', async () => {
    const file = path('bad.json')
    const { stdout } = await present(...NAME)
    writeFileSync(file, stdout)
    const bundle = await docreg(['bundle', file, ...asked(), ...registry()])
    expect(bundle.code).toBe(2)
    expect(bundle.stderr).toContain('a presentation is not enough')
    writeFileSync(file, stdout.replace('"v":1', '"v":2'))
    const bad = await verify(file, ...asked())
    expect(bad.code).toBe(2)
    expect(bad.stderr).toContain('v must be 1')
    for (const args of [[], ['--block-hash', `0x${'0'.repeat(64)}`]]) {
      writeFileSync(file, stdout)
      expect((await verify(file, ...args)).code).toBe(64)
    }
  })

  test('warns of another registry and names it', async () => {
    const { stdout } = await present(...NAME)
    const file = path('elsewhere.json')
    const elsewhere = `eip155:31337:0x${'9'.repeat(40)}`
    writeFileSync(file, stdout.replaceAll(stack.registry, elsewhere))
    const verdict = await verify(file, ...asked(), '--json')
    expect(verdict.code).toBe(1)
    expect(JSON.parse(verdict.stdout)).toMatchObject({
      status: 'tampered',
      warnings: [expect.stringContaining('another registry')],
    })
  })
})
