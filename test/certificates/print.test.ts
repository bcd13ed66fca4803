import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../certificates/engine.ts'
import { packCache } from '../../certificates/packs.ts'
import { printCertificate } from '../../certificates/print.ts'
import { readSettings, type Settings } from '../../certificates/settings.ts'
import { copyTemplate, findTemplate, TEMPLATES } from '../../certificates/template.ts'
import type { Document } from '../../document/document.ts'
import type { Hex } from '../../document/hex.ts'
import { bundleInPdf } from '../../verifier/pdf.ts'
import { findVeraPdf, problemsOfPdfs } from '../support/verapdf.ts'

const ADA: Document = {
  ...{ subjectName: 'Ada Lovelace', subjectId: '18151210', category: 'diploma' },
  ...{ issuedAt: '2026-01-31', expiresAt: '2036-01-30', metadata: { degree: 'Mathematics' } },
  registry: 'eip155:31337:0x363cff7b0447deccc4c6c14f030f6c99b73a053f',
  issuerId: 1,
}
const { expiresAt: _, ...WITHOUT_END } = ADA
/** What is hard to print: scripts, directions, lengths, and what is not there. */
const DOCUMENTS: [name: string, document: Document, languages?: Settings['languages']][] = [
  ['two languages', ADA],
  ['without optional fields', { ...WITHOUT_END, metadata: { degree: 'x' } }],
  [
    'Arabic',
    { ...ADA, subjectName: 'آدا لوفلايس', metadata: { degree: 'الرياضيات' } },
    ['ar', 'en'],
  ],
  ['Devanagari', { ...ADA, subjectName: 'श्रीमती क्षमा द्विवेदी' }, ['hi', 'en']],
  ['Chinese', { ...ADA, subjectName: '王小明' }, ['zh', 'en']],
  ['Japanese', { ...ADA, subjectName: '山田はなこ' }, ['ja', 'en']],
  ['Korean', { ...ADA, subjectName: '김철수' }, ['ko', 'en']],
  ['Hebrew, Thai, Greek', { ...ADA, subjectName: 'עדה לאבלייס · อาดา · Ἄδα · Ада' }, ['en', 'de']],
  [
    'long',
    {
      ...{ ...ADA, subjectName: 'Wolfeschlegelsteinhausen '.repeat(8).trim() },
      metadata: {
        degree: 'A very long programme of study '.repeat(6),
        ...Object.fromEntries(
          Array.from({ length: 40 }, (_, i) => [
            `entry ${i}`,
            'Something that is said at length. '.repeat(6),
          ]),
        ),
      },
    },
  ],
]
const LINK = 'https://registry.example/verify#publicId=7w73KCx2eDtP1xVYN9Dqd38swsTEGmWn4rqntr5SvjA1'
const BUNDLE = JSON.stringify({ type: 'document-registry-bundle', sealed: 'x'.repeat(2000) })
const hashOf = (text: string): Hex => `0x${createHash('sha256').update(text).digest('hex')}`

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'certificates-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const engineOf = (template: string) =>
  createEngine({ template, fontPaths: [], cache: packCache(process.env), report: () => {} })

function print(engine: ReturnType<typeof engineOf>, settings: Settings, document: Document) {
  const documentHash = hashOf(document.subjectName)
  return printCertificate(engine, settings, { document, documentHash, link: LINK, bundle: BUNDLE })
}

const jar = await findVeraPdf()

test.skipIf(jar === undefined)(
  'behavior: prints PDF/A-3a with the bundle, from every template and in every script',
  { timeout: 600_000 },
  async () => {
    const files: string[] = []
    for (const name of TEMPLATES) {
      const template = findTemplate(name)
      const settings = readSettings(template)
      const engine = engineOf(template)
      for (const [title, document, languages = settings.languages] of DOCUMENTS) {
        const pdf = await print(engine, { ...settings, languages }, document)
        expect(new TextDecoder().decode(await bundleInPdf(pdf)), title).toBe(BUNDLE)
        const file = join(dir, `${name}-${files.length}.pdf`)
        writeFileSync(file, pdf)
        files.push(file)
      }
    }
    expect(await problemsOfPdfs(jar as string, files)).toEqual([])
  },
)

test('behavior: prints the same bytes again', async () => {
  const template = findTemplate('diploma')
  const settings = readSettings(template)
  const first = await print(engineOf(template), settings, ADA)
  const engine = engineOf(template)
  await print(engine, settings, { ...ADA, subjectName: 'Somebody Else' })
  expect((await print(engine, settings, ADA)).equals(first)).toBe(true)
})

test('error: names the field that a text needs and the document lacks', async () => {
  const template = findTemplate('diploma')
  const { metadata: __, ...document } = ADA
  await expect(print(engineOf(template), readSettings(template), document)).rejects.toMatchObject({
    code: 'missing_field',
    message: expect.stringContaining('metadata.degree'),
  })
})

test('error: refuses a character that no font has', async () => {
  const template = findTemplate('letter')
  const document = { ...ADA, subjectName: 'Ada \u{13000}' }
  await expect(print(engineOf(template), readSettings(template), document)).rejects.toMatchObject({
    code: 'unprintable',
    message: expect.not.stringContaining('Ada'),
  })
})

test('error: names every bad member of the settings', () => {
  const copy = join(dir, 'copy')
  copyTemplate('permit', copy)
  const file = join(copy, 'settings.json')
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(
    file,
    JSON.stringify({ ...settings, logo: '../logo.svg', languages: ['xx'], more: 1 }),
  )
  expect(() => readSettings(copy)).toThrow(/logo must be in the folder.*more is not a member here/)
})

test('error: refuses a template with a link, which the engine would follow out of its folder', () => {
  writeFileSync(join(dir, 'secret'), 'of this user')
  for (const target of ['secret', '.']) {
    const copy = join(dir, `linked to ${target}`)
    copyTemplate('letter', copy)
    symlinkSync(join(dir, target), join(copy, 'leak'))
    expect(() => findTemplate(copy)).toThrow(/leak is not a file of its own: replace the link/)
  }
})
