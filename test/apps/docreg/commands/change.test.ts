import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCsv } from '#table/csv.ts'
import { DOCREG, docreg } from '../../../support/docreg.ts'
import { ADA, API_KEY, type Stack, startStack } from '../../../support/stack.ts'
import { sheetsOf } from '../../../support/workbook.ts'

let stack: Stack
let dir: string
beforeAll(async () => {
  stack = await startStack()
  dir = mkdtempSync(join(tmpdir(), 'docreg-change-'))
  writeFileSync(join(dir, 'key'), `${API_KEY}\n`)
  chmodSync(join(dir, 'key'), 0o600)
  const settings = { gateway: stack.url, apiKeyFile: 'key' }
  writeFileSync(join(dir, 'docreg.config.json'), JSON.stringify(settings))
})
afterAll(async () => {
  await stack.stop()
  rmSync(dir, { recursive: true, force: true })
})

const TERMINAL = fileURLToPath(new URL('../../../support/terminal.py', import.meta.url))
/** Runs the command on a terminal, and types an answer once it asks. */
async function answered(answer: string, args: readonly string[], settings: object = {}) {
  const child = spawn('python3', [TERMINAL, process.execPath, DOCREG, ...args], {
    cwd: dir,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { DOCREG_CONFIG: 'docreg.config.json', ...settings },
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const asked = printed.includes('Type yes')
    printed += text
    if (!asked && printed.includes('Type yes')) child.stdin.write(`${answer}\n`)
  })
  const [code] = await once(child, 'close')
  return { code, printed }
}

/** With gateway and key from the configuration. */
const run = (...args: string[]) =>
  docreg(args, { cwd: dir, env: { DOCREG_CONFIG: 'docreg.config.json' } })
const issued = async (fields: object = {}): Promise<{ publicId: string; documentHash: string }> =>
  (await stack.issue({ ...ADA, ...fields })).body.data
const statusOf = async (publicId: string) => (await stack.verify(publicId)).body.data.status
/** A publicId does not belong on a command line. */
const saved = (publicId: string) => {
  writeFileSync(join(dir, 'document.txt'), publicId)
  return 'document.txt'
}
const file = (name: string, lines: string[]) => {
  writeFileSync(join(dir, name), lines.join('\n'))
  return name
}

describe('one document', () => {
  test('suspend, release and revoke change its status', async () => {
    const { publicId } = await issued()
    const given = saved(publicId)
    for (const [command, status] of [
      ['suspend', 'suspended'],
      ['release', 'valid'],
      ['revoke', 'revoked'],
    ] as const) {
      const yes = command === 'revoke' ? ['--yes'] : []
      const { code, stdout } = await run(command, given, ...yes)
      expect({ code, stdout }).toMatchObject({ code: 0 })
      expect(stdout).toContain(`status ${status}`)
      expect(stdout).not.toContain(publicId)
      expect(await statusOf(publicId)).toBe(status)
    }
    const { code, stdout } = await run('release', given)
    expect(code).toBe(1)
    expect(stdout).toContain('already_revoked')
  })

  test('show restores the link of a documentHash', async () => {
    const { publicId, documentHash } = await issued({ metadata: { degree: 'BSc' } })
    const { code, stdout } = await run('show', documentHash)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^subjectName +Ada Lovelace$/m)
    expect(stdout).toMatch(/^metadata.degree +BSc$/m)
    expect(stdout).toContain(publicId)
  })

  test('supersede keeps the fields that are not named', async () => {
    const { publicId } = await issued({ metadata: { degree: 'BSc', grade: '1' } })
    const set = ['--set', 'subjectName=Augusta Ada King', '--set', 'metadata.grade=']
    const { code } = await run(
      'supersede',
      saved(publicId),
      ...set,
      '--out',
      'corrected.csv',
      '--yes',
    )
    expect(code).toBe(0)
    expect(await statusOf(publicId)).toBe('superseded')
    const [row] = parseCsv(readFileSync(join(dir, 'corrected.csv'))).rows
    expect(row?.cells).toMatchObject({
      ...ADA,
      subjectName: 'Augusta Ada King',
      'metadata.degree': 'BSc',
    })
    expect(row?.cells).not.toHaveProperty('metadata.grade')
    expect(await statusOf(row?.cells.publicId ?? '')).toBe('valid')
  })

  test.each([
    ['revoke', [], 'revoked'],
    ['supersede', ['--set', 'subjectName=Ada King', '--out', 'asked.csv'], 'superseded'],
    ['erase', [], 'erased'],
  ])('%s asks first, and names the person', async (command, options, status) => {
    const { publicId } = await issued()
    const args = [command, saved(publicId), ...options]
    const refused = await run(...args)
    expect(refused).toMatchObject({ code: 64, stdout: '' })
    expect(refused.stderr).toContain('this document? This cannot be undone: give --yes to confirm')
    const declined = await answered('no', args)
    expect(declined.code).toBe(2)
    expect(declined.printed).toContain('the document of Ada Lovelace? This cannot be undone.')
    expect(await statusOf(publicId)).toBe('valid')
    expect((await answered('yes', args)).code).toBe(0)
    expect(await statusOf(publicId)).toBe(status)
  })

  test.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('%s at the question changes nothing', async (_, key) => {
    const { publicId } = await issued()
    const { code, printed } = await answered(key, ['revoke', saved(publicId)])
    expect(printed).toContain('nothing was changed')
    expect(printed).not.toContain('AbortError')
    expect(code).toBe(2)
    expect(await statusOf(publicId)).toBe('valid')
  })

  test('asks without a name about a document that the key may not read', async () => {
    const { publicId } = await issued()
    const DOCREG_API_KEY = stack.key(['documents:revoke'])
    const { code, printed } = await answered('yes', ['revoke', saved(publicId)], { DOCREG_API_KEY })
    expect(printed).toContain('Revoke this document? This cannot be undone.')
    expect(code).toBe(0)
    expect(await statusOf(publicId)).toBe('revoked')
  })

  test('erase names where copies may remain', async () => {
    const { publicId } = await issued()
    const given = saved(publicId)
    const { code, stdout } = await run('erase', given, '--yes')
    expect(code).toBe(0)
    expect(stdout).toContain('copies may be left in backups')
    expect(await statusOf(publicId)).toBe('erased')
  })
})

describe('many documents', () => {
  test('revokes those of a table, each with its reason', async () => {
    const [a, b] = [await issued(), await issued()]
    const table = file('revoke.csv', [
      'publicId,documentHash,reason',
      `${a.publicId},,keyCompromise`,
      `,${b.documentHash},`,
    ])
    expect((await run('revoke', '--from', table)).code).toBe(64)
    const { code, stdout } = await run('revoke', '--from', table, '--yes', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject([
      { line: 2, status: 'revoked', reason: 'keyCompromise' },
      { line: 3, status: 'revoked', reason: 'unspecified' },
    ])
  })

  test('one refused document does not stop the others, and its line is named', async () => {
    const { publicId } = await issued()
    const never = `0x${'1'.repeat(64)}`
    const { code, stdout } = await run('suspend', '--from', file('list', [never, publicId]))
    expect(code).toBe(1)
    expect(stdout).toMatch(/line 1: not_(issued|found)/)
    expect(await statusOf(publicId)).toBe('suspended')
  })

  test('sends lists as lists, and reports each document', async () => {
    const issuedMany = await Promise.all(Array.from({ length: 40 }, () => issued()))
    const list = file(
      'many',
      issuedMany.map(({ publicId, documentHash }, i) => (i % 2 ? publicId : documentHash)),
    )
    for (const [command, time] of [
      ['suspend', 'suspendedAt'],
      ['release', 'releasedAt'],
      ['revoke', 'revokedAt'],
    ] as const) {
      const yes = command === 'revoke' ? ['--yes'] : []
      const { code, stdout } = await run(command, '--from', list, '--json', ...yes)
      expect(code).toBe(0)
      const results: { line: number; blockchainHash: string }[] = JSON.parse(stdout)
      expect(results.map(({ line }) => line)).toEqual(issuedMany.map((_, i) => i + 1))
      expect(results[0]).toHaveProperty(time)
      expect(new Set(results.map(({ blockchainHash }) => blockchainHash)).size).toBeLessThan(10)
    }
  })

  test('continues after an outage, and counts no line as refused', async () => {
    const many = await Promise.all([issued(), issued()])
    const list = file(
      'outage',
      many.map(({ publicId }) => publicId),
    )
    let refused = 0
    stack.proxy.refuse = (method) => method === 'eth_call' && ++refused > 0
    const running = run('revoke', '--from', list, '--yes')
    await expect.poll(() => refused).toBeGreaterThan(0)
    stack.proxy.refuse = () => false
    const { code, stdout } = await running
    expect([code, stdout]).toEqual([0, expect.stringContaining('Revoked: 2 documents')])
  })

  test('supersedes the rows of a corrected table', async () => {
    const { publicId } = await issued()
    const table = file('c.csv', ['publicId,subjectName', `${publicId},Augusta`])
    const args = ['supersede', '--from', table, '--yes', '--out', 'c-out.csv']
    expect((await run(...args)).code).toBe(0)
    const hash = () => parseCsv(readFileSync(join(dir, 'c-out.csv'))).rows[0]?.cells.documentHash
    const first = hash()
    expect((await run(...args)).code).toBe(0)
    expect(hash()).toBe(first)
  })

  test('supersedes the rows of a workbook, unless a cell is ambiguous', async () => {
    const { publicId } = await issued()
    writeFileSync(
      join(dir, 'c.xlsx'),
      sheetsOf({
        a: [
          ['publicId', 'subjectName'],
          [publicId, 'Augusta'],
        ],
      }),
    )
    const args = (table: string) => ['--from', table, '--yes', '--out', 'c-out.csv']
    expect((await run('supersede', ...args('c.xlsx'))).code).toBe(0)
    expect(await statusOf(publicId)).toBe('superseded')
    const cell = (text: string, value = '') =>
      `<table:table-cell${value && ` office:value-type="float" office:value="${value}"`}><text:p>${text}</text:p></table:table-cell>`
    const book = (grade: string) =>
      `<table:table><table:table-row>${cell('publicId')}${cell('metadata.grade')}</table:table-row><table:table-row>${cell(publicId)}${grade}</table:table-row></table:table>`
    for (const [grade, message] of [
      [cell('95 %', '0.95'), /line 2: metadata.grade shows other text than its cell holds/],
      [cell('#N/A'), /line 2: metadata.grade has an error in the spreadsheet/],
    ] as const) {
      writeFileSync(join(dir, 'c.ods'), zipSync({ 'content.xml': strToU8(book(grade)) }))
      const { code, stderr } = await run('supersede', ...args('c.ods'))
      expect([code, stderr]).toEqual([65, expect.stringMatching(message)])
      expect((await run('suspend', '--from', 'c.ods')).stdout).toContain('line 2')
    }
  })

  test('a line without a document changes nothing, and is not retried', async () => {
    const { publicId } = await issued()
    const { code, stderr } = await run('suspend', '--from', file('list', [publicId, 'secret']))
    expect(code).toBe(65)
    expect(stderr).toContain('line 2')
    expect(stderr).not.toContain('secret')
    expect(await statusOf(publicId)).toBe('valid')
  })
})

test('lists documents by their filters, over all pages', async () => {
  for (let i = 0; i < 3; i++) await issued({ category: 'listed', subjectId: String(i) })
  const { stdout } = await run('documents', '--category', 'listed', '--csv')
  const rows = parseCsv(Buffer.from(stdout)).rows.map(({ cells }) => cells)
  expect(rows.map(({ subjectId }) => subjectId)).toEqual(['2', '1', '0'])
  expect(rows[0]).toMatchObject({ status: 'valid', issuedAt: ADA.issuedAt })
  const { stdout: one } = await run('documents', '--subject-id', '1', '--json')
  expect(JSON.parse(one)).toMatchObject([{ category: 'listed' }])
  const [{ createdAt = '' } = {}] = rows
  const day = createdAt.slice(0, 10)
  const accepted = (...args: string[]) => run('documents', '--category', 'listed', ...args)
  const week = await accepted('--created-from', day, '--created-to', day)
  expect(week.stdout.split('\n')[0]).toContain(`accepted ${createdAt}`)
  expect((await accepted('--created-from', '9999-12-30')).stdout).toBe('')
  expect((await accepted('--created-to', '2026-01-01')).stdout).toBe('')
})
