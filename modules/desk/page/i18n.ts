import { currentLanguage, fillIn, type Language, learn } from '#web/i18n.ts'
import type { Texts as PageTexts } from '#web/strings/en.ts'
import { en, type TextKey, type Texts } from './strings/en.ts'

/** The languages of the desk, which are some of those of the verify page. */
export const DESK_LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'pt',
  'ar',
] as const satisfies readonly Language[]
export type DeskLanguage = (typeof DESK_LANGUAGES)[number]

const known: Partial<Record<Language, Texts>> = { en }

/** The texts of a language, as the service has them: those of the verify page, and of the desk. */
export type LoadedTexts = { web: PageTexts; desk: Texts }

/** Loads the texts of the page's language, unless they are here. Without them it stays English. */
export async function loadTexts(): Promise<void> {
  const language = currentLanguage()
  if (known[language] !== undefined) return
  try {
    const response = await fetch(`/desk/texts/${language}`)
    if (!response.ok) return
    const { web, desk } = (await response.json()) as LoadedTexts
    learn({ [language]: web })
    known[language] = desk
  } catch {
    // The service is out of reach; the next choice tries again.
  }
}

/** @returns The desk's text of a key in the page's language, with `{name}` filled in. */
export function d(key: TextKey, values: Record<string, string> = {}): string {
  return fillIn(known[currentLanguage()]?.[key] ?? en[key], values)
}

/** @returns The text of a key that is built at run time; `undefined` if it does not exist. */
export function maybeD(key: string, values: Record<string, string> = {}): string | undefined {
  return Object.hasOwn(en, key) ? d(key as TextKey, values) : undefined
}

/**
 * Text of others within a sentence. The isolates keep its writing direction from reordering the
 * words around it, and line breaks become spaces.
 */
export function quoted(text: string): string {
  const MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
  return `\u2068${text.replace(MARKS, '').replace(/\s+/g, ' ')}\u2069`
}
