// The measurements of a gateway with a full database, whatever the database.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startInstantChain } from '../chain.ts'
import { inFolder, type Row, type RunningGateway, startGateway } from '../measure.ts'
import { readOptions } from '../options.ts'
import type { Pauses } from '../probe.ts'
import { probe, usageOf } from '../processes.ts'
import { type PretendedChain, pretendBlocks } from './chain.ts'
import { type Rows, rowsFor } from './fill.ts'

const PRELOAD = new URL('../probe.ts', import.meta.url).href
const CONNECTIONS = 200
/** Calls of a kind have ended when at most {@link QUIET_CALLS} were made in this time. */
const QUIET_MS = 6_000
/** Each check of the blocks, every 2 s, asks for the newest known one. */
const QUIET_CALLS = 10
const START_MS = 5_000

/** A database to measure, as a data folder and settings of the gateway. */
export type Side = { dataDir: string; env?: Record<string, string> }
type SideName = 'empty' | 'full'

/** The time from the start of a gateway's process until it was ready. */
export type Started = { name: string; ms: number; cpuMs: number }
export type NamedPauses = Pauses & { name: string }
type Issued = { row: Row; pauses: Pauses }
export type Round = Record<SideName, Record<'plain' | 'keyed', Issued>>

export type Measured = {
  rows: Rows
  /** The size of the full database. */
  bytes: number
  starts: Started[]
  /** Of the gateway with the full database. */
  pauses: NamedPauses[]
  rounds: Round[]
}

export type Options = { rows: Rows; seconds: number; rounds: number; dry: boolean }

/** Reads the options that both programs have. */
export function optionsOfBoth(): Options {
  const { given, ...options } = readOptions({ seconds: 10, rounds: 3, dry: false })
  return { ...options, rows: rowsFor(Number(given[0] ?? 10_000_000)) }
}

/** Runs work with a folder, and a chain that has the blocks of these rows. */
export const withChain = <T>(
  { blocks }: Rows,
  use: (folder: string, chain: PretendedChain) => Promise<T>,
): Promise<T> =>
  inFolder(async (folder) => {
    const chain = await pretendBlocks(await startInstantChain(join(folder, 'chain')), blocks)
    try {
      return await use(folder, chain)
    } finally {
      await chain.stop()
    }
  })

/** @param side Makes an empty database. */
export async function measureFull(
  chain: PretendedChain,
  { rows, seconds, rounds: count }: Options,
  full: Side & { bytes: number },
  side: (name: string) => Promise<Side>,
): Promise<Measured> {
  const empty = await startMeasured('empty', await side('empty'), chain)
  await empty.stop()
  const { started, pauses } = await measureStart(full, chain)
  const rounds: Round[] = []
  for (let round = 0; round < count; round++) {
    const sides = { empty: await side(`empty_${round}`), full }
    // In a different order each round, because the chain gets slower with its records.
    const order: SideName[] = round % 2 === 0 ? ['empty', 'full'] : ['full', 'empty']
    const measured: Partial<Round> = {}
    for (const name of order) measured[name] = await measureIssuing(sides[name], chain, seconds)
    rounds.push(measured as Round)
    tell('issuing', measured)
  }
  const issuing = rounds.flatMap(({ full: { plain, keyed } }, i): NamedPauses[] => [
    { ...plain.pauses, name: `issuing, round ${i + 1}` },
    { ...keyed.pauses, name: `issuing with idempotency keys, round ${i + 1}` },
  ])
  const final = await measureFinality(full, chain)
  return {
    rows,
    bytes: full.bytes,
    starts: [empty.started, started],
    pauses: [...pauses, ...issuing, final],
    rounds,
  }
}

export function tell(what: string, of: unknown): void {
  console.log(what, JSON.stringify(of))
}

type Gateway = RunningGateway & {
  started: Started
  /** @returns The pauses of the event loop since the last call. */
  pauses(name: string): Promise<NamedPauses>
}

/** Starts a gateway that measures the pauses of its event loop. */
export async function startMeasured(
  name: string,
  { dataDir, env = {} }: Side,
  chain: PretendedChain,
): Promise<Gateway> {
  const file = join(dataDir, 'probe')
  const begun = performance.now()
  // All rounds together issue more than the default cap of an hour allows.
  const settings = { PROBE_FILE: file, MAX_HOURLY_FEE_ETHER: 'off', ...env }
  const gateway = await startGateway(dataDir, chain, settings, ['--import', PRELOAD])
  const ms = performance.now() - begun
  const started = { name, ms, cpuMs: 1000 * (usageOf(gateway.pid)?.cpu ?? Number.NaN) }
  tell('start', started)
  return {
    ...gateway,
    started,
    async pauses(of) {
      const { longest, p99 } = await probe<Pauses>(gateway.pid, file)
      tell('pauses', { of, longest, p99 })
      return { name: of, longest, p99 }
    },
  }
}

/** Resolves when a count has hardly changed for a while. */
export async function untilQuiet(count: () => number): Promise<void> {
  for (let before = -QUIET_CALLS - 1; count() - before > QUIET_CALLS; ) {
    before = count()
    await sleep(QUIET_MS)
  }
}

async function measureStart(side: Side, chain: PretendedChain) {
  const gateway = await startMeasured('full', side, chain)
  const starting = await gateway.pauses('start')
  await untilQuiet(() => chain.asked.blocks)
  const asked = chain.asked.blocks.toLocaleString('en')
  const first = await gateway.pauses(`first looks for final blocks, ${asked} asked for`)
  await sleep(START_MS)
  const later = await gateway.pauses('later looks')
  await gateway.stop()
  return { started: gateway.started, pauses: [starting, first, later] }
}

async function measureIssuing(side: Side, chain: PretendedChain, seconds: number) {
  const gateway = await startMeasured('issuing', side, chain)
  const issue = async (kind: 'issue' | 'issue keyed', during: number): Promise<Issued> => {
    await gateway.pauses('before')
    const limits = { seconds: during, documents: Number.MAX_SAFE_INTEGER }
    const row = await gateway.load({ kind, connections: CONNECTIONS, ...limits })
    return { row, pauses: await gateway.pauses(kind) }
  }
  await issue('issue', seconds / 4)
  const plain = await issue('issue', seconds)
  const keyed = await issue('issue keyed', seconds)
  await gateway.stop()
  return { plain, keyed }
}

/** Makes the pretended blocks final, and waits until the gateway has asked for all of them. */
async function measureFinality(side: Side, chain: PretendedChain): Promise<NamedPauses> {
  const gateway = await startMeasured('finality', side, chain)
  await sleep(START_MS)
  await gateway.pauses('before')
  const begun = performance.now()
  chain.finalize()
  const before = chain.asked.blocks
  while (chain.asked.blocks === before) await sleep(20)
  await untilQuiet(() => chain.asked.blocks)
  const seconds = Math.round((performance.now() - begun - QUIET_MS) / 1000)
  const asked = (chain.asked.blocks - before).toLocaleString('en')
  const pauses = await gateway.pauses(`all final: ${seconds} s, ${asked} blocks asked for`)
  await gateway.stop()
  return pauses
}
