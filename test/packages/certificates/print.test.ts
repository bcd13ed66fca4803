import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contentOf } from '#certificates/content.ts'
import { createEngine } from '#certificates/engine.ts'
import { LABEL_NAMES } from '#certificates/labels.ts'
import { packCache } from '#certificates/packs.ts'
import { printCertificate } from '#certificates/print.ts'
import { readSettings, type Settings } from '#certificates/settings.ts'
import { copyTemplate, findTemplate, TEMPLATES } from '#certificates/template.ts'
import type { Document } from '#document/document.ts'
import type { Hex } from '#document/hex.ts'
import type { Kind } from '#document/kind.ts'
import { bundleInPdf } from '#verifier/pdf.ts'
import { findVeraPdf, problemsOfPdfs } from './verapdf.ts'

const ADA: Document = {
  subjectName: 'Ada Lovelace',
  subjectId: '18151210',
  category: 'diploma',
  issuedAt: '2026-01-31',
  expiresAt: '2036-01-30',
  metadata: { degree: 'Mathematics' },
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
      ...ADA,
      subjectName: 'Wolfeschlegelsteinhausen '.repeat(8).trim(),
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
  'prints PDF/A-3a with the bundle, from every template and in every script',
  { timeout: 600_000 },
  async () => {
    const files: string[] = []
    for (const name of TEMPLATES) {
      const template = findTemplate(name)
      const settings = readSettings(template)
      const engine = engineOf(template)
      for (const [i, [title, document, languages = settings.languages]] of DOCUMENTS.entries()) {
        const walletCode = i > 1
        const pdf = await print(engine, { ...settings, languages, walletCode }, document)
        expect(new TextDecoder().decode(await bundleInPdf(pdf)), title).toBe(BUNDLE)
        const file = join(dir, `${name}-${files.length}.pdf`)
        writeFileSync(file, pdf)
        files.push(file)
      }
    }
    expect(await problemsOfPdfs(jar as string, files)).toEqual([])
  },
)

test('prints the same bytes every time', async () => {
  const template = findTemplate('diploma')
  const settings = readSettings(template)
  const first = await print(engineOf(template), settings, ADA)
  const engine = engineOf(template)
  await print(engine, settings, { ...ADA, subjectName: 'Somebody Else' })
  expect((await print(engine, settings, ADA)).equals(first)).toBe(true)
})

const pagesOf = (pdf: Buffer) => Number(/\/Count (\d+)/.exec(pdf.toString('latin1'))?.[1])

/** What the pages show: the operand of each text, and where it begins, from the left. */
function textsOf(pdf: Buffer): { x: number; glyphs: string }[] {
  const streams = pdf.toString('latin1').matchAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g)
  return [...streams].flatMap(([, bytes = '']) => {
    if (!bytes.startsWith('x')) return []
    const content = inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1')
    const texts = content.matchAll(/^\S+ \S+ \S+ \S+ (\S+) \S+ cm$|^(.*) T[jJ]$/gm)
    let x = Number.NaN
    return [...texts].flatMap(([, left, glyphs]) => {
      if (left !== undefined) x = Number(left)
      return glyphs === undefined ? [] : [{ x, glyphs }]
    })
  })
}

const manyEntries = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`module ${i}`, `Algebra ${i}`]))

test('a diploma has a second page only for entries that do not fit on the first', async () => {
  const template = findTemplate('diploma')
  const [engine, settings] = [engineOf(template), readSettings(template)]
  const pages = async (metadata: Record<string, string>, languages = settings.languages) => {
    const document = { ...ADA, metadata: { degree: 'Mathematics', ...metadata } }
    return pagesOf(await print(engine, { ...settings, languages }, document))
  }
  expect(await pages({})).toBe(1)
  expect(await pages(manyEntries(12))).toBe(1)
  expect(await pages(manyEntries(12), ['ar', 'en'])).toBe(1)
  expect(await pages(manyEntries(25))).toBe(2)
})

test('breaks words that are too wide, in every template', async () => {
  const word = 'x'.repeat(300)
  const document = { ...ADA, subjectName: word.slice(0, 150), metadata: { degree: word, word } }
  for (const name of TEMPLATES) {
    const template = findTemplate(name)
    const pdf = await print(engineOf(template), readSettings(template), document)
    // Two bytes are a glyph, and numbers between them a shift; nowhere have so many room.
    const bytesOf = (glyphs: string) =>
      glyphs.replace(/\\(\d{3}|.)/g, '.').replace(/\) \S+ \(/g, '').length
    const runs = textsOf(pdf).map(({ glyphs }) => bytesOf(glyphs) / 2)
    expect(Math.max(...runs), name).toBeLessThan(150)
    const [, width] = /\/MediaBox \[0 0 (\S+)/.exec(pdf.toString('latin1')) ?? []
    expect(Math.max(...textsOf(pdf).map(({ x }) => x)), name).toBeLessThan(Number(width))
  }
})

test('a second code leads to the wallet, in every template whose settings ask for it', async () => {
  const linksOf = (pdf: Buffer) =>
    [...pdf.toString('latin1').matchAll(/\/URI \((.*?)\)/g)].map(([, link]) => link)
  for (const name of TEMPLATES) {
    const template = findTemplate(name)
    const [engine, settings] = [engineOf(template), readSettings(template)]
    expect(linksOf(await print(engine, settings, ADA)), name).toEqual([LINK])
    for (const languages of [settings.languages, ['ar', 'en', 'fr']]) {
      const pdf = await print(engine, { ...settings, languages, walletCode: true }, ADA)
      expect(linksOf(pdf).sort(), name).toEqual([LINK, `${LINK}&for=wallet`])
      expect(pagesOf(pdf), name).toBe(name === 'permit' ? 2 : 1)
    }
  }
})

test('the fingerprint reads from left to right, also in Arabic-first templates', async () => {
  const template = join(dir, 'fingerprint')
  copyTemplate('letter', template)
  const layout = '#import "docreg/lib.typ": *\n#let certificate(it) = align(left, fingerprint(it))'
  writeFileSync(join(template, 'template.typ'), layout)
  const settings = readSettings(template)
  const [english, arabic] = await Promise.all(
    (['en', 'ar'] as const).map((tag) =>
      print(engineOf(template), { ...settings, languages: [tag] }, ADA),
    ),
  )
  expect(textsOf(arabic as Buffer)).toEqual(textsOf(english as Buffer))
  expect(textsOf(arabic as Buffer).length).toBeGreaterThan(0)
})

test("without a title, a certificate names the document's category once", () => {
  const settings = readSettings(findTemplate('permit'))
  const document = { ...ADA, category: 'parking_permit' }
  const kindsIn = (given: Settings) => {
    const { texts, entries } = contentOf(document, given)
    const values = entries.flatMap((entry) => entry.values.map(({ text }) => text))
    return { title: texts.title, listed: values.filter((text) => text === 'Parking permit') }
  }
  expect(kindsIn(settings)).toEqual({ title: { en: 'Parking permit' }, listed: [] })
  const title = { en: 'Permit', fr: 'Permis' }
  expect(kindsIn({ ...settings, title })).toEqual({ title, listed: ['Parking permit'] })
  expect(kindsIn({ ...settings, title, languages: ['de'] }).title).toEqual({ de: 'Parking permit' })
})

test('uses labels of the kind where the template has none', () => {
  const kind: Kind = {
    category: 'parking_permit',
    display: [
      { locale: 'de', name: 'Parkausweis' },
      { locale: 'en', name: 'Residents’ permit' },
    ],
    fields: [
      ['subjectName', 'de', 'Inhaber'],
      ['metadata.zone', 'de', 'Zone der Stadt'],
      ['metadata.plate', 'en', 'Plate'],
    ].map(([name = '', locale = '', label = '']) => ({
      name,
      type: 'text',
      isRequired: false,
      display: [{ locale, name: label }],
    })),
  }
  const document = { ...ADA, category: 'parking_permit', metadata: { zone: '1', plate: 'X' } }
  const settings = readSettings(findTemplate('permit'))
  const labels = { 'metadata.plate': { de: 'Kennzeichen' } }
  const content = contentOf(document, { ...settings, languages: ['de'], labels }, kind)
  expect(content.texts.title).toEqual({ de: 'Parkausweis' })
  expect(content.fields).toMatchObject({
    subjectName: { label: { de: 'Inhaber' } },
    subjectId: { label: { de: 'Kennnummer' } },
    'metadata.zone': { label: { de: 'Zone der Stadt' } },
    'metadata.plate': { label: { de: 'Kennzeichen' } },
  })
})

/** A copy of the letter with other settings. */
function letterWith(changed: object) {
  const copy = mkdtempSync(join(dir, 'letter-'))
  rmSync(copy, { recursive: true })
  copyTemplate('letter', copy)
  const file = join(copy, 'settings.json')
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  // As an editor on Windows saves it.
  writeFileSync(file, `\ufeff${JSON.stringify({ ...settings, ...changed })}`)
  return copy
}

test('prints any documented language, once its labels are given', async () => {
  const docs = readFileSync(new URL('../../../docs/registrar.md', import.meta.url), 'utf8')
  const table = docs.slice(docs.indexOf('| label |'), docs.indexOf('### Layout'))
  const listed = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name)
  expect(listed).toEqual(LABEL_NAMES)
  const labels = Object.fromEntries(listed.map((name) => [name, { it: `${name} in italiano` }]))
  const template = letterWith({ languages: ['it'], labels })
  const settings = readSettings(template)
  expect(pagesOf(await print(engineOf(template), settings, ADA))).toBe(1)
  expect(contentOf(ADA, settings).fields.issuedAt).toMatchObject({
    label: { it: 'issuedAt in italiano' },
    values: [{ text: '31 gennaio 2026' }],
  })
  const lacking = (name: string, changed: object = {}) => {
    const { [name]: _, ...others } = labels
    return letterWith({ languages: ['it'], labels: others, ...changed })
  }
  expect(() => readSettings(lacking('more'))).toThrow(/requires labels for more\.it$/)
  expect(readSettings(lacking('wallet')).walletCode).toBe(false)
  expect(() => readSettings(lacking('wallet', { walletCode: true }))).toThrow(
    /requires labels for wallet\.it$/,
  )
  const ofRegions = letterWith({ languages: ['de-AT', 'zh-TW'], labels: {} })
  expect(readSettings(ofRegions).languages).toEqual(['de-AT', 'zh-TW'])
})

test('names the field that a text needs and the document lacks', async () => {
  const template = findTemplate('diploma')
  const { metadata: __, ...document } = ADA
  await expect(print(engineOf(template), readSettings(template), document)).rejects.toMatchObject({
    code: 'missing_field',
    message: expect.stringContaining('metadata.degree'),
  })
})

test('refuses a character that no font has', async () => {
  const template = findTemplate('letter')
  const document = { ...ADA, subjectName: 'Ada \u{13000}' }
  await expect(print(engineOf(template), readSettings(template), document)).rejects.toMatchObject({
    code: 'unprintable',
    message: expect.not.stringContaining('Ada'),
  })
})

test('refuses text that takes half a minute to break into lines', async () => {
  const template = findTemplate('letter')
  const { engine, settings } = { engine: engineOf(template), settings: readSettings(template) }
  const withDegree = (degree: string) => print(engine, settings, { ...ADA, metadata: { degree } })
  for (const [degree, message] of [
    ['a'.repeat(8_000), 'it has a word of more than 500 letters'],
    [`${'a'.repeat(400)} `.repeat(20), 'its words of 20 letters and more have more than 5000'],
  ] as const)
    await expect(withDegree(degree)).rejects.toMatchObject({
      code: 'unprintable',
      message: expect.stringContaining(message),
    })
  // Long identifiers are printed, and so is text without spaces.
  await expect(withDegree(`${'0'.repeat(66)} `.repeat(20))).resolves.toBeInstanceOf(Buffer)
  await expect(withDegree('อาดา'.repeat(300))).resolves.toBeInstanceOf(Buffer)
})

test('names every bad member of the settings', () => {
  const copy = join(dir, 'copy')
  copyTemplate('permit', copy)
  const file = join(copy, 'settings.json')
  const settings = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(
    file,
    JSON.stringify({ ...settings, logo: '../logo.svg', languages: ['xx'], more: 1 }),
  )
  expect(() => readSettings(copy)).toThrow(
    /logo must be in the folder of the template.*more is an unknown member/,
  )
})

test('refuses a template with a link, which would leave its folder', () => {
  writeFileSync(join(dir, 'secret'), 'of this user')
  for (const target of ['secret', '.']) {
    const copy = join(dir, `linked to ${target}`)
    copyTemplate('letter', copy)
    symlinkSync(join(dir, target), join(copy, 'leak'))
    expect(() => findTemplate(copy)).toThrow(/leak is a link: replace it with a copy/)
  }
})
