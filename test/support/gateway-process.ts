import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseRegistryId, type RegistryId } from '#document/registry-id.ts'
import { COMPILE_CACHE } from './compile-cache.ts'
import { DOCREG_GATEWAY } from './docreg.ts'
import type { Order } from './gateway-preload.ts'
import { API_KEY, randomKey } from './given.ts'

/** The maximum duration of a start in milliseconds. */
const PATIENCE = 120_000

/** A gateway in its own process, as users run it, which a test can kill. */
export type GatewayProcess = {
  url: string
  /** @returns Milliseconds until it was ready. Rejects with its output when it ends first. */
  start(): Promise<number>
  /** Starts it without waiting. */
  launch(): void
  /** Waits until `/readyz` answers 200. */
  ready(): Promise<void>
  /** Kills it with SIGKILL. Does nothing if it has ended. */
  kill(): Promise<void>
  /** Stops it for a while, like a paused machine, and continues it. */
  pause(): void
  resume(): void
  /** Stops it with SIGTERM, like a supervisor. @returns Its exit code. */
  stop(): Promise<number | null>
  /** Resolves when the process has ended for any reason. */
  ended(): Promise<void>
  running(): boolean
  /** Rejects when it ends before it confirms. */
  tell(order: Order): Promise<void>
  /** The last part of its output. */
  output(): string
}

/** The settings of a gateway of issuer 1, without `PORT`, `DATA_DIR` and `ISSUER_KEY`. */
export const settingsOf = (rpcUrl: string, registry: RegistryId) => ({
  API_KEY,
  RPC_URL: rpcUrl,
  REGISTRY_ADDRESS: parseRegistryId(registry).address,
  ISSUER_ID: '1',
  ISSUER_SECRET: randomKey(),
  // A chain that makes a block for each transaction stands still in between.
  MAX_HEAD_AGE_SECONDS: '999999999',
})

const PRELOAD = new URL('./gateway-preload.ts', import.meta.url).href

/** @param env The complete environment, including `PORT`. Rates are limited only if it says so. */
export function gatewayProcess(env: Record<string, string>): GatewayProcess {
  const url = `http://127.0.0.1:${env.PORT}`
  let child: ChildProcess | undefined
  let text = ''

  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null

  function launch(): void {
    if (running()) throw new Error('the gateway is already running')
    child = spawn(process.execPath, ['--import', PRELOAD, DOCREG_GATEWAY, 'start'], {
      env: { ...COMPILE_CACHE, RATE_LIMIT: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        text = (text + chunk).slice(-20_000)
      })
  }

  async function ready(): Promise<void> {
    const deadline = performance.now() + PATIENCE
    while (!(await isReady(url))) {
      if (!running()) throw new Error(`the gateway ended:\n${text}`)
      if (performance.now() > deadline)
        throw new Error(`the gateway did not become ready:\n${text}`)
      await sleep(10)
    }
  }

  async function ended(): Promise<void> {
    if (child && running()) await once(child, 'exit')
  }

  return {
    url,
    launch,
    ready,
    running,
    ended,
    async start() {
      const began = performance.now()
      launch()
      await ready()
      return performance.now() - began
    },
    async kill() {
      child?.kill('SIGKILL')
      await ended()
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async stop() {
      child?.kill('SIGTERM')
      await ended()
      return child?.exitCode ?? null
    },
    async tell(order) {
      const process = child
      if (!process || !running()) throw new Error('the gateway has ended')
      await new Promise<void>((resolve, reject) => {
        process.once('message', () => resolve())
        process.once('exit', () => reject(new Error('the gateway has ended')))
        process.send(order, (error) => error && reject(error))
      })
    },
    output: () => text,
  }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`, {
    signal: AbortSignal.timeout(PATIENCE),
  }).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.status === 200
}
