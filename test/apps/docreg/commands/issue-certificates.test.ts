import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { fileNameOf } from '#certificates/files.ts'
import type { Hex } from '#document/hex.ts'
import { parseCsv } from '#table/csv.ts'
import { readBundle } from '#verifier/bundle.ts'
import { bundleInPdf } from '#verifier/pdf.ts'
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
  await stack?.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** The engine is in the cache of this user. */
const env = () => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  DOCREG_API_KEY: API_KEY,
})
const TABLE = `subjectName,subjectId,category,issuedAt
Ada Lovelace,1,printed_case,2026-07-01
Grace Hopper,2,printed_case,2026-07-01
Alan Turing,3,printed_case,2026-07-01
`
function argsOf(folder: string, template: string, text: string): string[] {
  const table = join(dir, 'people.csv')
  writeFileSync(table, text)
  return ['issue', table, '--out', folder, '--certificates', template, '--qr', 'none', '--json']
}
const issue = (folder: string, template: string, text = TABLE) =>
  docreg([...argsOf(folder, template, text), '--gateway', stack.url], { env: env() })
const issuedIn = (folder: string) =>
  parseCsv(readFileSync(join(folder, 'issued.csv'))).rows.map(({ cells }) => cells)
const certificatesOf = (folder: string) => issuedIn(folder).map(({ certificate }) => certificate)

async function documentsOf(category: string): Promise<unknown[]> {
  const { stdout } = await docreg(
    ['documents', '--category', category, '--json', '--gateway', stack.url],
    { env: env() },
  )
  return JSON.parse(stdout)
}

test('issues nothing if a row lacks a field of the template', async () => {
  const { code, stdout } = await issue(join(dir, 'lacking'), 'diploma')
  expect(code).toBe(1)
  const problems = [{ field: '', message: 'the template requires the field metadata.degree' }]
  const lacks = (line: number) => ({ line, problems })
  expect(JSON.parse(stdout)).toMatchObject({ issued: 0, failed: [lacks(2), lacks(3), lacks(4)] })
  expect(await documentsOf('printed_case')).toEqual([])
})

test('prints a PDF of each row, and in the next run those that are missing', async () => {
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

/** A gateway that leaves requests for bundles without an answer, after so many, until it is told. */
async function servingBundles(count: number) {
  let left = count
  const server = await serveHttp(async (request, response) => {
    const { method = 'GET', url = '' } = request
    if (url.endsWith('/bundle') && left-- <= 0) return
    const names = ['authorization', 'content-type', 'idempotency-key']
    const headers = names.flatMap((name): [string, string][] => {
      const value = request.headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    })
    const body = method === 'GET' ? null : await bodyOf(request)
    const answer = await fetch(`${stack.url}${url}`, { method, headers, body })
    const type = answer.headers.get('content-type') ?? ''
    response.writeHead(answer.status, { 'content-type': type })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  const serveAll = () => {
    left = Number.POSITIVE_INFINITY
  }
  return { ...server, serveAll }
}

test('continues after a kill while printing, and writes each PDF once', async () => {
  const folder = join(dir, 'killed')
  const printed = join(folder, 'certificates')
  const people = Array.from({ length: 8 }, (_, i) => `Same Name,${i},killed_case,2026-07-01\n`)
  const gateway = await servingBundles(3)
  const args = [
    ...argsOf(folder, 'letter', `${TABLE.split('\n', 1)}\n${people.join('')}`),
    '--gateway',
    gateway.url,
  ]
  const pdfs = () => readdirSync(printed).filter((name) => name.endsWith('.pdf'))
  try {
    const child = spawn(process.execPath, [DOCREG, ...args], {
      env: { ...env(), DOCREG_CONFIG: '/dev/null' },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
    await vi
      .waitFor(() => expect(pdfs()).toHaveLength(3), { timeout: 120_000, interval: 50 })
      .finally(() => child.kill('SIGKILL'))
    expect(await ended).toBe('SIGKILL')
    // No row may name a PDF that is not there.
    for (const { certificate = '' } of issuedIn(folder))
      if (certificate !== '')
        expect(pdfs().map((name) => `certificates/${name}`)).toContain(certificate)
    // As if the kill had come while the last one was written.
    const { subjectName = '', documentHash } = issuedIn(folder).at(-1) ?? {}
    writeFileSync(join(printed, `${fileNameOf(subjectName, documentHash as Hex)}.part`), '%PDF')

    gateway.serveAll()
    const { code, stdout, stderr } = await docreg(args, { env: env() })
    expect(code, stderr).toBe(0)
    const certificates = { written: 5, left: 3, failures: [] }
    expect(JSON.parse(stdout)).toMatchObject({ issued: 8, certificates })
  } finally {
    await gateway.close()
  }
  const rows = issuedIn(folder)
  const named = rows.map(({ certificate = '' }) => certificate.replace('certificates/', ''))
  expect(readdirSync(printed).sort()).toEqual(named.sort())
  expect(new Set(named).size).toBe(8)
  for (const { certificate = '', publicId } of rows) {
    const pdf = readFileSync(join(folder, certificate))
    expect(readBundle(await bundleInPdf(pdf)).bundle.publicId).toBe(publicId)
  }
})
