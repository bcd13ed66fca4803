import { Worker } from 'node:worker_threads'
import type { LocalChain, LocalChainOptions } from './local-chain.ts'

/** The options of the thread. */
export type ThreadOptions = Omit<LocalChainOptions, 'log'>

/** The body of a JSON-RPC request, or the order to stop. */
export type ToThread = { id: number; body: string } | 'stop'

export type FromThread =
  | { log: string }
  | { url: string }
  | { id: number; answer: string }
  | { id: number; failure: string }

/**
 * Runs {@link startLocalChain} in its own thread, so that gateway and chain do not block each
 * other.
 *
 * @throws {LocalChainError} with a message that says what the user can do
 */
export async function startLocalChainThread(options: LocalChainOptions): Promise<LocalChain> {
  const { log, ...workerData } = options
  const thread = new Worker(new URL('./thread-main.ts', import.meta.url), { workerData })
  const started = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<void>()
  const pending = new Map<number, PromiseWithResolvers<string>>()
  let lastId = 0
  let hasEnded = false

  thread.on('message', (message: FromThread) => {
    if ('log' in message) return log(message.log)
    if ('url' in message) return started.resolve(message.url)
    const request = pending.get(message.id)
    pending.delete(message.id)
    if ('answer' in message) request?.resolve(message.answer)
    else request?.reject(new Error(message.failure))
  })
  thread.once('error', started.reject)
  thread.once('exit', () => {
    hasEnded = true
    for (const { reject } of pending.values()) reject(new Error('the local chain has ended'))
    ended.resolve()
  })

  const url = await started.promise
  // From here on, an uncaught error in the thread ends this process.
  thread.off('error', started.reject)
  return {
    url,
    async send(body) {
      if (hasEnded) throw new Error('the local chain has ended')
      const request = Promise.withResolvers<string>()
      lastId += 1
      pending.set(lastId, request)
      thread.postMessage({ id: lastId, body } satisfies ToThread)
      return request.promise
    },
    stop() {
      thread.postMessage('stop' satisfies ToThread)
      return ended.promise
    },
  }
}
