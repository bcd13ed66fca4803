import { execFileSync } from 'node:child_process'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'

/** Where and how the figures were measured. */
export type Setting = {
  command: string
  commit: string
  machine: string
  /** Load average at the start; above the number of cores, every figure is worse. */
  load: number
}

/** @param program The command that was called; its options are added, folders without a name. */
export function readSetting(program: string): Setting {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const args = process.argv.slice(2).filter((arg) => arg !== '--dry')
  const cores = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    command: [program, ...args.map((arg) => (arg.includes('/') ? 'FOLDER' : arg))].join(' '),
    commit: `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') && ', changed'}`,
    machine: `${cores.length} × ${cores[0]?.model.trim()}, ${memory} GiB, ${platform()} ${release()}, Node ${process.versions.node}`,
    load: Math.round(10 * (loadavg()[0] ?? 0)) / 10,
  }
}

/** Where and when something was measured. */
export const placeOf = ({ command, commit, machine, load }: Setting): string =>
  `\`${command}\` at ${commit},\nload ${load}, on ${machine.replace(/, \w+ \S+, Node.*/, '')}`

/** A table as it is printed. */
export type Table = { head: readonly string[]; rows: readonly string[][] }

/** Tables by name: all figures of a run, and what the page shows of them. */
export type Tables = { all: Record<string, Table>; shown: Record<string, Table> }

/** The columns of a table: their titles, and their cells for a row. */
export type Columns<T> = Record<string, (row: T) => string>

/** @returns The table without empty columns. */
export function tableOf<T>(columns: Columns<T>, rows: readonly T[]): Table {
  const used = Object.entries(columns).filter(([, of]) => rows.some((row) => of(row) !== ''))
  return {
    head: used.map(([title]) => title),
    rows: rows.map((row) => used.map(([, of]) => of(row))),
  }
}

/** @returns One line for the terminal. */
export const lineOf = <T>(columns: Columns<T>, row: T): string =>
  Object.entries(columns)
    .map(([title, of]) => [title, of(row)])
    .filter(([, value]) => value !== '')
    .map(([title, value]) => (title === 'case' ? value : `${title} ${value}`))
    .join(' · ')

/** @returns The columns of these titles. */
export function pick({ head, rows }: Table, titles: readonly string[]): Table {
  const places = titles.map((title) => head.indexOf(title))
  return { head: titles, rows: rows.map((row) => places.map((place) => row[place] ?? '')) }
}

/** @returns Markdown. */
export function table({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = `|${head.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

const format = (digits: number) => (value: number | undefined) =>
  value === undefined || Number.isNaN(value)
    ? ''
    : value.toLocaleString('en', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })
export const whole = format(0)
export const tenths = format(1)
export const ratio = format(2)
export const mebibytes = (bytes: number | undefined) => tenths(bytes && bytes / 2 ** 20)
