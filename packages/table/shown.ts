import { format, getFormatDateInfo, getFormatFromId, getLocale, isTextFormat } from 'numfmt'
import type { Note } from './table.ts'

/** Spreadsheets allow no longer format. */
const MAX_FORMAT = 255
/** Spreadsheets keep 15 digits of a number. */
const MAX_EXACT = 1e15
/** 10000-01-01, from which on spreadsheets show no date. */
const END_OF_DAYS = 2_958_466
const DAY_SECONDS = 86_400
/** Days from 1900 to 1904. */
const TO_1904 = 1_462

/** How numbers of a style are shown. */
export type Format = { code: string; date: ReturnType<typeof getFormatDateInfo> }
/** How the whole workbook shows numbers. */
export type Manner = {
  /** Names the months, and says which sign comes before decimals. */
  language: string
  isFrom1904: boolean
}
/** What a cell shows, and what else there is to say about it. */
export type Shown = { text: string; note?: Note | undefined }

export const GENERAL = formatOf(0)

/** @returns Whether it is known how this language shows numbers and months. */
export const isLanguage = (tag: string) => Boolean(getLocale(tag))

/** @param defined The format with this number in the workbook; absent = a built-in one. */
export function formatOf(id: number, defined = builtIn(id)): Format {
  const code = defined.length > MAX_FORMAT ? 'General' : defined
  return { code, date: getFormatDateInfo(code) }
}

/** Some show a day in one language of East Asia, and a time in another. */
function builtIn(id: number): string {
  const isOfEastAsia = (id >= 27 && id <= 36) || (id >= 50 && id <= 58)
  return isOfEastAsia ? 'yyyy-mm-dd h:mm:ss' : getFormatFromId(id)
}

/** @returns A text with what its format adds. */
export function shownText(text: string, { code }: Format): Shown {
  return noted(code.includes('@') ? formatted(code, text) : text, text)
}

/** @returns A number, a day or a time as its user sees it; a whole date as YYYY-MM-DD. */
export function shownNumber(number: number, { code, date }: Format, manner: Manner): Shown {
  const { year, month, day, hours, minutes, seconds } = date
  if (year || month || day || hours || minutes || seconds) {
    const serial = manner.isFrom1904 ? number + TO_1904 : number
    if (serial < 0 || serial >= END_OF_DAYS) return { text: '', note: { problem: 'no_result' } }
    if (year && month && day) return shownDay(serial, date)
    // (Minutes beside nothing but seconds are taken for a month.)
    const hasDay = year || day || (month && !seconds)
    return noted(formatted(code, serial, manner.language), hasDay ? dayOf(serial) : undefined)
  }
  const digits = digitsOf(number)
  const text = /^(General|@)$/i.test(code)
    ? digits.replace('.', getLocale(manner.language)?.decimal ?? '.')
    : formatted(withDigits(code, number), isTextFormat(code) ? digits : number, manner.language)
  const shown = noted(text, digits)
  return losesDigits(number) ? { ...shown, note: { ...shown.note, problem: 'digits_lost' } } : shown
}

/** @returns Whether a spreadsheet has lost digits of such a number. */
export const losesDigits = (number: number) =>
  Number.isInteger(number) && Math.abs(number) >= MAX_EXACT

/** @returns The day, with the time if the format shows one that is not midnight. */
function shownDay(serial: number, { hours, minutes, seconds }: Format['date']): Shown {
  const day = dayOf(serial)
  const isMidnight = Math.round(serial * DAY_SECONDS) % DAY_SECONDS === 0
  if (isMidnight || !(hours || minutes || seconds)) return { text: day }
  const time = formatted(seconds ? 'hh:mm:ss' : 'hh:mm', serial)
  return serial < 1 ? { text: time ?? day } : { text: `${day} ${time}`, note: { value: day } }
}

/** @param text `undefined` if the format is none. */
const noted = (text: string | undefined, value: string | undefined): Shown =>
  text === undefined || value === undefined || text === value
    ? { text: text ?? value ?? '' }
    : { text, note: { value } }

/** @returns `undefined` for a format that is none. */
function formatted(code: string, value: number | string, language = 'en'): string | undefined {
  try {
    return format(code, value, { locale: language }).trim()
  } catch {
    return undefined
  }
}

/** @returns The format with all digits where it says General, which the library cuts to eleven. */
function withDigits(code: string, number: number): string {
  const all = Number.isInteger(number) ? '0' : `0.${'#'.repeat(15)}`
  return code.replace(/"[^"]*"|General/gi, (part) => (part.startsWith('"') ? part : all))
}

/**
 * @returns All digits, without an exponent. Programs write 15 digits of a fraction, and what binary
 * numbers add behind them.
 */
export function digitsOf(number: number): string {
  const exact = Number.isInteger(number) ? number : Number(number.toPrecision(15))
  const [, sign = '', first = '', rest = '', exponent] =
    /^(-?)(\d)(?:\.(\d+))?e(.+)$/.exec(exact.toExponential()) ?? []
  const digits = first + rest
  const point = Number(exponent) + 1
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  const decimals = digits.slice(point)
  return sign + digits.slice(0, point).padEnd(point, '0') + (decimals && `.${decimals}`)
}

/** @returns The day with this number, as YYYY-MM-DD. */
function dayOf(serial: number): string {
  const days = Math.floor(Math.round(serial * DAY_SECONDS) / DAY_SECONDS)
  // Spreadsheets count a 29 February 1900.
  const start = Date.UTC(1899, 11, days < 60 ? 31 : 30)
  return new Date(start + days * DAY_SECONDS * 1_000).toISOString().slice(0, 10)
}
