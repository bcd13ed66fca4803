import { placeOf, type Setting, table } from '../report.ts'
import type { MemoryRow } from './measure.ts'

const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1)

const COLUMNS = [
  ['documents', (row: MemoryRow) => row.documents.toLocaleString('en')],
  ['failed', (row: MemoryRow) => row.failures.toLocaleString('en')],
  ['a second', (row: MemoryRow) => row.perSecond.toFixed(0)],
  ['most ever', (row: MemoryRow) => mebibytes(row.peak)],
  ['at rest', (row: MemoryRow) => mebibytes(row.resident)],
  ['at rest, collected', (row: MemoryRow) => mebibytes(row.collected)],
  ['heap', (row: MemoryRow) => mebibytes(row.heap)],
  ['external', (row: MemoryRow) => mebibytes(row.external)],
] as const

const MEASURES = ['peak', 'resident', 'collected', 'heap', 'external'] as const

/** One line for the terminal, while it runs. */
export const memoryLine = (row: MemoryRow): string =>
  COLUMNS.map(([title, of]) => `${title} ${of(row)}`).join(' · ')

export function memorySection(setting: Setting, rows: readonly MemoryRow[]): string {
  const [first, last] = [rows[0], rows.at(-1)]
  const growth = MEASURES.map((of) => (first && last ? (last[of] / first[of]).toFixed(2) : ''))
  return `Of one gateway with the embedded store, on a real geth (\`--dev\`, a block each second), 1,000 connections. MiB.

${placeOf(setting)}

${table(
  COLUMNS.map(([title]) => title),
  [...rows.map((row) => COLUMNS.map(([, of]) => of(row))), ['÷ the first', '', '', ...growth]],
)}

- **most ever** and **at rest** are resident memory: \`VmHWM\`, and after no request came for longer than any may wait; **collected**: after all
  garbage was collected too, and what V8 keeps of memory for later was given back. The first two follow what V8 allows itself before it collects.
- **heap**: objects of JavaScript; **external**: buffers and what else V8 holds outside its heap; both after the collection.
`
}
