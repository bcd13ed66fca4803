// `node tools/bench/audit.ts`: measures `docreg audit` and `docreg export` at a geth, with more and more
// documents that were issued alone, and writes the table of docs/performance.md.
//
//   --documents N,N,N  how many (10,000, 100,000 and 300,000)
//   --no-export        audits only
//   --dry              print only
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '#document/hex.ts'
import { DOCREG } from '#test/support/docreg.ts'
import { gethBinary } from '#test/support/geth.ts'
import { type BenchChain, startGethChain } from './chain.ts'
import { issueHashes } from './direct.ts'
import { inFolder } from './measure.ts'
import { readOptions } from './options.ts'
import { type Usage, usageOf } from './processes.ts'
import { publish } from './publish.ts'
import { pick, readSetting, type Table, whole } from './report.ts'

const IN_FLIGHT = 16
const POLL_MS = 20

const options = readOptions({ documents: '10000,100000,300000', export: true, dry: false })
const sizes = options.documents.split(',').map(Number)

async function issueMore(chain: BenchChain, documents: number): Promise<void> {
  await issueHashes(chain, {
    documents,
    seconds: Number.POSITIVE_INFINITY,
    inFlight: IN_FLIGHT,
    maxFeePerGas: 10n ** 11n,
  })
  // An audit covers what is final.
  const numberOf = async (tag: string) => {
    const block = await chain.rpc.request({ method: 'eth_getBlockByNumber', params: [tag, false] })
    return Number((block as { number: Hex }).number)
  }
  const head = await numberOf('latest')
  while ((await numberOf('finalized')) < head) await sleep(POLL_MS)
}

type Run = Usage & { seconds: number }

/**
 * Runs the command like `npx docreg`. @returns Its time, processor time and peak of resident
 * memory.
 */
async function runDocreg(...args: string[]): Promise<Run> {
  const start = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=4', DOCREG, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { DOCREG_CONFIG: '/dev/null' },
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  let usage: Usage = { cpu: 0, resident: 0, peak: 0 }
  const poll = setInterval(() => {
    const now = usageOf(child.pid)
    // A process that has just ended has no memory.
    if (now && now.peak > 0) usage = now
  }, POLL_MS)
  const [code] = await once(child, 'close')
  clearInterval(poll)
  if (code !== 0) throw new Error(`docreg ${args[0]} ended with ${code}: ${output}`)
  return { ...usage, seconds: (performance.now() - start) / 1000 }
}

async function measure(
  { url, registry }: BenchChain,
  folder: string,
): Promise<[name: string, run: Run][]> {
  const at = ['--issuer', '1', '--rpc', url, '--registry', registry, '--timeout', '60']
  const out = join(folder, 'audit')
  const runs: [string, Run][] = [
    ['audit', await runDocreg('audit', ...at, '--out', out)],
    ['audit, with the events of the first', await runDocreg('audit', ...at, '--out', out)],
  ]
  if (options.export)
    runs.push(['export', await runDocreg('export', ...at, '--out', join(folder, 'list.ndjson'))])
  return runs
}

const geth = await gethBinary()
if (geth === undefined) throw new Error('this benchmark needs geth')
const setting = readSetting('node tools/bench/audit.ts')
const rows: string[][] = []
await inFolder(async (dataDir) => {
  const chain = await startGethChain(geth, dataDir)
  try {
    let issued = 0
    for (const size of sizes) {
      await issueMore(chain, size - issued)
      issued = size
      await inFolder(async (folder) => {
        for (const [name, { seconds, cpu, peak }] of await measure(chain, folder)) {
          const load = loadavg()[0] ?? 0
          const figures = [seconds, cpu, peak / 2 ** 20, load].map((one) => one.toFixed(1))
          rows.push([whole(size), name, ...figures])
          console.error(rows.at(-1)?.join(' · '))
        }
      })
    }
  } finally {
    await chain.stop()
  }
})

const head = ['documents', 'command', 'seconds', 'processor seconds', 'MiB', 'load']
const audits: Table = { head, rows }
const audited = rows.filter(([, command]) => command === 'audit')
const shown = pick({ head, rows: audited }, ['documents', 'seconds', 'MiB'])
publish('audits', setting, { all: { audits }, shown: { audits: shown } }, options.dry)
