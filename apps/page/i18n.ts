import type { LabelLanguage } from '#certificates/labels.ts'
import { en, type TextKey, type Texts } from './strings/en.ts'

/**
 * The languages of the page: name and direction. Certificates must have all of them; the desk has a
 * list of its own.
 */
export const LANGUAGES = {
  en: { name: 'English', dir: 'ltr' },
  de: { name: 'Deutsch', dir: 'ltr' },
  fr: { name: 'Français', dir: 'ltr' },
  es: { name: 'Español', dir: 'ltr' },
  pt: { name: 'Português', dir: 'ltr' },
  ar: { name: 'العربية', dir: 'rtl' },
} as const satisfies { [tag in LabelLanguage]?: { name: string; dir: 'ltr' | 'rtl' } }

export type Language = keyof typeof LANGUAGES
export const LANGUAGE_TAGS = Object.keys(LANGUAGES) as Language[]

/** The texts that are here. A page may load a language when it is chosen. */
const known: Partial<Record<Language, Texts>> = { en }

/** Adds the texts of languages. */
export function learn(texts: Partial<Record<Language, Texts>>): void {
  Object.assign(known, texts)
}

/** @returns The text of a key in the page's language, or else in English. */
const textOf = (key: TextKey): string => known[language]?.[key] ?? en[key]

const KEPT = 'document-registry.language'
let language: Language = 'en'

export function currentLanguage(): Language {
  return language
}

/**
 * @param offered Those of the page, or fewer.
 * @returns The language that the reader chose earlier; otherwise the first one that the browser
 * prefers and that is offered.
 */
export function preferredLanguage(offered: readonly Language[] = LANGUAGE_TAGS): Language {
  const wanted = [kept(), ...navigator.languages]
  const tags = wanted.map((tag) => tag?.toLowerCase().split('-')[0] ?? '')
  return tags.filter(isLanguage).find((tag) => offered.includes(tag)) ?? 'en'
}

/** Sets the language of the page. @param keep Whether to store the choice. */
export function useLanguage(wanted: Language, keep = false): void {
  language = wanted
  document.documentElement.lang = wanted
  document.documentElement.dir = LANGUAGES[wanted].dir
  if (!keep) return
  try {
    localStorage.setItem(KEPT, wanted)
  } catch {
    // The browser has no storage.
  }
}

export function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag)
}

/** @returns The text of a key in the page's language, with `{name}` filled in. */
export function t(key: TextKey, values: Record<string, string> = {}): string {
  return fillIn(textOf(key), values)
}

/** @returns A text with `{name}` filled in. */
export function fillIn(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
}

/** @returns The text of a key as children of an element, with `{name}` filled in by elements. */
export function phrase(key: TextKey, values: Record<string, Node>): (Node | string)[] {
  return textOf(key)
    .split(/\{(\w+)\}/)
    .map((part, i) => (i % 2 === 0 ? part : (values[part] ?? part)))
}

/** @returns The text of a key that is built at run time; `undefined` if it does not exist. */
export function maybe(key: string): string | undefined {
  return Object.hasOwn(en, key) ? t(key as TextKey) : undefined
}

/** @param date `YYYY-MM-DD`. @returns That day, in words. */
export function showDate(date: string): string {
  return format({ dateStyle: 'long' }, Date.parse(`${date}T00:00:00Z`))
}

/** @param seconds Seconds of the Unix epoch. @returns The day in UTC, in words. */
export function showDay(seconds: number): string {
  return format({ dateStyle: 'long' }, seconds * 1000)
}

/** @param seconds Seconds of the Unix epoch. @returns Day and time in UTC. */
export function showTime(seconds: number): string {
  const time = format({ dateStyle: 'long', timeStyle: 'medium' }, seconds * 1000)
  return `${time} UTC`
}

/** @returns A block and its time, in words. */
export function showBlock(block: { blockNumber: number; blockTime: number }): string {
  return t('asOf', {
    block: showNumber(block.blockNumber),
    time: showTime(block.blockTime),
  })
}

/** @param seconds Seconds before now. @returns A text such as `3 minutes ago`. */
export function showAgo(seconds: number): string {
  return new Intl.RelativeTimeFormat(locale()).format(-Math.floor(seconds / 60), 'minute')
}

/** @returns A text such as `a, b and c`. */
export function showList(items: string[]): string {
  return new Intl.ListFormat(locale()).format(items)
}

export function showNumber(value: number): string {
  return new Intl.NumberFormat(locale()).format(value)
}

function format(options: Intl.DateTimeFormatOptions, time: number): string {
  // A node can send any number, also one that is not a valid date.
  if (Number.isNaN(new Date(time).getTime())) return String(time / 1000)
  return new Intl.DateTimeFormat(locale(), {
    ...options,
    // Documents have Gregorian dates; some regions would show another calendar.
    calendar: 'gregory',
    timeZone: 'UTC',
  }).format(time)
}

/** @returns The page's language with the reader's region, such as `en-GB`. */
function locale(): string {
  const { languages } = navigator
  const own = languages.filter((tag) => tag.toLowerCase().split('-')[0] === language)
  const regions = [...own, ...languages].map((tag) => /-([a-z]{2}|\d{3})\b/i.exec(tag)?.[1])
  const region = regions.find((each) => each !== undefined)
  return region === undefined ? language : `${language}-${region}`
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEPT)
  } catch {
    return null
  }
}
