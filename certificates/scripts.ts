/** The scripts in which people write, as Unicode names them. */
const SCRIPTS = [
  ...['Latin', 'Greek', 'Cyrillic', 'Arabic', 'Hebrew', 'Devanagari', 'Bengali', 'Tamil', 'Thai'],
  ...['Han', 'Bopomofo', 'Hiragana', 'Katakana', 'Hangul', 'Armenian', 'Georgian', 'Ethiopic'],
  ...['Gujarati', 'Gurmukhi', 'Kannada', 'Malayalam', 'Oriya', 'Sinhala', 'Telugu', 'Khmer'],
  ...['Lao', 'Myanmar', 'Tibetan', 'Mongolian', 'Thaana', 'Syriac', 'Nko', 'Adlam', 'Tifinagh'],
  ...['Cherokee', 'Canadian_Aboriginal', 'Coptic', 'Yi', 'Javanese', 'Balinese', 'Ol_Chiki'],
]

/** @returns The scripts of the letters in a text. */
export function scriptsIn(text: string): string[] {
  const found = SCRIPTS.filter((name) => new RegExp(`\\p{Script=${name}}`, 'u').test(text))
  return found.map((name) => name.replaceAll('_', ' '))
}
