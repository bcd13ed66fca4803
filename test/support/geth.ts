import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { goTool } from '#tools/go-tool.ts'
import { createFetchProvider } from '#verifier/readers/json-rpc.ts'
import { freePort } from './http.ts'

/**
 * @returns The path of the binary; `undefined` on a machine that cannot build it. The version is
 * the newest that builds from the module proxy alone.
 */
export const gethBinary = (): Promise<string | undefined> =>
  goTool({
    module: 'github.com/ethereum/go-ethereum',
    version: 'v1.17.10',
    command: './cmd/geth',
  })

/** The first account of geth's developer mode, which makes the blocks. */
const DEVELOPER = '0x71562b71999873db5b286df957af199ec94617f7'
/** The deterministic deployment proxy, which geth adds and tests create. */
const PROXY = '4e59b44847b379578588920ca78fbf26c0b4956c'

/** A real geth with its own chain and a block every second. */
export type GethNode = {
  url: string
  request<T>(method: string, ...params: unknown[]): Promise<T>
  fund(account: string): Promise<void>
  /** Kills it with SIGKILL. */
  kill(): Promise<void>
  /**
   * Starts it again on the same port, with the chain of the last `save` and what geth has written
   * since.
   */
  start(): Promise<void>
  /** Stops it with SIGTERM, so that it writes its state, and starts it again. */
  save(): Promise<void>
}

/**
 * @param options Additional command-line options, read at each start.
 * @param isAmsterdam Whether that fork is active, instead of Osaka. `--override.amsterdam` with
 * seconds of the Unix epoch makes it come later.
 */
export async function startGethNode(
  binary: string,
  dir: string,
  options: readonly string[] = [],
  isAmsterdam = false,
): Promise<GethNode> {
  const [port, authPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  // The oracle reads the whole chain at once.
  const provider = createFetchProvider(url, 60_000)
  const request = <T>(method: string, ...params: unknown[]) =>
    provider.request({ method, params }) as Promise<T>
  let child: ChildProcess

  async function start(): Promise<void> {
    child = spawn(
      binary,
      [
        '--dev',
        '--dev.period',
        '1',
        '--datadir',
        dir,
        '--http',
        '--http.port',
        String(port),
        '--http.api',
        'eth,net,txpool,debug',
        '--authrpc.port',
        String(authPort),
        // The deployment offers a tip of one wei.
        '--miner.gasprice',
        '1',
        '--ipcdisable',
        '--verbosity',
        '0',
        ...options,
      ],
      { stdio: 'ignore', env: { HOME: dir } },
    )
    while (!(await answers())) {
      if (child.exitCode !== null) throw new Error(`geth ended with ${child.exitCode}`)
      await sleep(20)
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  const answers = () =>
    request('eth_chainId').then(
      () => true,
      () => false,
    )

  await initialize(binary, dir, isAmsterdam)
  await start()
  return {
    url,
    request,
    start,
    async fund(account) {
      const [rich] = await request<[string]>('eth_accounts')
      await request('eth_sendTransaction', {
        from: rich,
        to: account,
        value: '0x56bc75e2d63100000',
      })
      while (BigInt(await request<string>('eth_getBalance', account, 'latest')) === 0n)
        await sleep(50)
    },
    kill: () => end('SIGKILL'),
    async save() {
      await end('SIGTERM')
      await start()
    },
  }
}

/** Makes the chain of geth's developer mode, with as much room for gas as mainnet. */
async function initialize(binary: string, dir: string, isAmsterdam: boolean): Promise<void> {
  const run = promisify(execFile)
  const { config, alloc, ...genesis } = JSON.parse(
    (await run(binary, ['--dev', 'dumpgenesis'])).stdout,
  )
  const file = join(dir, 'genesis.json')
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    file,
    JSON.stringify({
      ...genesis,
      // Without Amsterdam, Bogota would be its instructions without its rules.
      config: { ...config, bogotaTime: undefined, ...(isAmsterdam && { amsterdamTime: 0 }) },
      alloc: { ...alloc, [PROXY]: undefined, [DEVELOPER]: { balance: `0x1${'0'.repeat(30)}` } },
      gasLimit: '0x3938700',
    }),
  )
  await run(binary, ['init', '--datadir', dir, file])
}
