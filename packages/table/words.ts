// Names as people mean them: without what nobody sees, and found however they are written.

/** Marks of direction, and characters without width. They come along when text is copied. */
const UNSEEN =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g
/** Joiners that change no letter, as they do in Persian and Hindi, and no picture. */
const IDLE_JOINERS =
  /(?<=^|[\s\p{P}\p{N}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])[\u200c\u200d]+/gu

/** @returns Text without characters that nobody sees. */
export function seen(text: string): string {
  const found = text.replace(UNSEEN, '').replace(IDLE_JOINERS, '')
  return found === text ? text : found.trim()
}

/** Letters that are not composed with an accent. */
const OTHER_LETTERS: Record<string, string> = {
  Ł: 'L',
  Ø: 'O',
  Đ: 'D',
  Ð: 'D',
  Ħ: 'H',
  Ŧ: 'T',
  Æ: 'AE',
  Œ: 'OE',
  Þ: 'TH',
  ẞ: 'SS',
}
/** How some are written on keyboards without them. */
const SPELT_OUT: Record<string, string> = { Ä: 'AE', Ö: 'OE', Ü: 'UE', Ø: 'OE', Å: 'AA' }
/** Points of Hebrew, and the line that makes Arabic letters longer. */
const LEFT_OUT = /[\p{Script=Inherited}\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640]/gu
/** Scripts without spaces between words. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`
const SPACES_BETWEEN = new RegExp(`(?<=[${UNSPACED}])\\s+(?=[${UNSPACED}])`, 'gu')
const BEGINS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u')

/**
 * @returns Text without case and accents, and behind it as it is spelt without them, if that
 * differs: "MULLER\nMUELLER". It is in capitals, which make ß and ss equal.
 */
export function plain(text: string): string {
  const capitals = seen(text).normalize('NFC').toUpperCase()
  const spelt = capitals.replace(/[ÄÖÜØÅ]/g, (letter) => SPELT_OUT[letter] ?? letter)
  return [...new Set([capitals, spelt].map(withoutAccents))].join('\n')
}

function withoutAccents(capitals: string): string {
  return (
    capitals
      .normalize('NFKD')
      .replace(LEFT_OUT, '')
      // Spreadsheets and keyboards write apostrophes and hyphens in several ways.
      .replace(/[‘’ʼ\u05f3]/g, "'")
      .replace(/[‐–\u05be]/g, '-')
      .toUpperCase()
      .replace(/[ŁØĐÐĦŦÆŒÞẞ]/g, (letter) => OTHER_LETTERS[letter] ?? letter)
      .replace(SPACES_BETWEEN, '')
  )
}

/** The ways in which a word may be written, as {@link hasWords} compares them. */
export type Word = readonly string[]

export function wordsIn(text: string): Word[] {
  const words = text.split(/\s+/).map((word) => plain(word).split('\n'))
  return words.map((forms) => forms.map((form) => form.trim())).filter(([form]) => form !== '')
}

/** @returns Whether a cell, which is {@link plain}, has words that begin with all of these. */
export function hasWords(cell: string, words: readonly Word[]): boolean {
  return words.every((forms) => forms.some((form) => hasWord(cell, form)))
}

/**
 * @returns Whether a word of the cell begins with `start`, so that a first name is not found inside
 * another. Where words have no spaces between them, any letter may begin one.
 */
function hasWord(cell: string, start: string): boolean {
  if (BEGINS_UNSPACED.test(start)) return cell.includes(start)
  for (let at = cell.indexOf(start); at >= 0; at = cell.indexOf(start, at + 1))
    if (!/[\p{L}\p{N}]$/u.test(cell.slice(0, at))) return true
  return false
}
