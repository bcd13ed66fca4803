import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCsv } from '../../../cli/csv.ts'
import { docreg } from '../../support/docreg.ts'
import { API_KEY, type Stack, startStack } from '../../support/stack.ts'

let stack: Stack
let dir: string
beforeAll(async () => {
  stack = await startStack()
  dir = mkdtempSync(join(tmpdir(), 'docreg-issue-'))
})
afterAll(async () => {
  await stack?.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** The engine is in the cache of this user. */
const env = () => ({
  ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
  DOCREG_API_KEY: API_KEY,
})
const TABLE = `subjectName,subjectId,category,issuedAt
Ada Lovelace,1,printed_case,2026-07-01
Grace Hopper,2,printed_case,2026-07-01
Alan Turing,3,printed_case,2026-07-01
`
function issue(folder: string, template: string) {
  const table = join(dir, 'people.csv')
  writeFileSync(table, TABLE)
  return docreg(
    [
      ...['issue', table, '--out', folder, '--certificates', template, '--qr', 'none'],
      ...['--json', '--gateway', stack.url],
    ],
    { env: env() },
  )
}
const certificatesOf = (folder: string) =>
  parseCsv(readFileSync(join(folder, 'issued.csv'))).rows.map(({ cells }) => cells.certificate)

async function documentsOf(category: string): Promise<unknown[]> {
  const { stdout } = await docreg(
    ['documents', '--category', category, '--json', '--gateway', stack.url],
    { env: env() },
  )
  return JSON.parse(stdout)
}

test('error: issues nothing if a row lacks a field of the template', async () => {
  const { code, stdout } = await issue(join(dir, 'lacking'), 'diploma')
  expect(code).toBe(1)
  const problems = [{ field: '', message: 'the template needs the field metadata.degree' }]
  const lacks = (line: number) => ({ line, problems })
  expect(JSON.parse(stdout)).toMatchObject({ issued: 0, failed: [lacks(2), lacks(3), lacks(4)] })
  expect(await documentsOf('printed_case')).toEqual([])
})

test('behavior: prints a PDF of each row, and in the next run those that are missing', async () => {
  const folder = join(dir, 'printed')
  const { code, stdout, stderr } = await issue(folder, 'letter')
  expect(code, stderr).toBe(0)
  const certificates = { written: 3, left: 0, failures: [] }
  expect(JSON.parse(stdout)).toMatchObject({ issued: 3, certificates })
  const files = certificatesOf(folder)
  expect(files[0]).toMatch(/^certificates\/Ada Lovelace [0-9a-f]{8}\.pdf$/)
  rmSync(join(folder, files[1] ?? ''))
  const again = JSON.parse((await issue(folder, 'letter')).stdout)
  expect(again).toMatchObject({ issued: 3, certificates: { written: 1, left: 2 } })
  expect(certificatesOf(folder)).toEqual(files)
  expect(readdirSync(join(folder, 'certificates'))).toHaveLength(3)
  expect(await documentsOf('printed_case')).toHaveLength(3)
})
