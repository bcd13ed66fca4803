import { readFileSync } from 'node:fs'
import { readResults } from '../bench/results.ts'

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

/** @throws {Error} when tools/bench/results/ or the gas snapshot lacks a figure. */
export function readFigures(fork: string): Figures {
  const snapshot = new URL('../../test/contracts/gas.json', import.meta.url)
  const gas: Record<string, Record<string, number>> = JSON.parse(readFileSync(snapshot, 'utf8'))
  const gasOf = (name: string) => numberOf(gas[fork]?.[name], `gas.json has no ${name} of ${fork}`)
  const database = (column: string) => figure('ten-million-postgres', 'database', {}, column)
  return {
    gas: {
      grouped: groupGas(gasOf('issue one'), gasOf('issue many, 500')),
      // A root costs the same for any number of documents.
      batches: (documents) => (1000 * gasOf('Merkle root of 1,000')) / documents,
    },
    gatewayMicros: {
      grouped: figure('postgres', 'rounds', { round: 'median' }, 'gateway µs, PostgreSQL'),
      batches: figure('batches', 'batches', { 'documents a batch': 1000 }, 'gateway µs, most'),
      verify: figure(
        'bench',
        'cases',
        { case: 'verify, each document once', connections: 200 },
        'gateway µs',
      ),
    },
    postgresMicros: figure('postgres', 'server', { round: 'mean' }, 'PostgreSQL µs a document'),
    bytes: (database('GiB') * 2 ** 30) / database('documents'),
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

/**
 * @param name Of the benchmark.
 * @param row What the row of that table has in other columns.
 */
function figure(
  name: string,
  table: string,
  row: Record<string, string | number>,
  column: string,
): number {
  const rows = readResults(name).flatMap(({ tables }) => tables[table] ?? [])
  const found = rows.find((one) => Object.entries(row).every(([key, value]) => one[key] === value))
  return numberOf(found?.[column], `${name}.json has no ${column} of ${Object.values(row)}`)
}

function numberOf(value: unknown, missing: string): number {
  if (typeof value === 'number' && value > 0) return value
  throw new Error(missing)
}
