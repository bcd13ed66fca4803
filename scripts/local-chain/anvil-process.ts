import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Anvil, originOf } from './anvil.ts'
import { isAbandoned, pidByNonce, readRecord, removeRecord, writeRecord } from './anvil-record.ts'
import { LocalChainError } from './errors.ts'
import type { Log } from './running.ts'

const LOG_LIMIT = 1_000_000

/** The native binary: the package's Node wrapper would be one more process that gets signals. */
const binary = (): string => {
  const name = `@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  try {
    const root = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
    return join(root, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (cause) {
    throw new LocalChainError(
      'anvil_missing',
      `The npm package ${name} is not installed: run npm install, or set RPC_URL to use another chain.`,
      { cause },
    )
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        resolve(typeof address === 'object' && address !== null ? address.port : 0),
      )
    })
  })

const openLog = async (dir: string): Promise<number> => {
  const path = join(dir, 'anvil.log')
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  )
  if (size > LOG_LIMIT) await rename(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

export type AnvilStart = {
  dir: string
  genesisTime: number
  statePath?: string
}

/**
 * Starts an Anvil that mines only when told to, and waits until it answers. It outlives us, so that a gateway can drain
 * before it stops, and so that a start after a kill finds it ready.
 * @throws `anvil_failed` if it ends first, for instance because the state cannot be loaded
 */
export const startAnvil = async ({ dir, genesisTime, statePath }: AnvilStart): Promise<Anvil> => {
  const nonce = randomBytes(16).toString('hex')
  const port = await freePort()
  const log = await openLog(dir)
  // Before there is a process: no kill can come between an Anvil and its record.
  writeRecord(dir, { pid: 0, port, nonce, ready: false })
  // The genesis time is needed with a state too: without it Anvil takes the wall clock for the time of the last block.
  const child = spawn(
    binary(),
    [
      ...[
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--allow-origin',
        originOf(nonce),
        '--quiet',
      ],
      ...['--chain-id', '31337', '--timestamp', String(genesisTime), '--no-mining'],
      ...['--slots-in-an-epoch', '1', '--prune-history', '10', '--enable-tx-gas-limit'],
      ...(statePath === undefined ? [] : ['--load-state', statePath]),
    ],
    // No environment: the gateway's holds keys.
    {
      cwd: dir,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log, log],
      env: {},
    },
  )
  closeSync(log)
  let ended: string | undefined
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', (code, signal) => {
    ended = `it ended with ${signal ?? code}`
  })
  child.unref()
  const anvil = new Anvil({ pid: child.pid ?? 0, port, nonce, ready: false })
  writeRecord(dir, anvil.process)
  while (!(await anvil.answers(5_000))) {
    if (ended !== undefined) {
      await anvil.disconnect()
      await removeRecord(dir)
      throw new LocalChainError(
        'anvil_failed',
        `Anvil cannot be started: ${ended}. See ${join(dir, 'anvil.log')}.`,
      )
    }
    await sleep(5)
  }
  return anvil
}

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * The Anvil that an earlier process left behind in this very folder, if it is alive.
 * One that lives and does not answer is ended here.
 */
export const leftOverAnvil = async (dir: string, log: Log): Promise<Anvil | undefined> => {
  const record = await readRecord(dir)
  if (record === undefined) return undefined
  if (!isAbandoned(dir, record)) {
    log(`${dir} is a copy of another folder, whose Anvil (process ${record.pid}) is left alone.`)
    return undefined
  }
  const anvil = new Anvil(record)
  if (await anvil.answers(2_000)) return anvil
  await anvil.disconnect()
  const pid = await pidByNonce(record.nonce)
  if (pid !== undefined) kill(pid)
  return undefined
}

/** Ends an Anvil and waits for it. Nothing is lost: it keeps no files, and the journal has everything. */
export const endAnvil = async (dir: string, anvil: Anvil): Promise<void> => {
  await anvil.disconnect()
  // The process id may long be another program's, unless this very Anvil answers.
  const { pid, nonce } = anvil.process
  const found = pid > 0 && (await anvil.answers(5_000)) ? pid : await pidByNonce(nonce)
  if (found !== undefined) {
    kill(found)
    while (await anvil.answers(5_000)) await sleep(2)
  }
  await removeRecord(dir)
}
