import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Row, type RunningGateway, startGateway } from '../measure.ts'
import { usageOf } from '../processes.ts'
import type { PretendedChain } from './chain.ts'
import type { Pauses } from './preload.ts'

const PRELOAD = new URL('./preload.ts', import.meta.url).href
const CONNECTIONS = 200
/** Calls of a kind have ended when at most {@link QUIET_CALLS} were made in this time. */
const QUIET_MS = 6_000
/** Each check of the blocks, every 2 s, asks for the newest known one. */
const QUIET_CALLS = 10
const START_MS = 5_000

/** A database to measure, as a data folder and settings of the gateway. */
export type Side = { dataDir: string; env?: Record<string, string> }

/** The time from the start of a gateway's process until it was ready. */
export type Started = { ms: number; cpuMs: number }

export type Starting = {
  started: Started
  starting: Pauses
  first: Pauses
  blocksAsked: number
  later: Pauses
}

export type Issuing = Record<'plain' | 'keyed', { row: Row; pauses: Pauses }>

export type Finality = { ms: number; pauses: Pauses; calls: number }

type Gateway = RunningGateway & {
  /** The time from the start of the process until it was ready, and its processor time. */
  started: Started
  /** @returns The measurements since the last call. */
  pauses(): Promise<Pauses>
}

/** Starts a gateway that measures the pauses of its event loop. */
export async function startMeasured(
  { dataDir, env = {} }: Side,
  chain: PretendedChain,
): Promise<Gateway> {
  const file = join(dataDir, 'pauses')
  const begun = performance.now()
  // All rounds together issue more than the default cap of an hour allows.
  const settings = { PAUSES_FILE: file, MAX_HOURLY_FEE_ETHER: 'off', ...env }
  const gateway = await startGateway(dataDir, chain, settings, ['--import', PRELOAD])
  const started = {
    ms: performance.now() - begun,
    cpuMs: 1000 * (usageOf(gateway.pid)?.cpu ?? NaN),
  }
  const pauses = async (): Promise<Pauses> => {
    rmSync(file, { force: true })
    process.kill(gateway.pid, 'SIGUSR2')
    while (!existsSync(file)) await sleep(20)
    return JSON.parse(readFileSync(file, 'utf8'))
  }
  return { ...gateway, started, pauses }
}

/** Resolves when a count has hardly changed for a while. */
export async function untilQuiet(count: () => number): Promise<void> {
  for (let before = -QUIET_CALLS - 1; count() - before > QUIET_CALLS; ) {
    before = count()
    await sleep(QUIET_MS)
  }
}

export async function measureStart(side: Side, chain: PretendedChain): Promise<Starting> {
  const gateway = await startMeasured(side, chain)
  const starting = await gateway.pauses()
  await untilQuiet(() => chain.asked.blocks)
  const first = await gateway.pauses()
  const blocksAsked = chain.asked.blocks
  await sleep(START_MS)
  const later = await gateway.pauses()
  await gateway.stop()
  return { started: gateway.started, starting, first, blocksAsked, later }
}

async function measureIssuing(
  side: Side,
  chain: PretendedChain,
  seconds: number,
): Promise<Issuing> {
  const gateway = await startMeasured(side, chain)
  await issue(gateway, 'issue', seconds / 4)
  const plain = await issue(gateway, 'issue', seconds)
  const keyed = await issue(gateway, 'issue keyed', seconds)
  await gateway.stop()
  return { plain, keyed }
}

/**
 * Measures both in a different order each round, because the chain gets slower with its records.
 */
export async function measureBoth(
  sides: Record<'empty' | 'full', Side>,
  chain: PretendedChain,
  { round, seconds }: { round: number; seconds: number },
): Promise<Record<'empty' | 'full', Issuing>> {
  if (round % 2 === 0) {
    const empty = await measureIssuing(sides.empty, chain, seconds)
    return { empty, full: await measureIssuing(sides.full, chain, seconds) }
  }
  const full = await measureIssuing(sides.full, chain, seconds)
  return { empty: await measureIssuing(sides.empty, chain, seconds), full }
}

async function issue(
  gateway: Gateway,
  kind: 'issue' | 'issue keyed',
  seconds: number,
): Promise<{ row: Row; pauses: Pauses }> {
  await gateway.pauses()
  const documents = Number.MAX_SAFE_INTEGER
  const row = await gateway.load({ kind, connections: CONNECTIONS, seconds, documents })
  return { row, pauses: await gateway.pauses() }
}

/** Makes the pretended blocks final, and waits until the gateway has asked for all records. */
export async function measureFinality(side: Side, chain: PretendedChain): Promise<Finality> {
  const gateway = await startMeasured(side, chain)
  await sleep(START_MS)
  await gateway.pauses()
  const begun = performance.now()
  chain.finalize()
  const calls = () => chain.asked.records
  for (const before = calls(); calls() === before; ) await sleep(20)
  await untilQuiet(calls)
  const ms = performance.now() - begun - QUIET_MS
  const pauses = await gateway.pauses()
  await gateway.stop()
  return { ms, pauses, calls: chain.asked.records }
}
