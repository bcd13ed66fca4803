import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { LocalChainError, type LocalChainErrorCode } from './errors.ts'
import type { LocalChain, LocalChainOptions } from './local-chain.ts'

/** What the thread is started with. */
export type ThreadOptions = Omit<LocalChainOptions, 'log'>

/** To the thread: a JSON-RPC request, a folder to copy the chain to, or that it is to end. */
export type ToThread = ToAnswer | 'stop'
export type ToAnswer = { id: number } & ({ body: string } | { copyTo: string })

/** From the thread. */
export type FromThread =
  | { kind: 'log'; line: string }
  | { kind: 'ready'; chain: Pick<LocalChain, 'url' | 'chainId'> }
  | { kind: 'failed'; code?: LocalChainErrorCode; message: string }
  /** The body is empty for a copy that was made. */
  | { kind: 'answer'; id: number; body: string }
  | { kind: 'no answer'; id: number; message: string }

const ENDED = 'the local chain has ended'

type Asker = {
  resolve: (body: string) => void
  reject: (error: Error) => void
}

/**
 * {@link startLocalChain} in a thread of its own, as a node is a program of its own: neither waits while the other is busy.
 *
 * @throws {LocalChainError} with a message that says what the user can do
 */
export async function startLocalChainThread({
  log,
  ...options
}: LocalChainOptions): Promise<LocalChain> {
  const thread = new Worker(new URL('./thread-main.ts', import.meta.url), {
    workerData: options satisfies ThreadOptions,
  })
  const asking = new Map<number, Asker>()
  const started = Promise.withResolvers<LocalChain>()
  let lastId = 0
  let ended = false
  let stopping: Promise<void> | undefined

  function ask(what: { body: string } | { copyTo: string }): Promise<string> {
    return new Promise((resolve, reject) => {
      if (ended) throw new Error(ENDED)
      const id = ++lastId
      asking.set(id, { resolve, reject })
      thread.postMessage({ id, ...what } satisfies ToThread)
    })
  }

  async function stop(): Promise<void> {
    if (ended) return
    const exit = once(thread, 'exit')
    thread.postMessage('stop' satisfies ToThread)
    await exit
  }

  function take(id: number): Asker | undefined {
    const asker = asking.get(id)
    asking.delete(id)
    return asker
  }

  thread.on('message', (message: FromThread) => {
    if (message.kind === 'log') log(message.line)
    else if (message.kind === 'answer') take(message.id)?.resolve(message.body)
    else if (message.kind === 'no answer') take(message.id)?.reject(new Error(message.message))
    else if (message.kind === 'failed') started.reject(errorOf(message))
    else
      started.resolve({
        ...message.chain,
        send: (body) => ask({ body }),
        copyTo: async (dir) => {
          await ask({ copyTo: dir })
        },
        stop: () => (stopping ??= stop()),
      })
  })
  thread.once('exit', () => {
    ended = true
    for (const { reject } of asking.values()) reject(new Error(ENDED))
    asking.clear()
  })
  // Without a listener for errors, what the thread throws ends this process, as if it had been thrown here.
  return started.promise
}

function errorOf({ code, message }: FromThread & { kind: 'failed' }): Error {
  return code === undefined ? new Error(message) : new LocalChainError(code, message)
}
