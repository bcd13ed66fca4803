import { type Dialect, PLAIN } from './table.ts'

/** @returns An escape such as `\u001b`. */
export const escapeCharacter = (character: string) =>
  `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** A quick check for text that {@link toHarmless} may change, which most cells do not have. */
const SUSPECT = /^[ '"=+@-]|[,;\\\p{Cc}]/u

/**
 * Text of others must do nothing in a spreadsheet or a terminal. An apostrophe goes in front of
 * text that may be a formula: at the start of a cell, and after characters that spreadsheets of
 * other countries read as separators. Control characters become `\u001b`; backslashes in front of
 * such text are doubled.
 *
 * @returns Text that {@link fromHarmless} can turn back.
 */
function toHarmless(text: string): string {
  if (!SUSPECT.test(text)) return text
  return text
    .replace(
      /(?<!\\)(\\*)(u00(?:[0189][0-9a-f]|7f)|(?![\t\n])\p{Cc})/gu,
      (_, slashes: string, what: string) =>
        slashes + slashes + (what.length === 1 ? escapeCharacter(what) : what),
    )
    .replace(/^(?='*[\t\n])|(?<=^|[,;\t\n])(?=[ '"]*[=+@-])/g, "'")
}

/** @returns The text that {@link toHarmless} was given. */
export function fromHarmless(cell: string): string {
  return cell
    .replace(/^'(?='*[\t\n])|(?<=^|[,;\t\n])'(?=[ '"]*[=+@-])/g, '')
    .replace(
      /(?<!\\)(\\+)u(00(?:[0189][0-9a-f]|7f))/g,
      (_, { length }: string, code: string) =>
        '\\'.repeat(length / 2) +
        (length % 2 === 0 ? `u${code}` : String.fromCharCode(Number.parseInt(code, 16))),
    )
}

/** @returns The bytes of a table with text of others; {@link parseCsv} reads it back. */
export function formatTable(
  columns: readonly string[],
  rows: readonly Record<string, string | undefined>[],
  dialect = PLAIN,
): Uint8Array {
  return encode(tableText(columns, rows, dialect), dialect)
}

/** @returns The text of that table. */
export function tableText(
  columns: readonly string[],
  rows: readonly Record<string, string | undefined>[],
  dialect = PLAIN,
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
  return textOf(
    lines.map((cells) => cells.map(toHarmless)),
    dialect,
  )
}

/** @returns One line with its line feed. */
export function csvLine(cells: readonly string[], delimiter = ','): string {
  const quoted = cells.map((cell) =>
    /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  )
  return `${quoted.join(delimiter)}\n`
}

/** @returns The bytes of a table. Line breaks within a cell remain line feeds. */
export function formatCsv(lines: readonly (readonly string[])[], dialect: Dialect): Uint8Array {
  return encode(textOf(lines, dialect), dialect)
}

function textOf(
  lines: readonly (readonly string[])[],
  { delimiter, lineEnd, hasMark }: Dialect,
): string {
  const text = lines.map((cells) => `${csvLine(cells, delimiter).slice(0, -1)}${lineEnd}`).join('')
  return `${hasMark ? '\ufeff' : ''}${text}`
}

function encode(text: string, { encoding }: Dialect): Uint8Array {
  if (encoding === 'utf-8') return new TextEncoder().encode(text)
  const view = new DataView(new ArrayBuffer(2 * text.length))
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), true)
  return new Uint8Array(view.buffer)
}
