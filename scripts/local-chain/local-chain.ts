import { resolve } from 'node:path'
import { answerTo, listen } from './front.ts'
import { makeDir } from './generations.ts'
import { lock } from './lock.ts'
import type { Log } from './running.ts'
import { Writer } from './writer.ts'

const CHAIN_ID = 31337
const DRAIN_MS = 1_000
const CHECKPOINT_EVERY_MS = 60_000
const FUND_WEI = `0x${(1_000_000n * 10n ** 18n).toString(16)}`

export type LocalChainOptions = {
  /** Where the chain lives; it holds nothing else. */
  dataDir: string
  /** 0 takes a free one. */
  port: number
  host: string
  log: Log
  /** Addresses that get 1,000,000 ETH if they have none. */
  fund?: readonly string[]
  /** Milliseconds between checkpoints while it is never idle; it is always checkpointed when it is. */
  checkpointEvery?: number
}

export type LocalChain = {
  url: string
  chainId: typeof CHAIN_ID
  /** Sends the text of a JSON-RPC request from within this process, and gives the text of the answer. */
  send: (body: string) => Promise<string>
  /** Copies the chain into a folder as it is between two changes, with everything that was answered. */
  copyTo: (dir: string) => Promise<void>
  /** Ends the chain in a clean state. May be called more than once. */
  stop: () => Promise<void>
}

const fundAll = async (writer: Writer, addresses: readonly string[]): Promise<void> => {
  for (const address of addresses) {
    await writer.submit(async (make) => {
      if ((await writer.anvil.call('eth_getBalance', address, 'latest')) !== '0x0') return
      await make({ method: 'anvil_setBalance', params: [address, FUND_WEI] })
    })
  }
}

/**
 * Starts the embedded chain, as it was when the last process stopped or was killed: every transaction that was answered is
 * there, in the same block with the same hash.
 * @throws {LocalChainError} with a message that says what the user can do
 */
export const startLocalChain = async ({
  dataDir,
  port,
  host,
  log,
  fund = [],
  checkpointEvery = CHECKPOINT_EVERY_MS,
}: LocalChainOptions): Promise<LocalChain> => {
  // Absolute: Anvil runs in that directory.
  const dir = resolve(dataDir)
  await makeDir(dir)
  const held = lock(dir)
  const writer = new Writer(dir, log, checkpointEvery)
  let stopping: Promise<void> | undefined
  try {
    const front = await listen(writer, host, port, DRAIN_MS)
    const stop = async () => {
      await front.close()
      await writer.stop()
      held.release()
    }
    try {
      await writer.start()
      await fundAll(writer, fund)
    } catch (error) {
      await front.close()
      await writer.stop()
      throw error
    }
    return {
      url: `http://${host}:${front.port}`,
      chainId: CHAIN_ID,
      send: async (text) => {
        const { status, body } = await answerTo(writer, text)
        if (status !== 200) throw new Error(`HTTP ${status}`)
        return body.toString()
      },
      copyTo: (to) => writer.copyTo(to),
      stop: () => (stopping ??= stop()),
    }
  } catch (error) {
    held.release()
    throw error
  }
}
