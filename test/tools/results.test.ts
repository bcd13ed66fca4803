import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withPart } from '#tools/bench/publish.ts'
import { type Figures, figureOf, readResults } from '#tools/bench/results.ts'
import { root } from '../docs/markdown.ts'

const page = ['docs/performance.md', 'tools/bench/AIMS.md']
  .map((path) => readFileSync(join(root, path), 'utf8'))
  .join('\n')
/** The parts of the pages that benchmarks write: their names and texts. */
const parts = [...page.matchAll(/<!-- ([\w-]+) -->\n(.*?)\n<!-- \/\1 -->/gs)]

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''))

test('every figure in a table of the pages is in the file that it links to', () => {
  expect(parts.length).toBeGreaterThan(7)
  for (const [, , text = ''] of parts) {
    const [head = [], , ...rows] = text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map(cellsOf)
    const [, file = ''] = /results\/([\w-]+)\.json/.exec(text) ?? []
    const kept = readResults(file).flatMap(({ tables }) => Object.values(tables).flat())
    const has = (row: string[]) => (one: Figures) =>
      head.every((title, i) => (one[title] ?? '') === figureOf(row[i] ?? ''))
    expect(rows.filter((row) => !kept.some(has(row)))).toEqual([])
  }
})

test('the pages link to every file of figures', () => {
  const files = readdirSync(join(root, 'tools/bench/results'))
  expect(files.filter((file) => !page.includes(`results/${file})`))).toEqual([])
})

test('a benchmark replaces its own part of the page', () => {
  const before = 'a\n<!-- one -->\nold\n<!-- /one -->\n<!-- two -->\nkept\n<!-- /two -->\n'
  expect(withPart(before, 'one', 'new')).toBe(before.replace('old', 'new'))
})

test('names a part that the page lacks', () => {
  expect(() => withPart('', 'one', 'new')).toThrow('the page has no place for one')
})
