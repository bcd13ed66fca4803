import { readFileSync, writeFileSync } from 'node:fs'
import { placeOf, type Setting, type Table, type Tables, table } from './report.ts'
import { type Figures, figureOf, writeResults } from './results.ts'

const PAGE = new URL('../../docs/performance.md', import.meta.url)

/**
 * Prints the figures that docs/performance.md shows, and writes them in the place of those of the
 * last run.
 *
 * @param name Of the file that gets all figures.
 * @param dry Print only.
 */
export function publish(name: string, setting: Setting, { all, shown }: Tables, dry = false): void {
  const place = `${placeOf(setting)}: [all figures](../tools/bench/results/${name}.json)`
  const parts = Object.entries(shown).map(([part, rows]) => ({
    part,
    text: `${rows.rows.length > 0 ? table(rows) : 'Not measured.'}\n\n${place}`,
  }))
  for (const { text } of parts) console.log(`\n${text}`)
  if (dry) return
  const tables = Object.entries(all).map(([title, rows]) => [title, figuresIn(rows)])
  writeResults(name, { ...setting, tables: Object.fromEntries(tables) })
  const page = parts.reduce(
    (text, part) => withPart(text, part.part, part.text),
    readFileSync(PAGE, 'utf8'),
  )
  writeFileSync(PAGE, page)
}

/** @throws {Error} when the page has no comments around the part. */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`docs/performance.md has no place for ${name}`)
  return page.slice(0, from + begin.length) + text + page.slice(to)
}

function figuresIn({ head, rows }: Table): Figures[] {
  return rows.map((row) => {
    const figures = head.map((title, i) => [title, figureOf(row[i] ?? '')])
    return Object.fromEntries(figures.filter(([, figure]) => figure !== ''))
  })
}
