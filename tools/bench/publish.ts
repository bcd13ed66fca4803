import { readFileSync, writeFileSync } from 'node:fs'
import { placeOf, type Setting, type Table, type Tables, table } from './report.ts'
import { type Figures, figureOf, writeResults } from './results.ts'

/** What users ask, and what we aim at. */
const PAGES = ['docs/performance.md', 'tools/bench/AIMS.md'].map(
  (path) => new URL(`../../${path}`, import.meta.url),
)

/**
 * Prints the figures that the pages show, and writes them in the place of those of the last run.
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
  for (const { part, text } of parts) {
    const page = PAGES.find((one) => readFileSync(one, 'utf8').includes(`<!-- ${part} -->`))
    if (page === undefined) throw new Error(`no page has a place for ${part}`)
    const shownFrom = page === PAGES[0] ? text : text.replace('../tools/bench/', '')
    writeFileSync(page, withPart(readFileSync(page, 'utf8'), part, shownFrom))
  }
}

/** @throws {Error} when the page has no comments around the part. */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- /${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`the page has no place for ${name}`)
  return page.slice(0, from + begin.length) + text + page.slice(to)
}

function figuresIn({ head, rows }: Table): Figures[] {
  return rows.map((row) => {
    const figures = head.map((title, i) => [title, figureOf(row[i] ?? '')])
    return Object.fromEntries(figures.filter(([, figure]) => figure !== ''))
  })
}
