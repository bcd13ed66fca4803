import { readdirSync, readFileSync } from 'node:fs'
import { deflateRawSync, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import attachedToAll from '#corpus/vectors/pdfs/bundle.json' with { type: 'json' }
import { FormatError } from '#document/errors.ts'
import type { Hex } from '#document/hex.ts'
import type { RegistryId } from '#document/registry-id.ts'
import { readBundle, verifyBundle } from '#verifier/bundle.ts'
import { bundleInPdf, isPdf } from '#verifier/pdf.ts'

const BUNDLE = '{"type":"document-registry-bundle","v":1}'

/** A PDF as far as the reader looks, with one embedded file. */
function pdfOf(content: Uint8Array, dictionary: string, end = '\nendstream endobj\n%%EOF'): Buffer {
  const head = `%PDF-1.7\n1 0 obj <</Names<</EmbeddedFiles 3 0 R>>>> endobj\n2 0 obj <<${dictionary}>> stream\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), content, Buffer.from(end)])
}

const read = async (pdf: Uint8Array) => new TextDecoder().decode(await bundleInPdf(pdf))

test('finds the attached bundle', async () => {
  const plain = pdfOf(Buffer.from(BUNDLE), '/Type/EmbeddedFile')
  const deflated = pdfOf(deflateSync(BUNDLE), '/Type /EmbeddedFile /Filter /FlateDecode')
  const filterFirst = pdfOf(deflateSync(BUNDLE), '/Filter[/FlateDecode]/Type/EmbeddedFile')
  expect(isPdf(plain)).toBe(true)
  expect((await read(plain)).trim()).toBe(BUNDLE)
  expect(await read(deflated)).toBe(BUNDLE)
  expect(await read(filterFirst)).toBe(BUNDLE)
})

test('skips other attachments', async () => {
  const other = pdfOf(deflateSync('{}'), '/Type/EmbeddedFile/Filter/FlateDecode')
  const ours = pdfOf(deflateSync(BUNDLE), '/Type/EmbeddedFile/Filter/FlateDecode')
  expect(await read(Buffer.concat([other, ours]))).toBe(BUNDLE)
})

test('reports a PDF without a bundle', async () => {
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024))
  const manyBombs = Array.from({ length: 200 }, () =>
    pdfOf(bomb, '/Type/EmbeddedFile/Filter/FlateDecode'),
  )
  const without = [
    Buffer.from('%PDF-1.7\n'),
    Buffer.from('%PDF-1.7 EmbeddedFile stream'),
    Buffer.from(`%PDF-1.7 ${'EmbeddedFile '.repeat(100_000)}`),
    pdfOf(Buffer.from('not deflated'), '/Type/EmbeddedFile/Filter/FlateDecode'),
    Buffer.concat(manyBombs.slice(0, 100)),
    Buffer.alloc(9 * 1024 * 1024),
  ]
  for (const pdf of without)
    await expect(bundleInPdf(pdf)).rejects.toMatchObject({ code: 'bundle_malformed' })
})

const SIZE = 8 * 1024 * 1024 - 20_000
const FAR = `${' '.repeat(5_000)}stream`
const EMPTY_STREAM = '/EmbeddedFile/FlateDecode stream\n \nendstream '
const fill = (unit: string) => unit.repeat(SIZE / unit.length)
const deflated = (blocks: Buffer) =>
  pdfOf(
    Buffer.concat([Buffer.from('789c', 'hex'), blocks]),
    '/Type/EmbeddedFile/Filter/FlateDecode',
  )
const bomb = () => deflateRawSync(Buffer.alloc(256 * 1024 * 1024), { finishFlush: 2 })

test.each<[string, () => Buffer | string]>([
  ['files before one far stream', () => fill('EmbeddedFile ') + FAR],
  ['files without a stream', () => fill('EmbeddedFile ')],
  ['tables of names before one far stream', () => fill('/EmbeddedFiles ') + FAR],
  ['tables of names with a stream each', () => fill('/EmbeddedFiles stream ')],
  ['files that almost have a stream', () => fill('EmbeddedFile strea') + FAR],
  ['letters s between files', () => fill('EmbeddedFile ssssssssssssssss') + FAR],
  ['names that are almost those of files', () => fill('EmbeddedFil')],
  ['a stream that almost ends', () => `EmbeddedFile stream\n${fill('endstrea')}`],
  ['streams that do not end', () => fill('EmbeddedFile stream ')],
  ['empty streams', () => fill(EMPTY_STREAM)],
  ['a long way back to an object', () => fill(' ob') + EMPTY_STREAM.repeat(70)],
  ['words for encrypted', () => fill('/Encrypt ')],
  ['spaces after a word for encrypted', () => `/Encrypt${fill(' ')}`],
  ['a stream of blocks without data', () => deflated(Buffer.alloc(SIZE, '000000ffff', 'hex'))],
  ['a stream of 7 GiB', () => deflated(Buffer.concat(Array(28).fill(bomb())))],
])('refuses in time a PDF of 8 MiB with %s', async (_, make) => {
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.from(make())])
  expect(pdf.length).toBeGreaterThan(6 * 1024 * 1024)
  const start = performance.now()
  await expect(bundleInPdf(pdf)).rejects.toMatchObject({ code: 'bundle_malformed' })
  // Milliseconds; measured 10 to 300.
  expect(performance.now() - start).toBeLessThan(15_000)
})

test('says that a PDF is encrypted', async () => {
  const end = '\nendstream endobj\ntrailer <</Root 1 0 R/Encrypt 9 0 R>>\n%%EOF'
  const encrypted = pdfOf(Buffer.from('…'), '/Type/EmbeddedFile/Filter/FlateDecode', end)
  await expect(bundleInPdf(encrypted)).rejects.toThrow('encrypted')
})

test('throws no other error, whatever the file contains', async () => {
  const parts = fc.constantFrom(
    '%PDF-1.7',
    ' obj ',
    '<<',
    '/EmbeddedFile',
    '/FlateDecode',
    'stream\n',
    'endstream',
    '\r\n',
    deflateSync(BUNDLE).toString('latin1'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(parts, fc.string())), async (all) => {
      const error = await bundleInPdf(Buffer.from(all.join(''), 'latin1')).catch((e) => e)
      expect(error instanceof FormatError || error instanceof Uint8Array).toBe(true)
    }),
  )
})

/** A certificate, and what other programs made of it: tools/corpus/vectors/pdfs/save.py. */
const PDFS = new URL('../../../tools/corpus/vectors/pdfs/', import.meta.url)
/** They keep the attachment in no form that is read, or not at all. */
const REFUSED: Record<string, string> = {
  'mupdf-ascii.pdf': 'the PDF contains no readable bundle',
  'mupdf-encrypted.pdf': 'the PDF is encrypted',
  'mupdf-merged.pdf': 'the PDF contains no readable bundle',
  'pikepdf-encrypted.pdf': 'the PDF is encrypted',
}
const saved = readdirSync(PDFS).filter((name) => name.endsWith('.pdf'))
const pdfOfVector = (name: string) => readFileSync(new URL(name, PDFS))

test('verifies certificates that other programs have saved again', async () => {
  const { registry, trustedBlocks, bundle } = attachedToAll
  const read = saved.filter((name) => !(name in REFUSED))
  expect(read.length).toBeGreaterThan(8)
  for (const name of read) {
    const attached = readBundle(await bundleInPdf(pdfOfVector(name))).bundle
    expect(attached, name).toEqual(bundle)
    const trusted = { registry: registry as RegistryId, trustedBlocks: trustedBlocks as Hex[] }
    expect((await verifyBundle(attached, trusted)).status, name).toBe('valid')
  }
})

test('says what to do with a PDF whose attachment another program has changed', async () => {
  for (const [name, problem] of Object.entries(REFUSED))
    await expect(bundleInPdf(pdfOfVector(name)), name).rejects.toThrow(problem)
})
