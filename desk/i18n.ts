import { currentLanguage, fillIn, type Language } from '#web/i18n.ts'
import { ar } from './strings/ar.ts'
import { de } from './strings/de.ts'
import { en, type TextKey, type Texts } from './strings/en.ts'
import { es } from './strings/es.ts'
import { fr } from './strings/fr.ts'
import { pt } from './strings/pt.ts'

const TEXTS: Record<Language, Texts> = { en, de, fr, es, pt, ar }

/** @returns The desk's text of a key in the page's language, with `{name}` filled in. */
export function d(key: TextKey, values: Record<string, string> = {}): string {
  return fillIn(TEXTS[currentLanguage()][key], values)
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
