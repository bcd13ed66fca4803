// Controls (a document could move the cursor or clear the screen), and what reorders text.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu

/** @returns `\u001b` for such a character. */
export const escapeCharacter = (character: string) =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** @returns Text of others, such that a terminal shows it and does nothing else. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeCharacter)
}

/** @returns `1 document`, `2 documents`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** @returns JSON on one line or several, equally safe to show. */
export function printableJson(value: unknown): string {
  // JSON.stringify escapes what is under U+0020; the line feeds left are its own.
  return JSON.stringify(value, null, 2).replace(UNPRINTABLE, (character) =>
    character === '\n' ? character : escapeCharacter(character),
  )
}

/** @returns JSON on one line, equally safe to show. */
export function printableLine(value: unknown): string {
  return JSON.stringify(value).replace(UNPRINTABLE, escapeCharacter)
}
