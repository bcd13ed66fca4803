import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gethBinary } from '#test/support/geth.ts'
import { startGethChain } from './chain.ts'
import { inFolder, startGateway } from './measure.ts'
import type { Memory } from './probe.ts'
import { probe, usageOf } from './processes.ts'
import { type Columns, mebibytes, pick, type Table, type Tables, tableOf, whole } from './report.ts'

/** A gateway's memory in bytes after this number of documents; the peak is the maximum ever. */
type MemoryRow = Memory & Record<'documents' | 'failures' | 'perSecond' | 'peak', number>

const PRELOAD = new URL('./probe.ts', import.meta.url).href
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
    const env = { PROBE_FILE: file, WAIT_SECONDS: String(WAIT_SECONDS) }
    const gateway = await startGateway(dataDir, chain, env, ['--expose-gc', '--import', PRELOAD])
    const rows: MemoryRow[] = []
    try {
      for (const documents of counts) {
        const { failures = 0, perSecond } = await gateway.load({
          kind: 'issue',
          connections: CONNECTIONS,
          documents: documents - (rows.at(-1)?.documents ?? 0),
          seconds: Number.MAX_SAFE_INTEGER / 1000,
        })
        await sleep((WAIT_SECONDS + 5) * 1000)
        const memory = await probe<Memory>(gateway.pid, file)
        const peak = usageOf(gateway.pid)?.peak ?? Number.NaN
        const row = { documents, failures, perSecond, peak, ...memory }
        rows.push(row)
        tell(row)
      }
    } finally {
      await gateway.stop()
      await chain.stop()
    }
    return rows
  })
}

export const MEMORY_COLUMNS: Columns<MemoryRow> = {
  documents: ({ documents }) => whole(documents),
  failed: ({ failures }) => whole(failures),
  'a second': ({ perSecond }) => whole(perSecond),
  'most ever': ({ peak }) => mebibytes(peak),
  'at rest': ({ resident }) => mebibytes(resident),
  'at rest, collected': ({ collected }) => mebibytes(collected),
  heap: ({ heap }) => mebibytes(heap),
  external: ({ external }) => mebibytes(external),
}

const SHOWN = ['documents', 'a second', 'most ever', 'at rest, collected']
const MEASURES = ['peak', 'resident', 'collected', 'heap', 'external'] as const

/** MiB. `most ever` (`VmHWM`) and `at rest` are resident memory. */
export function memoryTables(rows: readonly MemoryRow[]): Tables {
  const [first, last] = [rows[0], rows.at(-1)]
  const growth = MEASURES.map((of) => (first && last ? (last[of] / first[of]).toFixed(2) : ''))
  const { head, rows: cells } = tableOf(MEMORY_COLUMNS, rows)
  const memory: Table = { head, rows: [...cells, ['÷ the first', '', '', ...growth]] }
  return { all: { memory }, shown: { memory: pick(memory, SHOWN) } }
}
