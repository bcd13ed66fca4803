import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { packCache } from '#certificates/packs.ts'
import { createPool, type Pool, type PoolOptions } from '#certificates/pool.ts'
import { readSettings } from '#certificates/settings.ts'
import { copyTemplate } from '#certificates/template.ts'
import { bundleInPdf } from '#verifier/pdf.ts'

let dir: string
let template: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'pool-'))
  template = join(dir, 'template')
  copyTemplate('letter', template)
  // One name lets the engine work without end.
  const file = join(template, 'template.typ')
  const loop =
    'for i in range(9999) { for j in range(9999) { for k in range(9999) { let _ = k } } }'
  const endless = `#let certificate(it) = {\n  if it.name.text == "Endless" { ${loop} }`
  writeFileSync(file, readFileSync(file, 'utf8').replace('#let certificate(it) = {', endless))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let pool: Pool | undefined
afterEach(() => pool?.close())

const open = (options: Partial<PoolOptions> = {}) =>
  createPool({
    template,
    settings: readSettings(template),
    fontPaths: [],
    env: process.env,
    cache: packCache(process.env),
    report: () => {},
    workers: 2,
    ...options,
  })
const print = (subjectName: string) =>
  (pool as Pool).print({
    document: {
      subjectName,
      subjectId: '1',
      category: 'letter',
      issuedAt: '2026-01-31',
      registry: 'eip155:31337:0x363cff7b0447deccc4c6c14f030f6c99b73a053f',
      issuerId: 1,
    },
    documentHash: `0x${'ab'.repeat(32)}`,
    link: 'https://registry.example/verify#publicId=x',
    bundle: JSON.stringify({ type: 'document-registry-bundle', subjectName }),
  })
const nameIn = async (pdf: Uint8Array) =>
  JSON.parse(new TextDecoder().decode(await bundleInPdf(pdf))).subjectName

test('prints each certificate, and reports an error only for its own', async () => {
  pool = open()
  const names = ['Ada', 'Unprintable \u{13000}', 'Grace', 'Alan', 'Edsger']
  const results = await Promise.allSettled(names.map(print))
  const shown = results.map((result) =>
    result.status === 'fulfilled' ? nameIn(result.value) : result.reason.code,
  )
  expect(await Promise.all(shown)).toEqual(['Ada', 'unprintable', 'Grace', 'Alan', 'Edsger'])
})

test('replaces a process whose memory grew', async () => {
  pool = open({ maxRss: 1, workers: 1 })
  const names = ['Ada', 'Grace', 'Alan']
  const pdfs = await Promise.all(names.map(print))
  expect(await Promise.all(pdfs.map(nameIn))).toEqual(names)
})

test('gives up a certificate that never ends, and prints the next ones', async () => {
  pool = open({ workers: 1, jobTimeoutMs: 20_000 })
  const results = await Promise.allSettled(['Endless', 'Ada', 'Grace'].map(print))
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(results[0]).toMatchObject({ reason: { code: 'engine_failed' } })
})

test('stops running work when it is closed', async () => {
  pool = open()
  const results = Promise.allSettled(['Ada', 'Grace', 'Alan'].map(print))
  await new Promise((resolve) => setImmediate(resolve))
  pool.close()
  for (const result of await results)
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'engine_failed' } })
})
