// The program of the local chain's thread: see thread.ts.
import { parentPort, workerData } from 'node:worker_threads'
import { LocalChainError } from './errors.ts'
import { type LocalChain, startLocalChain } from './local-chain.ts'
import type { FromThread, ThreadOptions, ToAnswer, ToThread } from './thread.ts'

const tell = (message: FromThread) => parentPort?.postMessage(message)

async function answer(chain: LocalChain, ask: ToAnswer) {
  const { id } = ask
  try {
    tell({ kind: 'answer', id, body: await carryOut(chain, ask) })
  } catch (error) {
    tell({ kind: 'no answer', id, message: messageOf(error) })
  }
}

async function carryOut(chain: LocalChain, ask: ToAnswer): Promise<string> {
  if ('body' in ask) return chain.send(ask.body)
  await chain.copyTo(ask.copyTo)
  return ''
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
    message === 'stop' ? stop(chain) : answer(chain, message),
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
