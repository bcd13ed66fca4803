import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * `PASSIVE` runs beside writes and leaves out pages written meanwhile. `RESTART` copies all pages,
 * after which SQLite starts the log over; `TRUNCATE` also cuts the log to nothing. `VACUUM` writes
 * all that the database holds into the log again. A write during these three fails.
 */
export type CheckpointWork = 'PASSIVE' | 'RESTART' | 'TRUNCATE' | 'VACUUM'

/** The thread's reply. */
export type Checkpointed = { error?: string }

/** Writes a database's log into its file, in a thread of its own. */
export type Checkpointer = {
  /** Only one at a time. Rejects when the disk refuses; the log still has everything then. */
  run(work: CheckpointWork): Promise<void>
  /** Call it before the last connection is closed. */
  close(): Promise<void>
}

/** @param path The database's file. No connection may lock it exclusively. */
export function createCheckpointer(path: string): Checkpointer {
  let thread: Worker | undefined

  function start(): Worker {
    const started = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
      workerData: path,
    })
    started.once('exit', () => {
      thread = undefined
    })
    return started
  }

  return {
    async run(work) {
      thread ??= start()
      const { error } = await ask(thread, work)
      if (error !== undefined) throw new Error(error)
    },

    async close() {
      if (!thread) return
      thread.ref()
      const exited = once(thread, 'exit')
      thread.postMessage('close')
      await exited
    },
  }
}

/** Sends a request, and keeps the process alive until the reply. */
async function ask(thread: Worker, work: CheckpointWork): Promise<Checkpointed> {
  const over = new AbortController()
  const { signal } = over
  thread.ref()
  const ended = once(thread, 'exit', { signal }).then(() => [{ error: 'the thread has ended' }])
  const answered = once(thread, 'message', { signal })
  thread.postMessage(work)
  try {
    const [answer] = await Promise.race([answered, ended])
    return answer
  } finally {
    Promise.allSettled([answered, ended])
    over.abort()
    thread.unref()
  }
}
