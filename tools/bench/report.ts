import { execFileSync } from 'node:child_process'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { type Case, NAMES } from './cases.ts'
import type { Part } from './parts.ts'
import type { PeerRow } from './peers/measure.ts'

/** Where and how the figures were measured. */
export type Setting = {
  command: string
  commit: string
  machine: string
  /** Load average at the start; above the number of cores, every figure is worse. */
  load: number
}

export function readSetting(command: string): Setting {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const cores = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    command,
    commit: `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') && ', changed'}`,
    machine: `${cores.length} × ${cores[0]?.model.trim()}, ${memory} GiB, ${platform()} ${release()}, Node ${process.versions.node}`,
    load: Math.round(10 * (loadavg()[0] ?? 0)) / 10,
  }
}

type Column<T> = { title: string; of: (row: T) => string }

const COLUMNS: readonly Column<Case>[] = [
  { title: 'case', of: ({ name }) => name },
  { title: 'block time', of: ({ blockTime }) => seconds(blockTime) },
  { title: 'connections', of: ({ connections }) => whole(connections) },
  { title: 'requests', of: ({ requests }) => whole(requests) },
  { title: 'failed', of: ({ failures }) => whole(failures) },
  { title: 'a second', of: ({ perSecond }) => whole(perSecond) },
  { title: '÷ echo', of: ({ toEcho }) => ratio(toEcho) },
  { title: '÷ ungrouped', of: ({ toUngrouped }) => ratio(toUngrouped) },
  { title: '÷ embedded', of: ({ toEmbedded }) => ratio(toEmbedded) },
  { title: '÷ raw', of: ({ toRaw }) => ratio(toRaw) },
  { title: 'p50 ms', of: ({ p50 }) => tenths(p50) },
  { title: 'p99 ms', of: ({ p99 }) => tenths(p99) },
  { title: 'gateway µs', of: ({ gatewayCpu }) => whole(gatewayCpu) },
  { title: 'Anvil µs', of: ({ anvilCpu }) => whole(anvilCpu) },
  { title: 'memory MiB', of: ({ peak }) => whole(peak && peak / 2 ** 20) },
  { title: 'load', of: ({ load }) => tenths(load) },
]

const PEER_COLUMNS: readonly Column<PeerRow>[] = [
  { title: 'case', of: ({ name }) => name },
  { title: 'documents a request', of: ({ size }) => whole(size) },
  { title: 'clients', of: ({ clients }) => whole(clients) },
  { title: 'documents', of: ({ documents }) => whole(documents) },
  { title: 'failed', of: ({ failures }) => whole(failures) },
  { title: 'documents a second', of: ({ perSecond }) => whole(perSecond) },
  { title: 'gateway ÷ it', of: ({ gatewayToIt }) => tenths(gatewayToIt) },
  { title: 'p50 ms', of: ({ p50 }) => tenths(p50) },
  { title: 'p99 ms', of: ({ p99 }) => tenths(p99) },
  { title: 'gas a document', of: (row) => whole(row.gas) },
  { title: 'client µs', of: ({ clientCpu }) => whole(clientCpu) },
  { title: 'Anvil µs', of: ({ anvilCpu }) => whole(anvilCpu) },
]

/** @returns One line for the terminal while it runs. */
export const lineOf = (row: Case): string => line(COLUMNS, row)
export const lineOfPeer = (row: PeerRow): string => line(PEER_COLUMNS, row)

function line<T>(columns: readonly Column<T>[], row: T): string {
  return columns
    .map(({ title, of }) => [title, of(row)])
    .filter(([, value]) => value !== '')
    .map(([title, value]) => (title === 'case' ? value : `${title} ${value}`))
    .join(' · ')
}

/** A table as it is printed. */
export type Table = { head: readonly string[]; rows: readonly string[][] }

/** Tables by name: all figures of a run, and what the page shows of them. */
export type Tables = { all: Record<string, Table>; shown: Record<string, Table> }

/** The tables of `npm run bench`. */
export function speedTables(
  cases: readonly Case[],
  peers: readonly PeerRow[],
  parts: readonly Part[],
): Tables {
  const steps: Table = {
    head: ['step', 'usual', 'gateway'],
    rows: parts.map(({ name, usual, ours }) => [name, tenths(usual), tenths(ours)]),
  }
  const many = peers.filter(({ clients }) => clients > 1)
  return {
    all: { cases: tableOf(COLUMNS, cases), peers: tableOf(PEER_COLUMNS, peers), parts: steps },
    shown: {
      speed: pick(tableOf(COLUMNS, cases.filter(isShown)), SHOWN_COLUMNS),
      peers: pick(tableOf(PEER_COLUMNS, many), SHOWN_PEER_COLUMNS),
      parts: steps,
    },
  }
}

/** The table of `npm run bench -- --verify`, which is in its file only. */
export function verifyTables(cases: readonly Case[]): Tables {
  return { all: { cases: tableOf(COLUMNS, cases) }, shown: {} }
}

const SHOWN_COLUMNS = ['case', 'connections', 'a second', 'p99 ms', 'gateway µs']
const SHOWN_PEER_COLUMNS = ['case', 'clients', 'documents a second', 'gateway ÷ it']

const isShown = ({ name, connections, blockTime = 0 }: Case) =>
  name !== NAMES.ungrouped && connections !== 1 && blockTime === 0

/** Where and when something was measured. */
export const placeOf = ({ command, commit, machine, load }: Setting): string =>
  `\`${command}\` at ${commit},\nload ${load}, on ${machine.replace(/, \w+ \S+, Node.*/, '')}`

/** @returns The columns of these titles. */
export function pick({ head, rows }: Table, titles: readonly string[]): Table {
  const places = titles.map((title) => head.indexOf(title))
  return { head: titles, rows: rows.map((row) => places.map((place) => row[place] ?? '')) }
}

/** @returns The table without empty columns. */
function tableOf<T>(columns: readonly Column<T>[], rows: readonly T[]): Table {
  const used = columns.filter(({ of }) => rows.some((row) => of(row) !== ''))
  return {
    head: used.map(({ title }) => title),
    rows: rows.map((row) => used.map(({ of }) => of(row))),
  }
}

/** @returns Markdown. */
export function table({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = `|${head.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

const format = (digits: number) => (value: number | undefined) =>
  value === undefined
    ? ''
    : value.toLocaleString('en', {
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      })
const whole = format(0)
const tenths = format(1)
const ratio = format(2)
const seconds = (value: number | undefined) => (value === undefined ? '' : `${value} s`)
