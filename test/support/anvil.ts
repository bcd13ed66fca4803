import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { START_AND_WATCH } from '#local-chain/anvil.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { freePort } from './http.ts'

/**
 * A plain Anvil without the local chain's journal: a kill loses what it has not saved. It ends
 * together with this process, however that ends.
 */
export type AnvilNode = {
  url: string
  request<T>(method: string, ...params: unknown[]): Promise<T>
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again on the same port, with the state of the last `save` or an empty chain. */
  start(): Promise<void>
  /** Stops it with SIGTERM, so that it saves its state, and starts it again. */
  save(): Promise<void>
}

/**
 * @param dir The folder for its state file.
 * @param options Additional command-line options.
 * @param finality Half the blocks by which the finalized block is behind the head. The default is
 * so large that no test loses a final block by accident.
 * @param prepare Runs at each start, before the first block.
 */
export async function startAnvilNode(
  dir: string,
  options: readonly string[] = [],
  finality = 5000,
  prepare: (request: AnvilNode['request']) => Promise<void> = async () => {},
): Promise<AnvilNode> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  // The oracle reads the whole chain at once.
  const provider = createFetchProvider(url, 60_000)
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
  let child: ChildProcess

  async function start(): Promise<void> {
    const args = ['--quiet', '--port', String(port), ...STATE, ...options]
    const program = [binary(), ...args, '--slots-in-an-epoch', String(finality)]
    child = spawn('/bin/sh', ['-c', START_AND_WATCH, 'sh', ...program], {
      cwd: dir,
      env: {},
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    })
    const pipe = child.stdio[3] as Socket
    child.once('exit', () => pipe.destroy())
    pipe.unref()
    while (!(await answers())) {
      if (child.exitCode !== null) throw new Error(`Anvil ended with ${child.exitCode}`)
      await sleep(10)
    }
    await prepare(request)
    // Anvil has no state of blocks before its start, so a reorg back to one would lose everything.
    await request('anvil_mine', '0x10')
  }

  const answers = () =>
    request('eth_chainId').then(
      () => true,
      () => false,
    )

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  await start()
  return {
    url,
    request,
    start,
    kill: () => end('SIGKILL'),
    async save() {
      await end('SIGTERM')
      await start()
    },
  }
}

/** @returns The running Anvil of the local chain in this folder; needs /proc. */
export function localAnvil(dir: string): { pid: number; port: number } | undefined {
  for (const pid of existsSync('/proc') ? readdirSync('/proc') : []) {
    try {
      if (!/^\d+$/.test(pid) || readlinkSync(`/proc/${pid}/cwd`) !== realpathSync(dir)) continue
      const [program = '', ...options] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      if (!program.endsWith('/anvil')) continue
      return { pid: Number(pid), port: Number(options[options.indexOf('--port') + 1]) }
    } catch {
      // The process has ended meanwhile, or belongs to another user.
    }
  }
  return undefined
}

/**
 * Keeps history, so that tests can read at stale heads. Anvil's own save every minute is off: a
 * kill would not lose what it saved, and it may answer nothing meanwhile, for 46 s in a long run.
 */
const STATE = [
  '--state',
  'state.json',
  '--preserve-historical-states',
  '--state-interval',
  '999999999',
]

/** Uses the native binary, because a kill of the package's Node wrapper would not reach it. */
function binary(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`
  const { resolve } = createRequire(import.meta.url)
  return join(dirname(resolve(`${name}/package.json`)), 'bin', 'anvil')
}
