import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gethBinary } from '#test/support/geth.ts'
import { startGethChain } from '../chain.ts'
import { inFolder, startGateway } from '../measure.ts'
import { usageOf } from '../processes.ts'
import { pick, type Table, type Tables } from '../report.ts'
import type { Memory } from './preload.ts'

/** A gateway's memory in bytes after this number of documents. */
type MemoryRow = Memory & {
  documents: number
  failures: number
  perSecond: number
  /** The maximum resident set. */
  peak: number
}

const PRELOAD = new URL('./preload.ts', import.meta.url).href
/** With a block each second, each connection issues about one document a second. */
const CONNECTIONS = 1000
/** A request waits at most this time; until then the gateway may keep memory for it. */
const WAIT_SECONDS = 30

/**
 * Measures one gateway on a real geth, which, unlike Anvil, does not slow down with the number of
 * records. It issues until each of these counts in turn. Then it is left alone for longer than any
 * request may wait, and all garbage is collected.
 *
 * @param counts Numbers of documents, in ascending order.
 * @returns `undefined` on a machine that cannot build geth, after printing the reason.
 */
export async function measureMemory(
  counts: readonly number[],
  tell: (row: MemoryRow) => void,
): Promise<MemoryRow[] | undefined> {
  const binary = await gethBinary()
  if (binary === undefined) return undefined
  return inFolder(async (dataDir) => {
    const chain = await startGethChain(binary, dataDir)
    const file = join(dataDir, 'memory')
    const gateway = await startGateway(
      dataDir,
      chain,
      { MEMORY_FILE: file, WAIT_SECONDS: String(WAIT_SECONDS) },
      ['--expose-gc', '--import', PRELOAD],
    )
    const rows: MemoryRow[] = []
    try {
      for (const documents of counts) {
        const issued = await gateway.load({
          kind: 'issue',
          connections: CONNECTIONS,
          documents: documents - (rows.at(-1)?.documents ?? 0),
          seconds: Number.MAX_SAFE_INTEGER / 1000,
        })
        await sleep((WAIT_SECONDS + 5) * 1000)
        const memory = await collect(gateway.pid, file)
        const { failures = 0, perSecond } = issued
        const peak = usageOf(gateway.pid)?.peak ?? Number.NaN
        rows.push({ documents, failures, perSecond, peak, ...memory })
        tell(rows.at(-1) as MemoryRow)
      }
    } finally {
      await gateway.stop()
      await chain.stop()
    }
    return rows
  })
}

async function collect(pid: number, file: string): Promise<Memory> {
  rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!existsSync(file)) await sleep(100)
  return JSON.parse(readFileSync(file, 'utf8'))
}

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

const SHOWN = ['documents', 'a second', 'most ever', 'at rest, collected']
const MEASURES = ['peak', 'resident', 'collected', 'heap', 'external'] as const

/** @returns One line for the terminal while it runs. */
export const memoryLine = (row: MemoryRow): string =>
  COLUMNS.map(([title, of]) => `${title} ${of(row)}`).join(' · ')

/** MiB. `most ever` (`VmHWM`) and `at rest` are resident memory. */
export function memoryTables(rows: readonly MemoryRow[]): Tables {
  const [first, last] = [rows[0], rows.at(-1)]
  const growth = MEASURES.map((of) => (first && last ? (last[of] / first[of]).toFixed(2) : ''))
  const memory: Table = {
    head: COLUMNS.map(([title]) => title),
    rows: [
      ...rows.map((row) => COLUMNS.map(([, of]) => of(row))),
      ['÷ the first', '', '', ...growth],
    ],
  }
  return { all: { memory }, shown: { memory: pick(memory, SHOWN) } }
}
