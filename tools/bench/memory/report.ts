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
  return `Memory of one gateway with the embedded store, on a real geth (\`--dev\`, a block each second), with
1,000 connections. MiB.

${placeOf(setting)}

${table(
  COLUMNS.map(([title]) => title),
  [...rows.map((row) => COLUMNS.map(([, of]) => of(row))), ['÷ the first', '', '', ...growth]],
)}

- **most ever** and **at rest** are resident memory: \`VmHWM\`, and the value after a pause longer than
  any request may wait. **collected**: also after all garbage was collected and V8 gave back its
  spare memory. The first two depend on how much V8 takes before it collects.
- **heap**: JavaScript objects; **external**: buffers and other memory of V8 outside its heap; both
  after the collection.
`
}
