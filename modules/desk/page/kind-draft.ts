import type { FieldProblem } from '#document/errors.ts'
import {
  type Display,
  encodeKind,
  type FieldType,
  type Kind,
  type KindField,
  readKind,
} from '#document/kind.ts'
import { currentLanguage } from '#web/i18n.ts'

/** An entry of a kind that is being defined, as it is shown. */
export type FieldDraft = {
  /** The name in `metadata`. */
  key: string
  type: FieldType
  /** Each on a line of its own. */
  choices: string
  isRequired: boolean
  words: Words
}

/** Words in each language, and what a file says besides them. */
type Words = { texts: Record<string, string>; before: readonly Display[] }

/** A kind that is being defined or changed. */
export type KindDraft = {
  /** The version that it changes; 0 = it is new. */
  version: number
  category: string
  words: Words
  /** The languages that are shown, by tag. */
  locales: string[]
  template: string
  isExpiring: boolean
  fields: FieldDraft[]
  /** What the form does not show, and keeps. */
  rest: Pick<Kind, 'name' | 'description'> & { plain: readonly KindField[] }
  problems: readonly FieldProblem[]
  isBusy: boolean
  trouble?: string
}

export function newDraft(): KindDraft {
  return draftOf({ category: '', display: [], fields: [] }, 0)
}

export function newField(): FieldDraft {
  return { key: '', type: 'text', choices: '', isRequired: false, words: wordsOf([]) }
}

const wordsOf = (display: readonly Display[]): Words => ({
  texts: Object.fromEntries(display.map(({ locale, name }) => [locale, name])),
  before: display,
})

export function draftOf({ fields, ...kind }: Kind, version: number): KindDraft {
  const isEntry = ({ name }: KindField) => name.startsWith('metadata.')
  const { category, display, template = '', ...rest } = kind
  const locales = [display, ...fields.map((field) => field.display)]
    .flat()
    .map(({ locale }) => locale)
  return {
    version,
    category,
    words: wordsOf(display),
    template,
    locales: [...new Set(locales.length > 0 ? locales : [currentLanguage()])],
    isExpiring: fields.some(({ name, isRequired }) => name === 'expiresAt' && isRequired),
    fields: fields.filter(isEntry).map(({ name, type, choices = [], isRequired, display }) => ({
      key: name.slice('metadata.'.length),
      choices: choices.join('\n'),
      words: wordsOf(display),
      type,
      isRequired,
    })),
    rest: { ...rest, plain: fields.filter((field) => !isEntry(field)) },
    problems: [],
    isBusy: false,
  }
}

/** @returns The file of the kind, or every bad member, by its path in the file. */
export function fileOf(
  draft: KindDraft,
): { file: Record<string, unknown> } | { problems: readonly FieldProblem[] } {
  const { vct: _, ...file } = JSON.parse(new TextDecoder().decode(encodeKind(kindOf(draft), '')))
  const read = readKind(file, draft.category)
  return 'kind' in read ? { file } : read
}

function kindOf(draft: KindDraft): Kind {
  const { category, words, locales, template, fields, rest } = draft
  const { plain: _, ...texts } = rest
  return {
    category,
    ...texts,
    display: displayOf(words, locales),
    fields: [
      ...plainOf(draft),
      ...fields.map(({ key, type, choices, isRequired, words }) => ({
        name: `metadata.${key.trim()}`,
        type,
        isRequired,
        display: displayOf(words, locales),
        ...(type === 'choice' && { choices: linesOf(choices) }),
      })),
    ],
    ...(template.trim() !== '' && { template: template.trim() }),
  }
}

/** @returns The place of a draft's entry among the `claims` of its file. */
export const placeOf = (draft: KindDraft, index: number): number => plainOf(draft).length + index

function plainOf({ isExpiring, rest }: KindDraft): KindField[] {
  const expiry = rest.plain.find(({ name }) => name === 'expiresAt')
  const others = rest.plain.filter((field) => field !== expiry)
  if (!isExpiring && expiry === undefined) return others
  const field = { name: 'expiresAt', type: 'date' as const, display: [], ...expiry }
  return [...others, { ...field, isRequired: isExpiring }]
}

function displayOf({ texts, before }: Words, locales: readonly string[]): Display[] {
  return locales.flatMap((locale) => {
    const name = (texts[locale] ?? '').trim()
    const said = before.find((one) => one.locale === locale)
    return name === '' ? [] : [{ ...said, locale, name }]
  })
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
