import { execFileSync } from 'node:child_process'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { type Case, USUAL } from './cases.ts'
import type { Limits } from './measure.ts'
import type { Part } from './parts.ts'
import type { PeerRow } from './peers/measure.ts'

/** Where and how the figures were measured. */
export type Setting = {
  command: string
  commit: string
  machine: string
  /** The load average at the start. More than the number of cores makes every figure worse. */
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
    load: loadavg()[0] ?? 0,
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

/** @returns docs/performance.md without the sections that have their own command. */
export function documentOf(
  setting: Setting,
  limits: Limits,
  cases: readonly Case[],
  peers: readonly PeerRow[],
  parts: readonly Part[],
): string {
  return `# Performance

Written by \`npm run bench\`, which measures these figures again. Do not edit.

${placeOf(setting)}

Each case has a fresh chain and a fresh gateway, started as \`npm start\` does, with the embedded
store. Load generator, gateway and Anvil are separate processes on the same machine. A case ends
after ${limits.documents} requests or ${limits.seconds} s, whichever is first.

${tableOf(COLUMNS, cases)}

- **block time**: 0 s is the local chain of \`npm start\`, which makes a block at once for the waiting
  transactions; 1 s is Anvil with blocks by the clock, where the block gas limit bounds everything.
- **÷ ungrouped**: against the same case with \`MAX_BATCH=1\`, which still has several transactions in
  flight. **÷ raw**: against \`issueMany\` with the same number of documents in each transaction, sent
  directly to the same kind of chain. **÷ embedded**: against the same case with the embedded store.
- **on Kubo**: a real Kubo daemon on the same machine, offline, which flushes every block to the
  disk; each payload is pinned and read back.
- **µs**: processor time for a request, user and system. The gateway's includes the local chain's
  front, journal and flushes. Other work on the machine changes it less than the throughput.
- **memory**: the maximum resident memory of the gateway's process.
- **load**: processes that wanted a core, on average over the minute before the case's end; the
  benchmark itself accounts for three. If it is much higher, or differs between two cases, neither
  their throughput nor its ratio says much.
- A case that reached its time limit had a smaller chain than one that did not; Anvil slows down
  with the number of records.

## Peers

Other registries on the local chain of \`npm start\`, a fresh one for each case. The contracts come
from the published packages (fetched, not installed) and are called as their SDKs do: a contract
call through ethers from one account, whose nonces ethers' \`NonceManager\` counts, and a wait for the
receipt. A client sends one request at a time.

${peers.length > 0 ? tableOf(PEER_COLUMNS, peers) : 'Not measured: the package registry was not reached.'}

- **gateway ÷ it**: throughput of this gateway's \`issue\` at the same number of connections ÷ that of
  the case. For cases with many documents in a request: of this gateway at ${USUAL} connections with one
  document each.
- A peer only anchors a hash. The gateway's requests come over HTTP, and it also checks the
  document, encrypts it, stores the payload durably and survives being killed; the peers save the
  time for that.
- ethers gathers calls for 10 ms. That is off for one client and on for many, the better setting for
  the peers in both cases.

## Parts

Processor time of single steps, in microseconds a document, in batches: with the usual library, and
in the gateway.

${table(
  ['step', 'usual', 'gateway'],
  parts.map(({ name, usual, ours }) => [name, tenths(usual), tenths(ours)]),
)}
`
}

/** Where and when something was measured. */
export const placeOf = ({ command, commit, machine, load }: Setting): string =>
  `- command: \`${command}\`
- commit: ${commit}
- machine: ${machine}; load average at the start ${load.toFixed(1)}`

/** The titles of the sections with their own command. */
export const MEMORY = 'Memory'
export const VERIFY = 'Verify'
export const SLOW_BLOCKS = 'Slow blocks'
export const FAULT_RUNS = 'Fault runs'
export const BATCHES = 'Batches'
/** Written by hand from the output of tools/bench/certificates.ts. */
export const CERTIFICATES = 'Certificates'
export const BEFORE = 'Issuing, now and before'
/** Written by hand from the output of tools/bench/attacks/attacks.ts. */
export const ATTACKS = 'What one client does to others'

export function verifySection(setting: Setting, limits: Limits, cases: readonly Case[]): string {
  return `One gateway with the embedded store on the local chain of \`npm start\`, and a bare Hono server with
the same number of connections. Load generator, gateway and Anvil are separate processes on the same
machine. A case ends after ${limits.documents} requests or ${limits.seconds} s, whichever is first.

${placeOf(setting)}

${tableOf(COLUMNS, cases)}

- **each document once**: after a restart of the gateway, so that it has verified none of them; in
  the order of their hashes, so that documents verified together are in different blocks.
- **the same documents again**: those of the previous case, by the same process.
- **÷ echo**: against the bare Hono server that echoes a POST, in the same run.
- **µs**: processor time for a request, user and system. The gateway's includes the local chain's
  front.
`
}

/** @returns The text of a section; empty when there is none. */
export function sectionOf(document: string, title: string): string {
  const [, after = ''] = document.split(`\n## ${title}\n\n`)
  return after.split(/^## /m)[0]?.trimEnd() ?? ''
}

/** @returns The document with the old section removed and this one at the end. */
export function withSection(document: string, title: string, text: string): string {
  const heading = `\n## ${title}\n\n`
  const old = sectionOf(document, title)
  const rest = document.replace(`${heading}${old}\n`, '')
  return text === '' ? rest : `${rest.trimEnd()}\n${heading}${text.trimEnd()}\n`
}

/** @returns The table without empty columns. */
function tableOf<T>(columns: readonly Column<T>[], rows: readonly T[]) {
  const used = columns.filter(({ of }) => rows.some((row) => of(row) !== ''))
  return table(
    used.map(({ title }) => title),
    rows.map((row) => used.map(({ of }) => of(row))),
  )
}

export function table(head: readonly string[], rows: readonly string[][]): string {
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
const seconds = (value: number | undefined) => (value === undefined ? '' : `${value} s`)
