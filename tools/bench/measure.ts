import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseRegistryId } from '#document/registry-id.ts'
import { freePort } from '#local-chain/free-port.ts'
import { anvilPidOf, type BenchChain, startClockedChain } from './chain.ts'
import type { LoadOptions, LoadResult } from './load.ts'
import { runScript, startScript, untilReady, usageOf } from './processes.ts'
import type { RawResult } from './raw.ts'

/** The limits of a case: it ends at this number of documents or seconds, whichever comes first. */
export type Limits = { documents: number; seconds: number }

/**
 * The figures of a case; figures that do not apply or that the system does not report are absent.
 */
export type Row = {
  requests: number
  perSecond: number
  failures?: number
  /** Milliseconds. */
  p50?: number
  p99?: number
  /** The gateway's maximum resident memory in bytes. */
  peak?: number
  /**
   * The processor time per request in microseconds, of the gateway (with the local chain's front)
   * and of Anvil.
   */
  gatewayCpu?: number
  anvilCpu?: number
}

export const API_KEY = 'the-key-of-the-benchmark'
/** The program that starts a gateway, and those of older checkouts. */
export const PROGRAMS = [
  'apps/docreg-gateway/docreg-gateway.ts',
  'operate/docreg-gateway.ts',
  'operate/start.ts',
  'scripts/start.ts',
]
/** The Node options of `npm start`. */
export const { START_FLAGS }: { START_FLAGS: readonly string[] } = await import(
  new URL('../../scripts/start-flags.mjs', import.meta.url).href
)

/** Issues documents on a fresh chain. */
export async function measureIssue(
  limits: Limits,
  options: {
    connections: number
    blockTime: number
    env?: Record<string, string>
    /** Node options, for profiling. */
    flags?: readonly string[]
    /** Runs afterwards on the issued documents; receives a function that restarts the gateway. */
    after?: (restart: () => Promise<RunningGateway>) => Promise<void>
  },
): Promise<Row> {
  return inFolder(async (dataDir) => {
    const { connections, blockTime, env, flags, after } = options
    const chain = blockTime === 0 ? undefined : await startClockedChain(dataDir, blockTime)
    try {
      const start = () => startGateway(dataDir, chain, env, flags)
      let gateway = await start()
      const issued = await gateway.load({
        kind: 'issue',
        connections,
        ...limits,
      })
      const restart = async () => {
        await gateway.stop()
        gateway = await start()
        return gateway
      }
      await after?.(restart)
      await gateway.stop()
      return issued
    } finally {
      await chain?.stop()
    }
  })
}

/** `issueMany` without the gateway. */
export async function measureRaw(limits: Limits, blockTime: number): Promise<Row> {
  return inFolder(async (dataDir) => {
    const raw = await runScript<RawResult>('tools/bench/raw.ts', {
      dataDir,
      blockTime,
      ...limits,
    })
    const { documents, seconds, anvilCpu } = raw
    return {
      requests: documents,
      perSecond: documents / seconds,
      ...(anvilCpu !== undefined && { anvilCpu: (anvilCpu * 1e6) / documents }),
    }
  })
}

/** Measures a bare Hono server with the same requests. */
export async function measureEcho(limits: Limits, connections: number): Promise<Row> {
  return inFolder(async (dataDir) => {
    const port = await freePort()
    const server = startScript('tools/bench/echo.ts', [], { PORT: String(port) })
    const url = `http://127.0.0.1:${port}`
    await untilReady(`${url}/readyz`)
    const row = await loaded({ gateway: server.pid }, dataDir, {
      url,
      kind: 'echo',
      connections,
      requests: limits.documents,
      seconds: limits.seconds,
    })
    await server.stop()
    return row
  })
}

type Load = Pick<LoadOptions, 'kind' | 'connections' | 'seconds' | 'distinct'> & {
  documents: number
}

/** The chain of a gateway; `issuerKey` may be a list. */
type GatewayChain = Pick<BenchChain, 'url' | 'registry' | 'anvilPid'> & { issuerKey: string }

export type RunningGateway = {
  pid: number
  url: string
  load(options: Load): Promise<Row>
  stop(): Promise<void>
}

/** @param chain The chain; absent = the local chain of `npm start`. @param flags Node options. */
export async function startGateway(
  dataDir: string,
  chain: GatewayChain | undefined,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<RunningGateway> {
  const port = await freePort()
  const gateway = startScript(
    'apps/docreg-gateway/docreg-gateway.ts',
    ['start'],
    {
      PORT: String(port),
      CHAIN_PORT: '0',
      DATA_DIR: dataDir,
      API_KEY,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'error',
      WAIT_SECONDS: '60',
      ...(chain && {
        RPC_URL: chain.url,
        REGISTRY_ADDRESS: parseRegistryId(chain.registry).address,
        ISSUER_ID: '1',
        ISSUER_KEY: chain.issuerKey,
        ISSUER_SECRET: `0x${'5e'.repeat(32)}`,
      }),
      ...env,
    },
    [...START_FLAGS, ...flags],
  )
  const url = `http://127.0.0.1:${port}`
  await untilReady(`${url}/readyz`)
  const anvil = chain ? chain.anvilPid : anvilPidOf(dataDir)
  return {
    pid: gateway.pid,
    url,
    load: ({ documents, ...load }) =>
      loaded({ gateway: gateway.pid, ...(anvil && { anvil }) }, dataDir, {
        url,
        requests: documents,
        ...load,
      }),
    stop: gateway.stop,
  }
}

async function loaded(
  pids: { gateway: number; anvil?: number },
  dataDir: string,
  options: Omit<LoadOptions, 'apiKey' | 'idsFile'>,
): Promise<Row> {
  const look = () => ({
    gateway: usageOf(pids.gateway),
    anvil: pids.anvil === undefined ? undefined : usageOf(pids.anvil),
  })
  const before = look()
  const { requests, failures, seconds, p50, p99 } = await runScript<LoadResult>(
    'tools/bench/load.ts',
    {
      ...options,
      apiKey: API_KEY,
      idsFile: join(dataDir, 'ids'),
    },
  )
  const after = look()
  const cpu = (of: 'gateway' | 'anvil') =>
    (((after[of]?.cpu ?? Number.NaN) - (before[of]?.cpu ?? Number.NaN)) * 1e6) / requests
  return {
    requests,
    perSecond: requests / seconds,
    failures,
    p50,
    p99,
    ...(after.gateway && {
      peak: after.gateway.peak,
      gatewayCpu: cpu('gateway'),
    }),
    ...(after.anvil && { anvilCpu: cpu('anvil') }),
  }
}

/** Runs work with a fresh data folder. */
export async function inFolder<T>(use: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'document-registry-bench-'))
  try {
    return await use(dataDir)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
