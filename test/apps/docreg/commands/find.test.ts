import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import vectors from '#corpus/vectors/documents.json' with { type: 'json' }
import { parseCsv } from '#table/csv.ts'
import { formatTable } from '#table/format.ts'
import { docreg } from '../../../support/docreg.ts'

const PUBLIC_ID = vectors.documents[0]?.publicId ?? ''
const hashOf = (n: number) => `0x${String(n).padStart(64, '0')}`

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'docreg-find-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const find = (...args: string[]) => docreg(['find', ...args], { cwd: dir })

function write(path: string, text: string | Uint8Array) {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), text)
}

/** A table as `docreg issue` writes it; documents are numbered, as their hashes are. */
function table(path: string, documents: Record<number, Record<string, string>>) {
  const rows = Object.entries(documents).map(([n, cells]) => ({
    line: n,
    subjectName: 'Nobody',
    subjectId: n,
    category: 'diploma',
    issuedAt: '2026-07-01',
    ...cells,
    publicId: PUBLIC_ID,
    documentHash: hashOf(Number(n)),
    status: 'valid',
  }))
  write(path, formatTable([...new Set(rows.flatMap((row) => Object.keys(row)))], rows))
}

/** The numbers of the documents that it finds. */
async function found(...args: string[]): Promise<number[]> {
  const { stdout, stderr, code } = await find(...args, '--json')
  expect({ stderr, code }).toMatchObject({ code: 0 })
  return JSON.parse(stdout).found.map(({ documentHash }: Record<string, string>) =>
    Number(documentHash),
  )
}

describe('find', () => {
  test('finds a name in all subfolders, ignoring case, accents and order', async () => {
    table('2025/issued.csv', { 1: { subjectName: 'Łukasz Strauß' }, 2: {} })
    table('2026/law/issued.csv', { 3: { subjectName: 'JOSÉ ÁLVAREZ' } })
    table('2026/issued.csv', { 4: { subjectName: 'Jose\u0301 Ibáñez' } })
    expect(await found('.', '--name', 'jose')).toEqual([4, 3])
    expect(await found('2025', '2026/law', '--name', 'jose')).toEqual([3])
    expect(await found('.', '--name', 'ALVAREZ josé')).toEqual([3])
    expect(await found('.', '--name', 'strauss lukasz')).toEqual([1])
    expect(await found('2026/law/issued.csv', '--name', 'alvarez')).toEqual([3])
    expect(await found('.', '--name', 'lovelace')).toEqual([])
  })

  test('does not match a part of another name or number', async () => {
    table('issued.csv', {
      1: { subjectName: 'Ann Ada', subjectId: '18151210' },
      2: { subjectName: 'Hannah Ada', subjectId: '918151210' },
      3: { subjectName: 'Jo‐Anne O’Brien', subjectId: '181512109' },
    })
    expect(await found('.', '--name', "o'brien jo-anne")).toEqual([3])
    expect(await found('.', '--name', 'ann')).toEqual([1, 3])
    expect(await found('.', '--where', 'subjectId=18151210')).toEqual([1])
  })

  test('searches any column, and combines all conditions', async () => {
    table('issued.csv', {
      1: { subjectName: 'Ada', 'metadata.degree': 'BSc History' },
      2: { subjectName: 'Ada', 'metadata.degree': 'BSc Physics' },
    })
    expect(await found('.', '--name', 'ada', '--where', 'metadata.degree=history')).toEqual([1])
    expect(await found('.', '--where', 'issuedAt=2026-07', '--where', 'subjectId=2')).toEqual([2])
  })

  test('prints what identifies a document; publicIds only in tables and JSON', async () => {
    table('run/issued.csv', { 1: { subjectName: 'Ada Lovelace' }, 2: {} })
    const { stdout, stderr, code } = await find('run', '--name', 'ada')
    const line = `Ada Lovelace  1  diploma  2026-07-01  ${hashOf(1)}  run/issued.csv:2\n`
    expect({ code, stdout }).toEqual({ code: 0, stdout: line })
    expect(stderr).toContain('1 document in 1 table')
    const { stdout: csv } = await find('run', '--where', 'category=diploma', '--csv')
    const { rows } = parseCsv(Buffer.from(csv))
    expect(rows.map(({ cells }) => cells)).toMatchObject(
      [1, 2].map((n) => ({
        file: 'run/issued.csv',
        subjectId: `${n}`,
        publicId: PUBLIC_ID,
        documentHash: hashOf(n),
      })),
    )
  })
})

describe('tables from others', () => {
  test('names files that are no tables and rows without a hash, and searches the rest', async () => {
    table('good/issued.csv', { 1: { subjectName: 'Ada' } })
    write('short/issued.csv', 'subjectName,documentHash\nAda\n')
    write('bytes/issued.csv', Buffer.from([0x41, 0xff, 0x0a]))
    write('row/issued.csv', 'subjectName,documentHash\nAda,--yes\nBob,--yes\n')
    const { stdout, stderr, code } = await find('.', '--name', 'ada')
    expect(code).toBe(2)
    expect(stdout.split('\n')).toEqual([expect.stringContaining(hashOf(1)), ''])
    expect(stderr).toContain('short/issued.csv: line 2 has 1 cells, but there are 2 columns')
    expect(stderr).toContain('bytes/issued.csv: the text is not UTF-8')
    expect(stderr).toContain('row/issued.csv: line 2 has no documentHash')
    expect(stderr).not.toContain('line 3')
    const { problems } = JSON.parse((await find('.', '--name', 'ada', '--json')).stdout)
    expect(problems).toHaveLength(3)
  })

  test('a name cannot control the terminal or a spreadsheet', async () => {
    const subjectName = '=Ada\u001b[2J'
    table('issued.csv', { 1: { subjectName } })
    const { stdout } = await find('.', '--name', 'ada')
    expect(stdout).toContain('=Ada\\u001b[2J')
    const { stdout: csv } = await find('.', '--name', '=ada', '--csv')
    expect(csv).toContain("'=Ada\\u001b[2J")
    expect(parseCsv(Buffer.from(csv)).rows).toMatchObject([{ cells: { subjectName } }])
  })

  test('follows no symbolic link out of the folder or in a cycle', async () => {
    table('other/issued.csv', { 1: { subjectName: 'Ada' } })
    table('mine/issued.csv', { 2: { subjectName: 'Ada' } })
    symlinkSync('../other', join(dir, 'mine', 'link'))
    symlinkSync('.', join(dir, 'mine', 'around'))
    expect(await found('mine', '--name', 'ada')).toEqual([2])
  })
})

test('names what is missing', async () => {
  table('issued.csv', { 1: {} })
  mkdirSync(join(dir, 'empty'))
  for (const [args, status, text] of [
    [['.'], 64, '--name or --where is required'],
    [['.', '--name', ' '], 64, 'no text to find'],
    [['.', '--where', 'Ada'], 64, '--where must be <column>=<text>'],
    [['--name', 'ada'], 64, 'folder'],
    [['empty', '--name', 'ada'], 65, 'there is no issued.csv in these folders or below'],
    [['nowhere', '--name', 'ada'], 65, 'nowhere cannot be read'],
    [['.', '--where', 'degree=BSc'], 2, 'no table has the column degree'],
  ] as const) {
    const { code, stderr } = await find(...args)
    expect({ args, code, stderr }).toMatchObject({ code: status })
    expect(stderr).toContain(text)
  }
})
