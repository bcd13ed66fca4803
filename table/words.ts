// Finding people by their names, in tables that are at hand.

/** Letters that are not composed with an accent. */
const OTHER_LETTERS: Record<string, string> = { Ł: 'L', Ø: 'O', Đ: 'D', Ð: 'D', Æ: 'AE', Œ: 'OE' }

/** @returns Text without case and accents. It is in capitals, which make ß and ss equal. */
export function plain(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{Script=Inherited}/gu, '')
      // Spreadsheets and keyboards write apostrophes in several ways.
      .replace(/[‘’ʼ]/g, "'")
      .replace(/[‐–]/g, '-')
      .toUpperCase()
      .replace(/[ŁØĐÐÆŒ]/g, (letter) => OTHER_LETTERS[letter] ?? letter)
  )
}

/** @returns The words of a text, as {@link hasWords} compares them. */
export function wordsIn(text: string): string[] {
  return plain(text).split(/\s+/).filter(Boolean)
}

/** @returns Whether a cell, which is {@link plain}, has words that begin with all of these. */
export function hasWords(cell: string, words: readonly string[]): boolean {
  return words.every((word) => hasWord(cell, word))
}

/**
 * @returns Whether a word of the cell begins with `start`, so that a first name is not found inside
 * another.
 */
function hasWord(cell: string, start: string): boolean {
  for (let at = cell.indexOf(start); at >= 0; at = cell.indexOf(start, at + 1))
    if (!/[\p{L}\p{N}]$/u.test(cell.slice(0, at))) return true
  return false
}
