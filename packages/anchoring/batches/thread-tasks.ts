import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'

// Both ends of a task that runs in another thread and calls functions of the main thread. Each task
// has its own port: closing it ends the task, whatever it waits for.

type Functions = Record<string, (argument: never) => Promise<unknown>>

/**
 * Calls a function in the main thread. Rejects once the task has ended.
 *
 * @param transfer Buffers in the argument that are moved instead of copied. Here they are then
 * empty.
 */
export type Call<F extends Functions> = <N extends keyof F & string>(
  name: N,
  argument: Parameters<F[N]>[0],
  transfer?: ArrayBuffer[],
) => ReturnType<F[N]>

type FromThread =
  | { call: number; name: string; argument: never }
  | { result: unknown }
  | { error: unknown }
type ToThread = { reply: number; value: unknown }
type Start = { task: unknown; port: MessagePort }

/** Runs tasks in one thread, which is started when it is first needed or has died. */
export type ThreadTasks<T, F extends Functions> = {
  /** Rejects with the error of a function or of the task, or when the thread has ended. */
  run(task: T, functions: Partial<F>): Promise<unknown>
}

/** @param signal Ends the thread. */
export function createThreadTasks<T, F extends Functions>(
  newThread: () => Worker,
  signal: AbortSignal,
): ThreadTasks<T, F> {
  let thread: Worker | undefined

  function start(): Worker {
    signal.throwIfAborted()
    const started = newThread()
    const end = () => void started.terminate()
    signal.addEventListener('abort', end, { once: true })
    started.once('exit', () => {
      signal.removeEventListener('abort', end)
      if (thread === started) thread = undefined
    })
    // If the thread dies, only its tasks fail.
    started.on('error', () => {})
    // The port of a task keeps the process alive; an idle thread does not.
    started.unref()
    return started
  }

  return {
    async run(task, functions) {
      thread ??= start()
      const worker = thread
      const { port1, port2 } = new MessageChannel()
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          port1.close()
          worker.off('exit', died)
          finish()
        }
        const died = () => settle(() => reject(new Error('the thread has ended')))
        worker.once('exit', died)
        port1.on('message', async (message: FromThread) => {
          if ('result' in message) return settle(() => resolve(message.result))
          if ('error' in message) return settle(() => reject(message.error))
          try {
            const value = await functions[message.name]?.(message.argument)
            port1.postMessage({ reply: message.call, value } satisfies ToThread)
          } catch (error) {
            settle(() => reject(error))
          }
        })
        worker.postMessage({ task, port: port2 } satisfies Start, [port2])
      })
    },
  }
}

/** Serves the tasks of {@link createThreadTasks}. @param parent The `parentPort` of the thread. */
export function serveTasks<T, F extends Functions>(
  parent: MessagePort,
  run: (task: T, call: Call<F>) => Promise<unknown>,
): void {
  parent.on('message', async ({ task, port }: Start) => {
    const { call, end } = createCalls<F>(port)
    try {
      port.postMessage({ result: await run(task as T, call) })
    } catch (error) {
      port.postMessage({ error })
    } finally {
      end()
    }
  })
}

function createCalls<F extends Functions>(port: MessagePort): { call: Call<F>; end: () => void } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let calls = 0
  let isOpen = true

  function end(): void {
    isOpen = false
    for (const { reject } of waiting.values()) reject(new Error('the task was ended'))
    waiting.clear()
  }

  function call<N extends keyof F & string>(
    name: N,
    argument: Parameters<F[N]>[0],
    transfer: ArrayBuffer[] = [],
  ): ReturnType<F[N]> {
    const answer = Promise.withResolvers<unknown>()
    waiting.set(++calls, answer)
    if (isOpen) port.postMessage({ call: calls, name, argument }, transfer)
    else end()
    return answer.promise as ReturnType<F[N]>
  }

  port.on('message', ({ reply, value }: ToThread) => {
    waiting.get(reply)?.resolve(value)
    waiting.delete(reply)
  })
  port.once('close', end)
  return { call, end }
}
