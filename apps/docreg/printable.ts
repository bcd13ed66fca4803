import { escapeCharacter } from '#table/format.ts'

// Control characters (with which a document could move the cursor or clear the screen), and
// characters that reorder text.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** @returns Text of others in a form that a terminal only shows. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter)
}

/** @returns A count such as `1 document` or `2 documents`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** @returns JSON on one or several lines that is equally safe to show. */
export function printableJson(value: unknown): string {
  // JSON.stringify escapes the characters below U+0020. The remaining line feeds are its own.
  return JSON.stringify(value, null, 2).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeCharacter(character),
  )
}

/** @returns JSON on one line that is equally safe to show. */
export function printableLine(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, escapeCharacter)
}
