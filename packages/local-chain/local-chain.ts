import { chmodSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LocalChainError } from './errors.ts'
import { answer, listen } from './front.ts'
import { type Log, Writer } from './writer.ts'

const FUND_WEI = `0x${(1_000_000n * 10n ** 18n).toString(16)}`
const SQLITE_BUSY = 5

export type LocalChainOptions = {
  /** The folder of the chain, which contains nothing else. */
  dataDir: string
  /** 0 = any free port. */
  port: number
  host: string
  log: Log
  /** Addresses that get 1,000,000 ETH if their balance is 0. */
  fund?: readonly string[]
}

export type LocalChain = {
  url: string
  /** Answers a JSON-RPC request (JSON text) within this process. */
  send: (body: string) => Promise<string>
  /** Stops the chain. May be called more than once. */
  stop: () => Promise<void>
}

/**
 * Starts the embedded chain in the state in which the last process stopped or was killed. Every
 * acknowledged transaction is in the same block with the same hash.
 *
 * @throws {LocalChainError} with a message that says what the user can do
 */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { dataDir, port, host, log, fund = [] } = options
  // The path is absolute, because Anvil runs in that directory.
  const dir = resolve(dataDir)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const held = lock(dir)
  const writer = new Writer(dir, log)
  let close = async () => {}
  const stop = async () => {
    await close()
    await writer.stop()
    held.release()
  }
  let stopping: Promise<void> | undefined
  try {
    const front = await listen(writer, host, port)
    close = front.close
    await writer.start()
    for (const address of fund) await give(writer, address)
    return {
      url: `http://${host}:${front.port}`,
      send: (text) => answer(writer, text),
      stop: () => (stopping ??= stop()),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function give(writer: Writer, address: string): Promise<void> {
  await writer.submit(async () => {
    const balance = await writer.chain.anvil.call('eth_getBalance', address, 'latest')
    const method = 'anvil_setBalance'
    return balance === '0x0' ? { method, params: [address, FUND_WEI] } : undefined
  })
}

/**
 * Locks a data directory for this process. The kernel releases the lock when the process ends in
 * any way. Node has no flock, so this uses SQLite's lock on a separate file, which works on every
 * platform.
 * @throws {LocalChainError} `data_dir_in_use` while another process (or another chain of this one)
 * holds it
 */
function lock(dir: string): { release: () => void } {
  const path = join(dir, 'lock.db')
  const database = new DatabaseSync(path)
  try {
    // Never open this file elsewhere, because closing it would release this process's lock.
    chmodSync(path, 0o600)
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    if ((cause as { errcode?: number }).errcode !== SQLITE_BUSY) throw cause
    throw new LocalChainError(
      'data_dir_in_use',
      `The local chain in ${dir} is already running in another process. Stop that one first, or start with another DATA_DIR (and other ports).`,
      { cause },
    )
  }
  return { release: () => database.close() }
}
