import { execFileSync } from 'node:child_process'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import type { Case } from './cases.ts'
import type { Limits } from './measure.ts'
import type { Part } from './parts.ts'

/** What the figures are true for. */
export type Setting = {
  limits: Limits
  commit: string
  machine: string
  /** Processes that wanted a core when it began; more than there are cores makes every figure worse. */
  load: number
}

export function readSetting(limits: Limits): Setting {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8' }).trim()
  const cores = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return {
    limits,
    commit: `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') && ', changed'}`,
    machine: `${cores.length} × ${cores[0]?.model.trim()}, ${memory} GiB, ${platform()} ${release()}, Node ${process.versions.node}`,
    load: loadavg()[0] ?? 0,
  }
}

type Column = { title: string; of: (row: Case) => string }

const COLUMNS: readonly Column[] = [
  { title: 'case', of: ({ name }) => name },
  { title: 'block time', of: ({ blockTime }) => seconds(blockTime) },
  { title: 'connections', of: ({ connections }) => whole(connections) },
  { title: 'requests', of: ({ requests }) => whole(requests) },
  { title: 'failed', of: ({ failures }) => whole(failures) },
  { title: 'a second', of: ({ perSecond }) => whole(perSecond) },
  { title: '÷ ungrouped', of: ({ toUngrouped }) => ratio(toUngrouped) },
  { title: '÷ raw', of: ({ toRaw }) => ratio(toRaw) },
  { title: 'p50 ms', of: ({ p50 }) => tenths(p50) },
  { title: 'p99 ms', of: ({ p99 }) => tenths(p99) },
  { title: 'gateway µs', of: ({ gatewayCpu }) => whole(gatewayCpu) },
  { title: 'Anvil µs', of: ({ anvilCpu }) => whole(anvilCpu) },
  { title: 'memory MiB', of: ({ peak }) => whole(peak && peak / 2 ** 20) },
  { title: 'load', of: ({ load }) => tenths(load) },
]

/** One line for the terminal, while it runs. */
export function lineOf(row: Case): string {
  return COLUMNS.map(({ title, of }) => [title, of(row)])
    .filter(([, value]) => value !== '')
    .map(([title, value]) => (title === 'case' ? value : `${title} ${value}`))
    .join(' · ')
}

/** @returns docs/performance.md, whole. */
export function documentOf(
  { limits, commit, machine, load }: Setting,
  cases: readonly Case[],
  parts: readonly Part[],
): string {
  return `# Performance

Written by \`npm run bench\`, which measures every figure here anew. Do not edit.

- command: \`npm run bench -- --documents ${limits.documents} --seconds ${limits.seconds}\`
- commit: ${commit}
- machine: ${machine}; load average at the start ${load.toFixed(1)}

Each case has a fresh chain and a fresh gateway, started as \`npm start\` does, with the embedded store. Load generator, gateway and Anvil
are processes of their own on the same machine. A case ends after ${limits.documents} requests or ${limits.seconds} s, whichever is first.

${table(
  COLUMNS.map(({ title }) => title),
  cases.map((row) => COLUMNS.map(({ of }) => of(row))),
)}

- **block time** 0 s is the local chain of \`npm start\`, a block for each transaction; 1 s is Anvil with blocks by the clock, where the gas of
  a block bounds everything.
- **÷ ungrouped**: against the same with \`MAX_BATCH=1\`, which still has several transactions in flight. **÷ raw**: against \`issueMany\` of the same
  number of documents a transaction, straight to the same kind of chain.
- **µs**: processor time for a request, user and system. The gateway's includes the local chain's front, journal and flushes. Other work on the
  machine moves it less than it moves the throughput.
- **verify**: after a restart of the gateway; then one document again and again.
- **memory**: the most that the gateway's process ever had.
- **load**: processes that wanted a core, on average over the minute before the case's end, the benchmark's own three among them. Where it is much
  more than that, or differs between two cases, neither their throughput nor the ratio of it says much.
- A case that was cut off by the time had a smaller chain than one that was not; Anvil slows down with the number of records.

## Parts

Processor time of single steps, in microseconds a document, in batches: as the usual library does them, and as the gateway does.

${table(
  ['step', 'usual', 'gateway'],
  parts.map(({ name, usual, ours }) => [name, tenths(usual), tenths(ours)]),
)}
`
}

function table(head: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'))
  return [head, rule, ...rows].map(line).join('\n')
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
const seconds = (value: number | undefined) =>
  value === undefined ? '' : `${value} s`
