import { loadavg } from 'node:os'
import { createKubo, kuboBinary } from '#test/support/kubo.ts'
import { measureEcho, measureIssue, measureRaw, type Row } from './measure.ts'
import type { Limits } from './processes.ts'
import { type Columns, ratio, tenths, whole } from './report.ts'

/** A row of the table, with its comparisons. */
export type Case = Row & {
  name: string
  connections?: number
  /** The block time in seconds; 0 = a block at once. */
  blockTime?: number
  /** Throughput ÷ that of the bare Hono server at as many connections. */
  toEcho?: number
  /** Throughput ÷ that of the same case with grouping off. */
  toUngrouped?: number
  /** Throughput ÷ that of the same case with the embedded store. */
  toEmbedded?: number
  /** Throughput ÷ that of `issueMany` on the same kind of chain without the gateway. */
  toRaw?: number
  /** Load average over the last minute of the case, including the benchmark's own processes. */
  load?: number
}

export const NAMES = {
  raw: 'issueMany of 200, no gateway',
  grouped: 'issue',
  ungrouped: 'issue, grouping off',
  kubo: 'issue, payloads on Kubo',
  cold: 'verify, each document once',
  warm: 'verify, the same documents again',
  one: 'verify, one document',
  echo: 'bare Hono, echo of a POST',
} as const

const CONNECTIONS = [1, 50, 200, 500] as const
const BLOCK_TIMES = [0, 1] as const
/** Connections of the cases that run at one number only. */
export const USUAL = 200

export const COLUMNS: Columns<Case> = {
  case: ({ name }) => name,
  'block time': ({ blockTime }) => (blockTime === undefined ? '' : `${blockTime} s`),
  connections: ({ connections }) => whole(connections),
  requests: ({ requests }) => whole(requests),
  failed: ({ failures }) => whole(failures),
  'a second': ({ perSecond }) => whole(perSecond),
  '÷ echo': ({ toEcho }) => ratio(toEcho),
  '÷ ungrouped': ({ toUngrouped }) => ratio(toUngrouped),
  '÷ embedded': ({ toEmbedded }) => ratio(toEmbedded),
  '÷ raw': ({ toRaw }) => ratio(toRaw),
  'p50 ms': ({ p50 }) => tenths(p50),
  'p99 ms': ({ p99 }) => tenths(p99),
  'gateway µs': ({ gatewayCpu }) => whole(gatewayCpu),
  'Anvil µs': ({ anvilCpu }) => whole(anvilCpu),
  'memory MiB': ({ peak }) => whole(peak && peak / 2 ** 20),
  load: ({ load }) => tenths(load),
}

/** @returns A list of cases, and a function that adds one and tells of it. */
function collect(tell: (done: Case) => void) {
  const cases: Case[] = []
  const add = (measured: Case) => {
    const done = { ...measured, load: loadavg()[0] ?? 0 }
    cases.push(done)
    tell(done)
  }
  return { cases, add }
}

/** Runs all cases, one after another, each on a fresh chain. */
export async function runCases(limits: Limits, tell: (done: Case) => void): Promise<Case[]> {
  const { cases, add } = collect(tell)
  for (const blockTime of BLOCK_TIMES) {
    const raw = await measureRaw(limits, blockTime)
    add({ name: NAMES.raw, blockTime, ...raw })
    for (const connections of CONNECTIONS) {
      const where = { connections, blockTime }
      const issue = async (name: string, env: Record<string, string> = {}) => {
        const row = await measureIssue(limits, { ...where, env })
        return { name, ...where, ...row, toRaw: row.perSecond / raw.perSecond }
      }
      // With blocks at fixed times, a block includes what is in flight, whatever the store.
      const ungrouped =
        blockTime === 0 ? await issue(NAMES.ungrouped, { MAX_BATCH: '1' }) : undefined
      if (ungrouped) add(ungrouped)
      const grouped = await issue(NAMES.grouped)
      const { perSecond } = grouped
      add({ ...grouped, ...(ungrouped && { toUngrouped: perSecond / ungrouped.perSecond }) })
      if (blockTime > 0 || connections !== USUAL) continue
      const kubo = await withKubo((env) => issue(NAMES.kubo, env))
      if (kubo) add({ ...kubo, toEmbedded: kubo.perSecond / perSecond })
    }
  }
  const echo = await measureEcho(limits, USUAL)
  add({ name: NAMES.echo, connections: USUAL, ...echo })
  return cases
}

/** @returns `undefined` on a machine that cannot build Kubo; prints the reason. */
async function withKubo<T>(use: (env: Record<string, string>) => Promise<T>) {
  const binary = await kuboBinary()
  if (binary === undefined) return undefined
  const kubo = await createKubo(binary)
  try {
    await kubo.start()
    return await use({ IPFS_API_URL: kubo.apiUrl })
  } finally {
    await kubo.remove()
  }
}

/**
 * Measures the bare Hono server and then verifying with a freshly started gateway, at each number
 * of connections.
 */
export async function runVerifyCases(
  limits: Limits,
  connections: readonly number[],
  tell: (done: Case) => void,
): Promise<Case[]> {
  const { cases, add } = collect(tell)
  await measureIssue(limits, {
    connections: USUAL,
    blockTime: 0,
    after: async (restart) => {
      for (const at of connections) {
        const echo = await measureEcho(limits, at)
        add({ name: NAMES.echo, connections: at, ...echo })
        const gateway = await restart()
        const verify = async (name: string, distinct?: number) => {
          const load = { kind: 'verify', connections: at, ...limits } as const
          const row = await gateway.load({ ...load, ...(distinct && { distinct }) })
          const toEcho = row.perSecond / echo.perSecond
          add({ name, connections: at, blockTime: 0, ...row, toEcho })
          return row.requests
        }
        await verify(NAMES.warm, await verify(NAMES.cold))
        await verify(NAMES.one, 1)
      }
    },
  })
  return cases
}
