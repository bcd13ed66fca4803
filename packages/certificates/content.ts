import { type Document, metadataOf } from '#document/document.ts'
import { type Kind, wordsIn } from '#document/kind.ts'
import { CertificateError } from './errors.ts'
import { LABEL_NAMES, type Labels, labelsOf } from './labels.ts'
import type { Settings } from './settings.ts'

/** A value of the document, and whether its first letter is written from right to left. */
type Value = { text: string; rtl: boolean }
type Texts = Record<string, string>
type Entry = { label: Texts; values: Value[] }

/** The value of `it` in a template, besides pictures; see docs/registrar.md. */
type Content = {
  languages: (Language & { code: string; index: number })[]
  heading: string
  author: string
  name: Value
  texts: Record<'issuer' | 'address' | 'title' | 'intro' | 'body', Texts>
  labels: Record<keyof Labels, Texts>
  fields: Record<string, Entry>
  entries: Entry[]
  signatures: { name: string; role: Texts; picture: string | null }[]
  date: [year: number, month: number, day: number]
}

/** A language in the form that the engine accepts. */
type Language = { lang: string; region: string | null; rtl: boolean }

/** `{name}` is replaced by a field; text in `[…]` is omitted unless all its fields are present. */
const OPTIONAL = /\[([^[\]]*)\]/g
const FIELD = /\{([^{}]+)\}/g
/**
 * Formats are kept, because making one takes longer than everything else here; a template has at
 * most three languages.
 */
const DATE_FORMATS = new Map<string, Intl.DateTimeFormat>()
const RIGHT_TO_LEFT = /^[^\p{L}]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/u

/**
 * @param kind What the issuer calls the fields, where the template has no words of its own.
 * @throws {CertificateError} `missing_field` when a text names a field that the document lacks.
 */
export function contentOf(document: Document, settings: Settings, kind?: Kind): Content {
  const { languages } = settings
  const first = languages[0] ?? 'en'
  const plain = plainFields(document)
  const shown = (field: string, language: string) =>
    field === 'category' ? nameOf(kind, document, language) : showField(field, plain, language)
  const fill = (texts: Texts) => {
    const filled = Object.entries(texts).map(([tag, text]) => [
      tag,
      fillIn(text, (field) => shown(field, tag)),
    ])
    return Object.fromEntries(filled) as Texts
  }
  const hasTitle = languages.some((tag) => settings.title[tag] !== undefined)
  const texts = {
    issuer: settings.issuer,
    address: settings.address,
    title: hasTitle ? fill(settings.title) : { [first]: nameOf(kind, document, first) },
    intro: fill(settings.intro),
    body: fill(settings.body),
  }
  const labelIn = (name: string) =>
    Object.fromEntries(languages.map((tag) => [tag, labelOf(name, tag, settings, kind)]))
  const entryOf = (field: string): Entry => {
    const values = languages.map((tag) => shown(field, tag) ?? '')
    return { label: labelIn(field), values: [...new Set(values)].map(showValue) }
  }
  const [year = 0, month = 0, day = 0] = document.issuedAt.split('-').map(Number)
  return {
    languages: languages.map((code, index) => ({ code, index, ...languageOf(code) })),
    heading: `${texts.title[first] ?? ''} · ${document.subjectName}`,
    author: settings.issuer[first] ?? Object.values(settings.issuer)[0] ?? '',
    name: showValue(document.subjectName),
    texts,
    labels: Object.fromEntries(
      LABEL_NAMES.map((name) => [name, labelIn(name)]),
    ) as Content['labels'],
    fields: Object.fromEntries(Object.keys(plain).map((field) => [field, entryOf(field)])),
    entries: listed(plain, settings, {
      titles: Object.values(texts.title),
      categoryName: nameOf(kind, document, first),
    }).map(entryOf),
    signatures: settings.signatures.map(({ name, role, picture }) => ({
      name,
      role,
      picture: picture === undefined ? null : `/${picture}`,
    })),
    date: [year, month, day],
  }
}

/** @returns The fields by the names that templates use, with metadata as `metadata.<key>`. */
function plainFields(document: Document): Texts {
  const { metadata: _, registry: __, issuerId: ___, ...fields } = document
  const entries = metadataOf(document).map(([key, value]) => [`metadata.${key}`, value])
  return { ...fields, ...Object.fromEntries(entries) }
}

/**
 * @returns The chosen fields that the document has; without a choice, those that no text has shown.
 */
function listed(
  plain: Texts,
  { fields, title, intro, body }: Settings,
  { titles, categoryName }: { titles: readonly string[]; categoryName: string },
): string[] {
  if (fields) return fields.filter((field) => Object.hasOwn(plain, field))
  const texts = [title, intro, body].flatMap((text) => Object.values(text))
  const used = texts.flatMap((text) => [...text.matchAll(FIELD)].map(([, field]) => field))
  if (titles.includes(categoryName)) used.push('category')
  return Object.keys(plain).filter((field) => field !== 'subjectName' && !used.includes(field))
}

function fillIn(text: string, show: (field: string) => string | undefined): string {
  const whole = text.replace(OPTIONAL, (_, part: string) =>
    [...part.matchAll(FIELD)].every(([, field = '']) => show(field) !== undefined) ? part : '',
  )
  return whole.replace(FIELD, (_, field: string) => {
    const value = show(field)
    if (value === undefined)
      throw new CertificateError('missing_field', `the template requires the field ${field}`)
    return value
  })
}

function showField(field: string, plain: Texts, language: string): string | undefined {
  if (!Object.hasOwn(plain, field)) return undefined
  const value = plain[field] ?? ''
  return field === 'issuedAt' || field === 'expiresAt' ? showDate(value, language) : value
}

/**
 * @returns A date as the language writes it, in the Gregorian calendar and with the digits 0 to 9.
 */
function showDate(date: string, language: string): string {
  const format =
    DATE_FORMATS.get(language) ??
    new Intl.DateTimeFormat(`${language}-u-ca-gregory-nu-latn`, {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    })
  DATE_FORMATS.set(language, format)
  return format.format(new Date(`${date}T00:00:00Z`))
}

/** @returns Words such as “Birth certificate” for `birth_certificate`. */
function inWords(category: string): string {
  const words = category.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** @returns What the issuer calls the kind of a document, or else its category in words. */
function nameOf(
  kind: Kind | undefined,
  { category }: Pick<Document, 'category'>,
  language: string,
): string {
  return wordsIn(kind?.display ?? [], language)?.name ?? inWords(category)
}

function labelOf(
  name: string,
  language: string,
  { labels }: Settings,
  kind: Kind | undefined,
): string {
  const own = Object.hasOwn(labels, name) ? labels[name] : undefined
  const ours = labelsOf(language)
  const ofKind = kind?.fields.find((field) => field.name === name)?.display ?? []
  return (
    own?.[language] ??
    ofKind.find(({ locale }) => locale.toLowerCase() === language.toLowerCase())?.name ??
    (ours && Object.hasOwn(ours, name) ? ours[name as keyof Labels] : undefined) ??
    Object.values(own ?? {})[0] ??
    wordsIn(ofKind, language)?.name ??
    name.replace(/^metadata\./, '')
  )
}

function showValue(text: string): Value {
  return { text, rtl: RIGHT_TO_LEFT.test(text) }
}

/** Scripts that are written from right to left. */
const RIGHT_TO_LEFT_SCRIPTS = ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg']

/**
 * @returns A tag in the form that the engine accepts. The script decides the region of Chinese, and
 * the direction.
 */
function languageOf(code: string): Language {
  const { language, region, script } = new Intl.Locale(code)
  const { script: usual = '' } = new Intl.Locale(code).maximize()
  return {
    lang: language,
    region: region ?? (script === 'Hant' ? 'TW' : null),
    rtl: RIGHT_TO_LEFT_SCRIPTS.includes(usual),
  }
}
