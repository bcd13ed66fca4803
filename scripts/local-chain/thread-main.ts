// The program of the local chain's thread: see thread.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { LocalChainError } from './errors.ts'
import { type LocalChain, startLocalChain } from './local-chain.ts'
import type { FromThread, ThreadOptions, ToThread } from './thread.ts'

const tell = (message: FromThread) => parentPort?.postMessage(message)

async function answer(chain: LocalChain, id: number, body: string) {
  try {
    tell({ kind: 'answer', id, body: await chain.send(body) })
  } catch (error) {
    tell({ kind: 'no answer', id, message: messageOf(error) })
  }
}

async function stop(chain: LocalChain) {
  await chain.stop()
  // Of the thread, whatever is still open.
  process.exit()
}

try {
  const chain = await startLocalChain({
    ...(workerData as ThreadOptions),
    log: (line) => tell({ kind: 'log', line }),
  })
  parentPort?.on('message', (message: ToThread) =>
    message === 'stop' ? stop(chain) : answer(chain, message.id, message.body),
  )
  const { url, chainId } = chain
  tell({ kind: 'ready', chain: { url, chainId } })
} catch (error) {
  const code = error instanceof LocalChainError ? { code: error.code } : {}
  tell({ kind: 'failed', ...code, message: messageOf(error) })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
