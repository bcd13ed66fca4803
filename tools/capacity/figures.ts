import { readFileSync } from 'node:fs'

export type Way = 'grouped' | 'batches'

/** The measured cost of one document. */
type Figures = {
  /** The gas of one document in a group or batch of this many. */
  gas: Record<Way, (documents: number) => number>
  /** The processor time of a gateway, in microseconds. */
  gatewayMicros: { grouped: number; batches: number; verify: number }
  /** The processor time of PostgreSQL for one document, in microseconds. */
  postgresMicros: number
  /** The bytes of one document in PostgreSQL, with its indexes. */
  bytes: number
}

/** @throws {Error} when docs/performance.md or the gas snapshot lacks a figure. */
export function readFigures(): Figures {
  const performance = textOf('../../docs/performance.md')
  const gas = JSON.parse(textOf('../../test/contracts/gas.json')) as Record<string, number>
  const cell = (row: string, column: string) => cellOf(performance, row, column)
  const [, gib, documents] =
    /\(([\d.]+) GiB\): ([\d,]+) documents\nwith payload, history and index/.exec(performance) ?? []
  return {
    gas: {
      grouped: groupGas(
        numberOf(String(gas['issue one'])),
        numberOf(String(gas['issue many, 500'])),
      ),
      // A root costs the same for any number of documents.
      batches: (documents) => (1000 * numberOf(String(gas['Merkle root of 1,000']))) / documents,
    },
    gatewayMicros: {
      grouped: cell('median', 'gateway µs, PostgreSQL'),
      batches: cell('REST batches of 1,000, eleven', 'gateway µs'),
      verify: cell('verify, each document once', 'gateway µs'),
    },
    postgresMicros: cell('mean', 'PostgreSQL µs a document'),
    bytes: (numberOf(gib) * 2 ** 30) / numberOf(documents),
  }
}

/**
 * @param one The gas of a document alone.
 * @param each The gas of each of 500 together.
 */
function groupGas(one: number, each: number): (documents: number) => number {
  // Each document costs the same, and the transaction a fixed amount.
  const transaction = ((one - each) * 500) / 499
  return (documents) => one - transaction + transaction / documents
}

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim())

/**
 * @returns The cell of the first table with this column, in the row that begins with `row`; for a
 * range its upper end.
 */
function cellOf(text: string, row: string, column: string): number {
  let head: string[] = []
  let before = ''
  for (const line of text.split('\n')) {
    if (line.startsWith('| ---')) head = cellsOf(before)
    before = line
    const at = head.indexOf(column)
    const cells = cellsOf(line)
    if (cells[1] === row && at !== -1) return numberOf(cells[at]?.split(' to ').at(-1))
  }
  throw new Error(`docs/performance.md has no ${column} of ${row}`)
}

function numberOf(text: string | undefined): number {
  const number = Number(text?.replaceAll(',', ''))
  if (number > 0) return number
  throw new Error(`${text} is not a figure`)
}
