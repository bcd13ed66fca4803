// Starts a gateway in a folder of its own, sends it load, and measures. `before.ts` finds this file
// by its path in older checkouts, and calls `inFolder`, `startGateway`, `load` and `stop`.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseRegistryId } from '#document/registry-id.ts'
import { freePort } from '#local-chain/free-port.ts'
import { anvilPidOf, type BenchChain, startClockedChain, startInstantChain } from './chain.ts'
import { issueHashes } from './direct.ts'
import type { LoadOptions, LoadResult } from './load.ts'
import {
  type Limits,
  metered,
  ROOT,
  type Running,
  runScript,
  startScript,
  untilReady,
  usageOf,
} from './processes.ts'

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
const PROGRAMS = [
  'apps/docreg-gateway/docreg-gateway.ts',
  'operate/docreg-gateway.ts',
  'operate/start.ts',
  'scripts/start.ts',
]
/** The Node options of `npm start`. */
const { START_FLAGS }: { START_FLAGS: readonly string[] } = await import(
  new URL('../../scripts/start-flags.mjs', import.meta.url).href
)

/**
 * The gateway's number of transactions in flight. With blocks at fixed times, the gas limit of a
 * block is reached first.
 */
const IN_FLIGHT = 10

type Service = Running & { url: string }

type ServiceOptions = {
  /** The folder of another checkout, set up. */
  checkout?: string
  env?: Record<string, string>
  /** More Node options. */
  flags?: readonly string[]
  /** A file descriptor for its log. */
  errors?: number
}

/** Starts a gateway with the settings of `npm start`, and waits until it is ready. */
export async function startService(
  dataDir: string,
  { checkout = ROOT, env = {}, flags = [], errors }: ServiceOptions,
): Promise<Service> {
  const port = await freePort()
  const program = PROGRAMS.map((place) => join(checkout, place)).find(existsSync)
  if (program === undefined) throw new Error(`${checkout} is not a checkout of this project`)
  const settings = { PORT: String(port), CHAIN_PORT: '0', DATA_DIR: dataDir, API_KEY, ...env }
  const service = startScript(program, ['start'], settings, [...START_FLAGS, ...flags], errors)
  const url = `http://127.0.0.1:${port}`
  await untilReady(`${url}/readyz`)
  return { ...service, url }
}

/** Issues documents on a fresh chain. */
export async function measureIssue(
  limits: Limits,
  options: {
    connections: number
    blockTime: number
    env?: Record<string, string>
    /** Runs afterwards on the issued documents; receives a function that restarts the gateway. */
    after?: (restart: () => Promise<RunningGateway>) => Promise<void>
  },
): Promise<Row> {
  return inFolder(async (dataDir) => {
    const { connections, blockTime, env, after } = options
    const chain = blockTime === 0 ? undefined : await startClockedChain(dataDir, blockTime)
    try {
      const start = () => startGateway(dataDir, chain, env)
      let gateway = await start()
      const issued = await gateway.load({ kind: 'issue', connections, ...limits })
      await after?.(async () => {
        await gateway.stop()
        gateway = await start()
        return gateway
      })
      await gateway.stop()
      return issued
    } finally {
      await chain?.stop()
    }
  })
}

/** `issueMany` without the gateway. @param blockTime Seconds; 0 = the local chain. */
export async function measureRaw(limits: Limits, blockTime: number): Promise<Row> {
  return inFolder(async (dataDir) => {
    const isInstant = blockTime === 0
    const chain = await (isInstant
      ? startInstantChain(dataDir)
      : startClockedChain(dataDir, blockTime))
    try {
      const inFlight = isInstant ? Number.POSITIVE_INFINITY : IN_FLIGHT
      const { result, seconds, cpu } = await metered({ anvil: chain.anvilPid }, () =>
        issueHashes(chain, { ...limits, inFlight }),
      )
      return {
        requests: result,
        perSecond: result / seconds,
        ...known({ anvilCpu: (cpu.anvil * 1e6) / result }),
      }
    } finally {
      await chain.stop()
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
    const row = await loaded({ gateway: server.pid, anvil: undefined }, dataDir, url, {
      kind: 'echo',
      connections,
      ...limits,
    })
    await server.stop()
    return row
  })
}

export type Load = Pick<LoadOptions, 'kind' | 'connections' | 'seconds' | 'distinct'> & {
  documents: number
}

/** The chain of a gateway; `issuerKey` may be a list. */
type GatewayChain = Pick<BenchChain, 'url' | 'registry' | 'anvilPid'> & { issuerKey: string }

export type RunningGateway = Service & { load(options: Load): Promise<Row> }

/** @param chain The chain; absent = the local chain of `npm start`. @param flags Node options. */
export async function startGateway(
  dataDir: string,
  chain: GatewayChain | undefined,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
): Promise<RunningGateway> {
  const settings = {
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
  }
  const service = await startService(dataDir, { env: settings, flags })
  const pids = { gateway: service.pid, anvil: chain ? chain.anvilPid : anvilPidOf(dataDir) }
  return { ...service, load: (load) => loaded(pids, dataDir, service.url, load) }
}

async function loaded(
  pids: Record<'gateway' | 'anvil', number | undefined>,
  dataDir: string,
  url: string,
  { documents, ...load }: Load,
): Promise<Row> {
  const options = {
    ...load,
    url,
    requests: documents,
    apiKey: API_KEY,
    idsFile: join(dataDir, 'ids'),
  }
  const { result, cpu } = await metered(pids, () =>
    runScript<LoadResult>('tools/bench/load.ts', options),
  )
  const { requests, failures, seconds, p50, p99 } = result
  return {
    requests,
    perSecond: requests / seconds,
    failures,
    p50,
    p99,
    ...known({
      peak: usageOf(pids.gateway)?.peak ?? Number.NaN,
      gatewayCpu: (cpu.gateway * 1e6) / requests,
      anvilCpu: (cpu.anvil * 1e6) / requests,
    }),
  }
}

/** @returns The figures that the system reported. */
function known<K extends string>(figures: Record<K, number>): Partial<Record<K, number>> {
  const entries = Object.entries<number>(figures).filter(([, figure]) => !Number.isNaN(figure))
  return Object.fromEntries(entries) as Partial<Record<K, number>>
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
