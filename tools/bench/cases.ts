import { loadavg } from 'node:os'
import { createKubo, kuboBinary } from '#test/support/kubo.ts'
import {
  type Limits,
  measureEcho,
  measureIssue,
  measureRaw,
  type Row,
  type RunningGateway,
} from './measure.ts'

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

/** Runs all cases, one after another, each on a fresh chain. */
export async function runCases(limits: Limits, tell: (done: Case) => void): Promise<Case[]> {
  const cases: Case[] = []
  const add = (measured: Case) => {
    const done = { ...measured, load: loadavg()[0] ?? 0 }
    cases.push(done)
    tell(done)
  }

  for (const blockTime of BLOCK_TIMES) {
    const raw = await measureRaw(limits, blockTime)
    add({ name: NAMES.raw, blockTime, ...raw })
    for (const connections of CONNECTIONS) {
      const where = { connections, blockTime }
      const toRaw = (row: Row) => row.perSecond / raw.perSecond
      // With blocks at fixed times, a block includes what is in flight, whatever the store.
      const ungrouped =
        blockTime === 0
          ? await measureIssue(limits, { ...where, env: { MAX_BATCH: '1' } })
          : undefined
      if (ungrouped)
        add({
          name: NAMES.ungrouped,
          ...where,
          ...ungrouped,
          toRaw: toRaw(ungrouped),
        })
      const grouped = await measureIssue(limits, where)
      add({
        name: NAMES.grouped,
        ...where,
        ...grouped,
        ...(ungrouped && {
          toUngrouped: grouped.perSecond / ungrouped.perSecond,
        }),
        toRaw: toRaw(grouped),
      })
      const kubo = blockTime === 0 && connections === USUAL ? await measureKubo(limits) : undefined
      if (kubo)
        add({
          name: NAMES.kubo,
          ...where,
          ...kubo,
          toEmbedded: kubo.perSecond / grouped.perSecond,
          toRaw: toRaw(kubo),
        })
    }
  }
  const echo = await measureEcho(limits, USUAL)
  add({ name: NAMES.echo, connections: USUAL, ...echo })
  return cases
}

/** @returns `undefined` on a machine that cannot build Kubo; prints the reason. */
async function measureKubo(limits: Limits): Promise<Row | undefined> {
  const binary = await kuboBinary()
  if (binary === undefined) return undefined
  const kubo = await createKubo(binary)
  try {
    await kubo.start()
    return await measureIssue(limits, {
      connections: USUAL,
      blockTime: 0,
      env: { IPFS_API_URL: kubo.apiUrl },
    })
  } finally {
    await kubo.remove()
  }
}

/** Verifies the issued documents with a freshly started gateway. */
async function verifyAll(
  limits: Limits,
  connections: number,
  restart: () => Promise<RunningGateway>,
): Promise<Case[]> {
  const load = { kind: 'verify', connections, ...limits } as const
  const where = { connections, blockTime: 0 }
  const gateway = await restart()
  const cold = await gateway.load(load)
  const warm = await gateway.load({ ...load, distinct: cold.requests })
  const one = await gateway.load({ ...load, distinct: 1 })
  return [
    { name: NAMES.cold, ...where, ...cold },
    { name: NAMES.warm, ...where, ...warm },
    { name: NAMES.one, ...where, ...one },
  ]
}

/**
 * Measures the bare Hono server and then verifying, at each number of connections.
 *
 * @param flags Node options of the gateway, for profiling.
 */
export async function runVerifyCases(
  limits: Limits,
  connections: readonly number[],
  tell: (done: Case) => void,
  flags: readonly string[] = [],
): Promise<Case[]> {
  const cases: Case[] = []
  const add = (measured: Case) => {
    const done = { ...measured, load: loadavg()[0] ?? 0 }
    cases.push(done)
    tell(done)
  }
  await measureIssue(limits, {
    connections: USUAL,
    blockTime: 0,
    flags,
    after: async (restart) => {
      for (const at of connections) {
        const echo = await measureEcho(limits, at)
        add({ name: NAMES.echo, connections: at, ...echo })
        for (const row of await verifyAll(limits, at, restart))
          add({ ...row, toEcho: row.perSecond / echo.perSecond })
      }
    },
  })
  return cases
}
