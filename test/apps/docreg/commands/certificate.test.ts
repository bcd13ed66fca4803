import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { docreg } from '../../../support/docreg.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'

let stack: Stack
let dir: string
let table: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-'))
  stack = await startStack()
  const issued = []
  for (const subjectName of ['Ada Lovelace', 'आदा लवलेस'])
    issued.push((await stack.issue({ ...ADA, subjectName })).body.data)
  table = join(dir, 'issued.csv')
  const rows = issued.map(({ publicId, verifyUrl }) => `${publicId},${verifyUrl}`)
  writeFileSync(table, ['publicId,verifyUrl', ...rows].join('\n'))
})
afterAll(async () => {
  await stack?.stop()
  rmSync(dir, { recursive: true, force: true })
})

const sources = () => ['--rpc', stack.chainUrl, '--ipfs', stack.url, '--registry', stack.registry]
const env = () => ({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' })
const print = (out: string) =>
  docreg(
    ['certificate', '--from', table, '--template', 'letter', '--out', out, '--json', ...sources()],
    { env: env() },
  )

test('prints each row, and docreg verify accepts the PDF', async () => {
  const out = join(dir, 'default')
  const { code, stdout, stderr } = await print(out)
  expect(stderr).toContain('Test network')
  expect({ code, ...JSON.parse(stdout) }).toEqual({ code: 0, written: 2, left: 0, failures: [] })
  const files = readdirSync(out)
  expect(files).toEqual([
    expect.stringMatching(/^Ada Lovelace [0-9a-f]{8}\.pdf$/),
    expect.stringMatching(/^आदा लवलेस [0-9a-f]{8}\.pdf$/),
  ])
  for (const file of files) {
    expect(statSync(join(out, file)).mode & 0o777).toBe(0o600)
    const verdict = await docreg([
      'verify',
      join(out, file),
      '--no-identity',
      ...sources().filter((s) => s !== '--ipfs' && s !== stack.url),
    ])
    expect(verdict.code).toBe(0)
    expect(verdict.stdout).toContain('VALID')
  }
})

test('keeps existing files, and replaces damaged ones', async () => {
  const out = join(dir, 'again')
  await print(out)
  const [first = ''] = readdirSync(out)
  truncateSync(join(out, first), 20_000)
  const { stdout } = await print(out)
  expect(JSON.parse(stdout)).toEqual({ written: 1, left: 1, failures: [] })
})

test('prints a table from standard input, from the bundles of a gateway', async () => {
  const { code, stdout, stderr } = await docreg(
    ['certificate', '--from', '-', '--gateway', stack.url, '--out', join(dir, 'gateway'), '--json'],
    { env: { ...env(), DOCREG_API_KEY: API_KEY }, stdin: readFileSync(table) },
  )
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ written: 2, left: 0, failures: [] })
})

test('prints a folder of bundles', async () => {
  const { publicId } = (await stack.issue({ ...ADA, subjectId: '78' })).body.data
  const bundles = join(dir, 'bundles')
  mkdirSync(bundles)
  const saved = await docreg(['bundle', '-', '--out', join(bundles, 'ada.json'), ...sources()], {
    stdin: publicId,
  })
  expect(saved.code, saved.stderr).toBe(0)
  const { code, stdout, stderr } = await docreg(
    [
      'certificate',
      '--from',
      bundles,
      '--verify-url',
      'https://registry.example/verify',
      '--out',
      join(dir, 'of-bundles'),
      '--json',
      ...sources(),
    ],
    { env: env() },
  )
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ written: 1, left: 0, failures: [] })
})

test('a template with walletCode prints a second link, for the wallet', async () => {
  const template = join(dir, 'with-wallet')
  await docreg(['certificate', '--template', 'permit', '--new-template', template])
  const settings = join(template, 'settings.json')
  const texts = JSON.parse(readFileSync(settings, 'utf8'))
  writeFileSync(settings, JSON.stringify({ ...texts, walletCode: true }))
  const out = join(dir, 'wallet-codes')
  const { code, stderr } = await docreg(
    ['certificate', '--from', table, '--template', template, '--out', out, ...sources()],
    { env: env() },
  )
  expect(code, stderr).toBe(0)
  const verifyUrl = readFileSync(table, 'utf8').split('\n')[1]?.split(',')[1] ?? ''
  const pdf = readFileSync(join(out, readdirSync(out)[0] ?? ''), 'latin1')
  expect(pdf).toContain(`/URI (${verifyUrl})`)
  expect(pdf).toContain(`/URI (${verifyUrl}&for=wallet)`)
})

test('prints no document that is not valid', async () => {
  const { publicId, verifyUrl } = (await stack.issue({ ...ADA, subjectId: '77' })).body.data
  const revocation = await stack.request(`/v1/documents/${publicId}/revoke`, {
    method: 'POST',
    body: '{}',
    headers: { Authorization: `Bearer ${API_KEY}`, 'Content-Type': 'application/json' },
  })
  expect(revocation.status).toBe(200)
  const revoked = join(dir, 'revoked.csv')
  writeFileSync(revoked, `publicId,verifyUrl\n${publicId},${verifyUrl}`)
  const { code, stdout } = await docreg(
    ['certificate', '--from', revoked, '--out', join(dir, 'none'), '--json', ...sources()],
    { env: env() },
  )
  expect(code).toBe(2)
  expect(JSON.parse(stdout).failures).toEqual([
    { line: 2, code: 'not_valid', message: expect.stringContaining('revoked') },
  ])
})
