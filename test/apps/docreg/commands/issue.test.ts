import { spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCsv } from '#table/csv.ts'
import { DOCREG, docreg } from '../../../support/docreg.ts'
import { bodyOf, serveHttp } from '../../../support/http.ts'
import { API_KEY, type Stack, startStack } from '../../../support/stack.ts'

let stack: Stack
let dir: string
beforeAll(async () => {
  stack = await startStack()
  dir = mkdtempSync(join(tmpdir(), 'docreg-issue-'))
})
afterAll(async () => {
  await stack.stop()
  rmSync(dir, { recursive: true, force: true })
})

const ENV = { DOCREG_API_KEY: API_KEY }
const issue = (args: string[], stdin = '', url = stack.url) =>
  docreg(['issue', ...args, '--gateway', url], { env: ENV, stdin })

const HEADER = 'subjectName,subjectId,category,issuedAt\n'
const FORGED = { subjectName: 'Eve', subjectId: '666', category: 'forged' }
const rowsOf = (category: string, count: number) =>
  Array.from({ length: count }, (_, i) => `Person ${i},${i + 1},${category},2026-07-01\n`).join('')
const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text)
  return join(dir, name)
}
const out = (name: string) => join(dir, name)
const tableOf = (folder: string, name: string) =>
  parseCsv(readFileSync(join(dir, folder, name))).rows.map(({ cells }) => cells)

/** @returns How many documents of a category the gateway has. */
async function count(category: string): Promise<number> {
  const { stdout } = await docreg(
    ['documents', '--category', category, '--json', '--gateway', stack.url],
    { env: ENV },
  )
  return JSON.parse(stdout).length
}

test('the template can be issued as it is', async () => {
  const { stdout: template } = await docreg(['template', '--metadata', 'degree'])
  expect(template).toContain('metadata.degree')
  const { code } = await issue(['-', '--out', out('template')], template)
  expect(code).toBe(0)
  const [row] = tableOf('template', 'issued.csv')
  expect(row).toMatchObject({ subjectName: 'Ada Lovelace', status: 'valid', line: '2' })
})

test('writes publicIds and QR codes that verify, readable by their owner only', async () => {
  const table = file('people.csv', HEADER + rowsOf('default_case', 2))
  const { code, stdout } = await issue([table, '--out', out('issued'), '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ issued: 2, pending: 0, failed: [] })
  expect(statSync(out('issued/issued.csv')).mode & 0o777).toBe(0o600)
  expect(statSync(out('issued')).mode & 0o777).toBe(0o700)
  expect(
    readdirSync(out('issued/qr'))
      .map((name) => name.slice(-4))
      .sort(),
  ).toEqual(['.png', '.png', '.svg', '.svg'])
  const [row] = tableOf('issued', 'issued.csv')
  const verdict = await docreg([
    'verify',
    join(dir, 'issued', row?.['qr.png'] ?? ''),
    '--rpc',
    stack.chainUrl,
    '--ipfs',
    stack.url,
    '--registry',
    stack.registry,
    '--no-identity',
  ])
  expect(verdict.stdout).toMatch(/^VALID/)
  expect(verdict.stdout).toContain('Person 0')
})

describe('the table', () => {
  const dryRun = async (text: string | Buffer, ...args: string[]) => {
    writeFileSync(join(dir, 'table'), text)
    const answer = await issue([join(dir, 'table'), '--dry-run', ...args])
    return { ...answer, text: answer.stdout + answer.stderr }
  }

  test('accepts semicolons, UTF-16, other columns and constant values', async () => {
    const text = 'Full name;No;Degree;Note\n"Müller; Zoë";7;BSc;x\n'
    const { code, text: told } = await dryRun(
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      '--map',
      'Full name=subjectName',
      '--map',
      'No=subjectId',
      '--map',
      'Degree=metadata.degree',
      '--map',
      'Note=',
      '--set',
      'category=diploma',
      '--set',
      'issuedAt=2026-07-01',
    )
    expect(told).toContain('1 row, all good')
    expect(told).toMatch(/--batch +about [\d.]+, at most [\d.]+ ether/)
    expect(code).toBe(0)
  })

  test('checks rows against the kind, whose labels name columns', async () => {
    const kind = {
      display: [{ locale: 'de', name: 'Sprachkurs' }],
      claims: [
        {
          path: ['metadata', 'level'],
          display: [{ locale: 'de', label: 'Stufe' }],
          mandatory: true,
          document_registry: { type: 'choice', choices: ['A1', 'A2'] },
        },
      ],
    }
    const put = (method: string, body?: object) =>
      stack.request('/v1/kinds/language_course', {
        method,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    await put('PUT', kind)
    const header = 'subjectName,subjectId,category,issuedAt,Stufe\n'
    const row = (level: string) => `Ada,7,language_course,2026-07-01,${level}\n`
    const good = await dryRun(header + row('A1'))
    expect([good.code, good.text]).toEqual([0, expect.stringContaining('1 row, all good')])
    const bad = await dryRun(header + row('A3'))
    expect(bad.text).toContain('line 2: metadata.level must be one of A1, A2')
    expect(bad.code).toBe(1)
    await put('DELETE')
    expect((await dryRun(header + row('A1'))).text).toContain('unknown columns: Stufe')
  })

  test('recommends a batch when it is cheaper', async () => {
    const people = Array.from({ length: 40 }, (_, i) => `Ada,${i},diploma,2026-07-01\n`)
    const table = (count: number) =>
      `subjectName,subjectId,category,issuedAt\n${people.slice(0, count).join('')}`
    const told = (await dryRun(table(40))).text
    const times = Number(/Use --batch: it is at least (\d+) times cheaper/.exec(told)?.[1])
    // 26,200 gas for each of 40 in a group, and 56,000 for the batch.
    expect(times).toBeGreaterThan(15)
    expect(times).toBeLessThan(23)
    expect((await dryRun(table(1))).text).not.toContain('Use --batch')
  })

  test('accepts dates as spreadsheets write them, once their order is known', async () => {
    const rows = [
      '"Müller\r\nZoë";7;31.7.2026;01/08/2027',
      '"Ada";8;5-12-2026;',
      '"Eve";9;2026-07-01;',
    ]
    const text = `\ufeffsubjectName;subjectId;issuedAt;expiresAt\r\n${rows.join('\r\n')}\r\n`
    const table = ['--set', 'category=diploma', '--set', 'subjectName=Zoë']
    const told = await dryRun(text, ...table)
    // 31.7.2026 has one reading, 01/08/2027 has two.
    expect(told.text).not.toContain('line 2: issuedAt must be')
    expect(told.text).toContain('line 2: expiresAt must be')
    expect(told.text).toContain('line 4: issuedAt must be')
    expect(told.text).toContain('Use --dates dmy')
    expect((await dryRun(text, ...table, '--dates', 'dmy')).text).toContain('3 rows, all good')
    expect((await dryRun(text, ...table, '--dates', 'mdy')).text).toContain(
      '1 of 3 rows are bad:\n  line 2: issuedAt must be',
    )
    const short = await dryRun(text.replace('5-12-2026', '5-12-26'), ...table, '--dates', 'dmy')
    expect(short.text).toContain('a year of four digits')
  })

  const workbook = (name: string) =>
    fileURLToPath(new URL(`../../../packages/table/field/${name}.xlsx`, import.meta.url))

  test('accepts workbooks, whose header may stand below a title', async () => {
    const { code, stderr } = await issue([workbook('x16-title-row-merged'), '--out', out('book')])
    expect([code, stderr]).toEqual([0, expect.stringContaining('Line 2 names the columns')])
    const [row] = tableOf('book', 'issued.csv')
    expect(row).toMatchObject({ line: '3', subjectName: 'Ana Test', issuedAt: '2026-01-31' })
    const none = await issue([workbook('ok-control'), '--out', out('none'), '--sheet', 'No such'])
    expect([none.code, none.stderr]).toEqual([65, expect.stringMatching(/no sheet "No such" but/)])
  })

  test('a bad cell of a workbook makes a bad row, unless its column is ignored', async () => {
    const book = workbook('x29-shared-formula-err-unused')
    const bad = await issue([book, '--dry-run', '--map', 'check=metadata.check'])
    expect([bad.code, bad.stdout]).toEqual([
      1,
      expect.stringContaining('line 2: metadata.check has an error in the spreadsheet'),
    ])
    const good = await issue([book, '--dry-run', '--map', 'check='])
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('1 row, all good.')])
  })

  test('a cell with lost digits stays bad when its row is issued from failed.csv', async () => {
    const folder = ['--out', out('digits'), '--skip-bad']
    expect((await issue([workbook('x13-id-17-digits'), ...folder])).code).toBe(1)
    const [row] = tableOf('digits', 'failed.csv')
    expect(row).toMatchObject({ subjectId: '#N/A', problem: expect.stringMatching(/15 digits/) })
    const again = await issue([join(dir, 'digits', 'failed.csv'), ...folder])
    expect([again.code, again.stdout]).toEqual([
      1,
      expect.stringContaining('line 2: subjectId has an error in the spreadsheet'),
    ])
    expect(tableOf('digits', 'issued.csv')).toEqual([])
  })

  test('asks which text to issue where a workbook shows other text than it stores', async () => {
    const book = workbook('x10-percent')
    const open = await issue([book, '--dry-run'])
    expect([open.code, open.stderr]).toEqual([
      64,
      expect.stringContaining('--cells "metadata.grade=value" for what is held, such as "0.95"'),
    ])
    for (const [what, grade] of Object.entries({ text: '95%', value: '0.95' })) {
      const args = ['--out', out(what), '--language', 'de', '--cells', `metadata.grade=${what}`]
      expect(await issue([book, ...args])).toMatchObject({ code: 0 })
      expect(tableOf(what, 'issued.csv')).toMatchObject([{ 'metadata.grade': grade }])
    }
    expect(await issue([book, '--dry-run', '--language', 'xx'])).toMatchObject({ code: 64 })
  })

  test('accepts NDJSON', async () => {
    const line = '{"subjectName":"Ada","subjectId":"1","issuedAt":"2026-07-01"}\n'
    const bob = line.replace('"1"', '"2"')
    expect((await dryRun(`\ufeff${line}\ufeff${bob}`, '--set', 'category=a')).code).toBe(0)
  })

  test('names line and field of every bad row, and issues nothing', async () => {
    const bad = `${HEADER}"Ada\nLovelace",1,bad_rows,2026-07-01\nBob,x,Bad,1.7.2026\nEve,3,bad_rows,2026-07-01\nEve,3,bad_rows,2026-07-01\n`
    const { code, stdout } = await issue([file('bad.csv', bad), '--out', out('bad')])
    expect(code).toBe(1)
    expect(stdout).toContain('line 2: subjectName must not have control')
    for (const field of ['subjectId', 'category', 'issuedAt'])
      expect(stdout).toContain(`line 4: ${field} must be`)
    expect(stdout).toContain('line 6: is a duplicate of line 5')
    expect(await count('bad_rows')).toBe(0)
  })

  test("writes issued.csv and failed.csv in the table's own dialect", async () => {
    const head = ['subjectName', 'subjectId', 'category', 'issuedAt'].join(';')
    const rows = ['"Müller; Zoë";1;dialect;31.7.2026', 'Eve;x;dialect;1.8.2026']
    const table = file('excel.csv', `\ufeff${[head, ...rows].join('\r\n')}\r\n`)
    const args = ['--out', out('dialect'), '--dates', 'dmy']
    expect((await issue([table, ...args, '--skip-bad'])).code).toBe(1)
    const issued = readFileSync(out('dialect/issued.csv'), 'utf8')
    expect(issued).toMatch(/^\ufeffline;subjectName;[^\n]*\r\n2;"Müller; Zoë";1;[^\n]*\r\n$/)
    const failed = readFileSync(out('dialect/failed.csv'), 'utf8')
    expect(failed).toMatch(/^\ufeffline;problem;subjectName;[^\n]*\r\n3;[^\n]*2026-08-01\r\n$/)
    const corrected = file('corrected-excel.csv', failed.replace(';x;', ';2;'))
    expect((await issue([corrected, ...args])).code).toBe(0)
    expect(tableOf('dialect', 'issued.csv')).toHaveLength(2)
  })

  test('issues the good rows with --skip-bad, and failed.csv can be corrected', async () => {
    const table = file(
      'some.csv',
      `${HEADER}Ada,1,skip_bad,2026-07-01\nBob,x,skip_bad,2026-07-01\n`,
    )
    const folder = out('some')
    expect((await issue([table, '--out', folder, '--skip-bad'])).code).toBe(1)
    expect(tableOf('some', 'issued.csv')).toHaveLength(1)
    const failed = join(folder, 'failed.csv')
    const corrected = file('corrected.csv', readFileSync(failed, 'utf8').replace(',x,', ',2,'))
    expect((await issue([corrected, '--out', folder])).code).toBe(0)
    expect(tableOf('some', 'issued.csv').map(({ subjectName }) => subjectName)).toEqual([
      'Ada',
      'Bob',
    ])
    expect(tableOf('some', 'failed.csv')).toEqual([])
    expect(await count('skip_bad')).toBe(2)
  })

  test('failed.csv in a new folder does not issue a repeated row again', async () => {
    const row = (name: string, id: string) => `${name},${id},repeated,2026-07-01\n`
    const text = HEADER + row('Ada', '1') + row('Ada', '1') + row('Bob', 'x') + row('Ada', '1')
    const first = await issue([file('repeated.csv', text), '--out', out('repeated'), '--skip-bad'])
    expect(first.code).toBe(1)
    expect(first.stdout).toContain('line 5: is a duplicate of line 2')
    expect(first.stdout).toContain('failed.csv  1 row not issued')
    expect(first.stdout).toContain('2 repeated rows left out')
    const failed = join(out('repeated'), 'failed.csv')
    writeFileSync(failed, readFileSync(failed, 'utf8').replace(',x,', ',2,'))
    expect((await issue([failed, '--out', out('repeated-new')])).code).toBe(0)
    expect(await count('repeated')).toBe(2)
  })

  test('neutralises formulas and control characters, and restores them on reading', async () => {
    const category = 'formulas'
    const metadata = { note: "'=1;+2", screen: '\x1b[2J\r\u009b', '=,@;;;;;;\n;publicId': '\t-' }
    const ada = { subjectName: '=1+1', subjectId: '1', category, issuedAt: '2026-07-01', metadata }
    const bob = { ...ada, subjectName: "'@Bob", subjectId: 'x' }
    const table = file('formulas.ndjson', [ada, bob].map((row) => JSON.stringify(row)).join('\n'))
    const folder = out('formulas')
    expect((await issue([table, '--out', folder, '--skip-bad'])).code).toBe(1)
    const [issued, failed] = ['issued.csv', 'failed.csv'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    )
    for (const text of [issued, failed]) {
      expect(text).not.toMatch(/(^|[,;\t\n])[ "]*[=+@-]/)
      expect(text).not.toMatch(/(?![\t\n])\p{Cc}/u)
    }
    expect(failed).toContain("''@Bob")
    const corrected = file('corrected-formulas.csv', failed?.replace(',x,', ',2,') ?? '')
    expect((await issue([corrected, '--out', folder])).code).toBe(0)

    const list = (...args: string[]) =>
      docreg(['documents', '--category', category, ...args, '--gateway', stack.url], { env: ENV })
    expect(JSON.parse((await list('--json')).stdout)).toMatchObject([
      { subjectName: "'@Bob", metadata },
      { subjectName: '=1+1', metadata },
    ])
    const { stdout } = await list('--csv')
    expect(stdout).not.toMatch(/(^|[,;\t\n])[ "]*[=+@-]|(?![\t\n])\p{Cc}/u)
    const [listed] = parseCsv(Buffer.from(stdout)).rows
    expect(listed?.cells).toMatchObject({ subjectName: "'@Bob", 'metadata.note': metadata.note })
    for (const from of [file('listed.csv', stdout), join(folder, 'issued.csv')])
      expect(
        await docreg(['revoke', '--from', from, '--yes', '--gateway', stack.url], { env: ENV }),
      ).toMatchObject({ stdout: expect.stringContaining('2 documents') })
  })

  test.each([
    ['an unknown column', 'subjectName,Nr\nAda,1\n', 64, /unknown columns: Nr/],
    ['a row with a cell too many', `${HEADER}Ada,1,a,2026-07-01,x\n`, 65, /line 2 has 5 cells/],
    [
      'two columns of one name',
      'subjectId,subjectId\n1,1\n',
      64,
      /unknown columns: subjectId \(2\)/,
    ],
    ['a quotation mark that is not closed', `${HEADER}"Ada,1,a,2026-07-01\n`, 65, /quotation mark/],
    ['bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0x0a]), 65, /UTF-8.*--encoding/],
    ['documents that are issued already', `publicId,${HEADER}x,A,1,a,2026-07-01\n`, 65, /already/],
  ])('refuses %s', async (_, text, code, message) => {
    const answer = await dryRun(text)
    expect(answer.code).toBe(code)
    expect(answer.stderr).toMatch(message)
  })
})

describe('a table of 200 rows from a spreadsheet', () => {
  /** As a spreadsheet saves "CSV" in Western Europe; three rows are bad. */
  const graduates = () => {
    const rows = Array.from({ length: 200 }, (_, i) => {
      const date = i === 20 ? '31.6.2026' : '30.6.2026'
      return `Žoë Müller ${i};${i === 10 ? 'x' : i + 1};BSc;${date};Büro ${i};;`
    })
    rows[30] = `${'n'.repeat(201)};31;BSc;30.6.2026;Büro 30;;`
    const text = ['Name;Nr;Degree;Date;Note;;', ...rows, ''].join('\r\n')
    return Buffer.from(text.replaceAll('Ž', '\x8e'), 'latin1')
  }
  const args = [
    '--map',
    'Name=subjectName',
    '--map',
    'Nr=subjectId',
    '--map',
    'Degree=metadata.degree',
    '--map',
    'Date=issuedAt',
    '--map',
    'Note=',
    '--set',
    'category=registrar',
    '--dates',
    'dmy',
    '--encoding',
    'windows-1252',
    '--qr',
    'none',
  ]
  const folder = () => out('registrar')
  const table = () => {
    writeFileSync(join(dir, 'graduates.csv'), graduates())
    return join(dir, 'graduates.csv')
  }

  test('issues failed.csv without the options, and nothing twice', async () => {
    const run = await issue([table(), '--out', folder(), '--skip-bad', ...args])
    expect(run.code, run.stderr).toBe(1)
    expect(tableOf('registrar', 'issued.csv')).toHaveLength(197)
    const bad = tableOf('registrar', 'failed.csv')
    expect(bad.map(({ line }) => line)).toEqual(['12', '22', '32'])
    expect(bad[0]).toMatchObject({
      subjectName: 'Žoë Müller 10',
      subjectId: 'x',
      category: 'registrar',
      'metadata.degree': 'BSc',
      issuedAt: '2026-06-30',
      '(Note)': 'Büro 10',
    })
    expect(bad[0]?.problem).toContain('subjectId must')
    const failed = join(folder(), 'failed.csv')
    expect((await issue([failed, '--out', folder()])).code).toBe(1)
    expect(await count('registrar')).toBe(197)
    // Read and written again, it has the same columns.
    await issue([failed, '--out', folder(), '--skip-bad'])
    expect(Object.keys(tableOf('registrar', 'failed.csv')[0] ?? {})).toEqual(
      Object.keys(bad[0] ?? {}),
    )
    const corrected = readFileSync(failed, 'utf8')
      .replace(';x;', ';11;')
      .replace(/31\.6\.2026|2026-06-31/, '2026-06-30')
      .replace('n'.repeat(201), 'Nina')
    writeFileSync(failed, corrected)
    const again = await issue([failed, '--out', folder()])
    expect(again.code, again.stdout + again.stderr).toBe(0)
    expect((await issue([failed, '--out', folder()])).code).toBe(0)
    const issued = tableOf('registrar', 'issued.csv')
    expect(new Set(issued.map(({ subjectId }) => subjectId)).size).toBe(200)
    expect(issued).toHaveLength(200)
    expect(await count('registrar')).toBe(200)
  })

  test('issues failed.csv with the same options', async () => {
    const [folder, category] = [out('same'), ['--set', 'category=same_options']]
    const first = [...args.filter((arg) => arg !== 'category=registrar' && arg !== '--set')]
    await issue([table(), '--out', folder, '--skip-bad', ...first, ...category])
    const failed = join(folder, 'failed.csv')
    const text = readFileSync(failed, 'utf8')
      .replace(';x;', ';11;')
      .replace(/"?n{201}"?/, 'Nina')
    writeFileSync(failed, text.replace(/2026-06-31/, '30.6.2026'))
    expect((await issue([failed, '--out', folder, ...first, ...category])).code).toBe(0)
    expect(await count('same_options')).toBe(200)
  })

  test('names a mistyped column of failed.csv, and issues nothing', async () => {
    const row = '2,,Ada,1,mistyped,2026-07-01'
    for (const column of ['metdata.grade', '(Note', 'Note'])
      expect(
        await issue([
          file('mistyped.csv', `line,problem,${HEADER.trim()},${column},(Room)\n${row},A,7\n`),
          '--out',
          out('mistyped'),
        ]),
      ).toMatchObject({ code: 64, stderr: expect.stringContaining(`unknown columns: ${column}.`) })
    expect(await count('mistyped')).toBe(0)
  })

  test('writes rows that the service refuses to failed.csv too', async () => {
    const refusing = await serveHttp(async (request, response) => {
      const isSecond = (await bodyOf(request)).includes('"subjectId":"2"')
      const error = { code: 'bad_request', message: 'no', details: [] }
      const issued = { publicId: 'p', documentHash: `0x${'0'.repeat(64)}`, status: 'valid' }
      // To the question for kinds, this is an answer that has none.
      const answer = isSecond
        ? { success: false, error }
        : { success: true, data: { ...issued, verifyUrl: 'https://x.example/', network: 'test' } }
      response.writeHead(isSecond ? 400 : 201, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    })
    const text = 'Name;Nr;Note\nAda;1;a\nBob;2;b\nEve;x;c\n'
    const mapped = ['--map', 'Name=subjectName', '--map', 'Nr=subjectId', '--map', 'Note=']
    const set = ['--set', 'category=refused', '--set', 'issuedAt=2026-07-01']
    const args = [file('refused.csv', text), '--out', out('refused'), ...mapped, ...set]
    const { code } = await issue([...args, '--skip-bad'], '', refusing.url)
    await refusing.close()
    expect(code).toBe(1)
    const rows = { category: 'refused', issuedAt: '2026-07-01' }
    expect(tableOf('refused', 'failed.csv')).toEqual([
      expect.objectContaining({ ...rows, line: '4', subjectName: 'Eve', '(Note)': 'c' }),
      expect.objectContaining({ ...rows, line: '3', subjectName: 'Bob', '(Note)': 'b' }),
    ])
  })
})

describe('a run that is killed', () => {
  /**
   * Runs it, and kills it each time when the gateway has answered the nth such request, and the
   * answer is on its way; then runs it to its end.
   */
  async function killedAt(path: string, requests: number[], args: string[]) {
    let kill = () => {}
    let nth = Number.POSITIVE_INFINITY
    let seen = 0
    const counting = await serveHttp(async (request, response) => {
      const body = await bodyOf(request)
      const answer = await fetch(`${stack.url}${request.url}`, {
        method: request.method ?? 'GET',
        headers: {
          authorization: request.headers.authorization ?? '',
          'content-type': request.headers['content-type'] ?? '',
          'idempotency-key': String(request.headers['idempotency-key']),
        },
        ...(request.method !== 'GET' && { body }),
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (request.url?.startsWith(path) && ++seen === nth) kill()
      const type = answer.headers.get('content-type') ?? ''
      response.writeHead(answer.status, { 'content-type': type }).end(bytes)
    })
    const all = [...args, '--gateway', counting.url, '--qr', 'none', '--concurrency', '5']
    try {
      for (nth of requests) {
        seen = 0
        const child = spawn(process.execPath, [DOCREG, 'issue', ...all], {
          env: { ...ENV, DOCREG_CONFIG: '/dev/null' },
        })
        kill = () => child.kill('SIGKILL')
        const signal = await new Promise((resolve) => child.once('close', (_, by) => resolve(by)))
        expect(signal).toBe('SIGKILL')
      }
      nth = Number.POSITIVE_INFINITY
      return await docreg(['issue', ...all], { env: ENV })
    } finally {
      await counting.close()
    }
  }

  test('issues every row once after two kills, one by one', async () => {
    const table = file('killed.csv', HEADER + rowsOf('killed', 30))
    const { code, stderr } = await killedAt(
      '/v1/documents',
      [7, 9],
      [table, '--out', out('killed')],
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toContain('Resuming')
    const rows = tableOf('killed', 'issued.csv')
    expect(rows.map(({ subjectId }) => subjectId)).toEqual(
      Array.from({ length: 30 }, (_, i) => String(i + 1)),
    )
    expect(new Set(rows.map(({ documentHash }) => documentHash)).size).toBe(30)
    expect(await count('killed')).toBe(30)
  })

  test('issues one batch, even if its answer was lost', async () => {
    const table = file('batch.csv', HEADER + rowsOf('batched', 20))
    const args = [table, '--out', out('batch'), '--batch']
    await killedAt('/v1/batches', [1], args)
    const rows = tableOf('batch', 'issued.csv')
    expect(new Set(rows.map(({ batchRoot }) => batchRoot)).size).toBe(1)
    expect(rows).toHaveLength(20)
    const { body } = await stack.request('/v1/batches', {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    expect(body.data.batches.map(({ size }: { size: number }) => size)).toEqual([20])
  })
})

test('refuses a folder of another gateway', async () => {
  const table = file('people.csv', HEADER + rowsOf('default_case', 2))
  const { code, stderr } = await issue([table, '--out', out('issued')], '', 'http://127.0.0.1:1')
  expect(code).toBe(2)
  expect(stderr).toContain('belongs to a run with another gateway')
})

test('refuses rows that another program added to the folder', async () => {
  const fields = { ...FORGED, issuedAt: '2026-07-01' }
  const planted = [
    { kind: 'run', id: 'planted', gateway: stack.url },
    { kind: 'sent', key: 'planted', line: 2, fields },
  ]
  mkdirSync(out('planted'))
  file('planted/journal.ndjson', planted.map((entry) => JSON.stringify(entry)).join('\n'))
  const table = file('people.csv', HEADER + rowsOf('not_planted', 1))
  const { code, stderr } = await issue([table, '--out', out('planted')])
  expect([code, stderr]).toEqual([2, expect.stringContaining('--resume')])
  expect(await count(FORGED.category)).toBe(0)
  expect((await issue([table, '--out', out('planted'), '--resume'])).code).toBe(0)
  expect(await count('not_planted')).toBe(1)
})

test('a wrong API key stops the run, and no row is marked as bad', async () => {
  const table = file('people.csv', HEADER + rowsOf('wrong_key', 3))
  const { code, stderr } = await docreg(
    ['issue', table, '--out', out('wrong'), '--gateway', stack.url],
    { env: { DOCREG_API_KEY: 'wrong' } },
  )
  expect(code).toBe(2)
  expect(stderr).toContain('API key')
  expect(readdirSync(out('wrong'))).not.toContain('failed.csv')
})

test('refuses a key file that others can read, and a missing gateway', async () => {
  const key = file('key', API_KEY)
  const args = ['issue', file('t.csv', HEADER), '--out', out('none')]
  const open = await docreg([...args, '--gateway', stack.url, '--api-key-file', key])
  expect([open.code, open.stderr.includes('chmod 600')]).toEqual([64, true])
  expect((await docreg(args, { env: ENV })).code).toBe(64)
})
