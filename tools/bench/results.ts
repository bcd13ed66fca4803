// The figures of benchmarks, in results/<name>.json.
import { readFileSync, writeFileSync } from 'node:fs'

type Figure = string | number
/** Figures by the titles of their columns; those that were not measured are absent. */
export type Figures = Record<string, Figure>
/** One run of a benchmark. */
export type Run = {
  command: string
  commit: string
  machine: string
  load?: number
  note?: string
  /** By their names. */
  tables: Record<string, Figures[]>
}

/** @returns The runs whose figures are kept, the newest first. */
export function readResults(name: string): Run[] {
  return JSON.parse(readFileSync(fileOf(name), 'utf8'))
}

/** Keeps the figures of a run in the place of those before. */
export function writeResults(name: string, run: Run): void {
  writeFileSync(fileOf(name), `${JSON.stringify([run], null, 2)}\n`)
}

/** @returns The number of a cell; its text if it is none. */
export function figureOf(cell: string): Figure {
  return /^[\d,]*\d(\.\d+)?$/.test(cell) ? Number(cell.replaceAll(',', '')) : cell
}

const fileOf = (name: string) => new URL(`./results/${name}.json`, import.meta.url)
