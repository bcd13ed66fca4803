import { fromHarmless } from './format.ts'
import { ERROR, fieldNamed } from './rows.ts'
import { type Choices, type Line, OWN_COLUMNS } from './table.ts'
import { seen } from './words.ts'

/** Only so many lines may name the columns, unless a person says which one does. */
const MAX_LINES = 20
/** The maximum characters of a line that is shown to a person who chooses. */
const MAX_SHOWN = 80
/** A number, a day or a year, which is more often beside a title than a name of a column. */
const NUMBER = /^\d[\d.,:/\s-]*$/

/**
 * @param lines The first lines of a table that are not empty. Titles may stand above its header.
 * @param header The line that a person has chosen.
 */
export function choicesOf(lines: readonly Line[], header: number | undefined): Choices {
  const first = lines.slice(0, MAX_LINES)
  return {
    header: header ?? first[headerIn(first)]?.line ?? 1,
    lines: first.map(({ line, cells }) => ({ line, cells: shortened(cells) })),
  }
}

/**
 * @param lines The first one names the columns, by which tables of `formatTable` are recognized.
 * @returns The lines with the text that was meant: as it was before it was made harmless, or
 * without what came along when it was copied. A table that was saved as CSV has the errors of its
 * formulas.
 */
export function asMeant(lines: readonly Line[]): Line[] {
  const isOurs = lines[0]?.cells.some((name) => [...OWN_COLUMNS, 'publicId'].includes(name))
  const read = isOurs ? fromHarmless : seen
  return lines.map((line) => {
    const cells = line.cells.map(read)
    if (!cells.some((text) => ERROR.test(text))) return { ...line, cells }
    const notes = cells.map((text, i) =>
      ERROR.test(text) ? ({ problem: 'no_result' } as const) : line.notes?.[i],
    )
    return { ...line, cells, notes }
  })
}

/** @returns The cells that differ, as far as people need them to know a line. */
function shortened(cells: Line['cells']): string[] {
  let left = MAX_SHOWN
  return [...different(cells)].flatMap((text) => {
    const shown = text.slice(0, Math.max(left, 0))
    left -= text.length
    return shown === '' ? [] : [shown]
  })
}

/** A merged title is the same in all cells; others have few, or a year or day beside them. */
function headerIn(lines: readonly Line[]): number {
  const named = lines.findIndex(
    ({ cells }) => new Set(cells.flatMap((text) => fieldNamed(text) ?? [])).size > 1,
  )
  if (named >= 0) return named
  const counts = lines.map(({ cells }) => different(cells).size)
  const most = Math.max(...counts)
  const wide = lines.flatMap((_, i) => ((counts[i] ?? 0) > Math.max(1, most / 2) ? [i] : []))
  const isNamed = (i: number) =>
    counts[i] === most || !lines[i]?.cells.some((text) => NUMBER.test(text))
  const found = wide.find(isNamed) ?? wide[0] ?? 0
  return found < lines.length - 1 ? found : 0
}

const different = (cells: Line['cells']) => new Set(cells.filter((text) => text !== ''))
