import type { Worker } from 'node:worker_threads'
import type { CheckedLines, SealedRoot, Sealer } from './sealer.ts'
import type { Task, TaskCalls } from './sealing-work.ts'
import { createThreadTasks } from './thread-tasks.ts'

/**
 * Checks and seals in a thread: what takes most of a batch's time then does not hold up requests,
 * and uses another core than the database does.
 *
 * @param newThread Starts a thread that serves tasks; see gateway/parts/sealing-thread.ts.
 * @param signal Ends the thread.
 */
export function createThreadSealer(newThread: () => Worker, signal: AbortSignal): Sealer {
  const { run } = createThreadTasks<Task, TaskCalls>(newThread, signal)

  async function reading(
    chunks: AsyncIterable<Uint8Array>,
    task: Task,
    parts: Partial<TaskCalls>,
  ): Promise<unknown> {
    const iterator = chunks[Symbol.asyncIterator]()
    const read = async () => (await iterator.next()).value
    try {
      return await run(task, { ...parts, read })
    } finally {
      // Not waited for: a client may be slow to send what nobody reads any more.
      iterator.return?.().catch(() => {})
    }
  }

  return {
    async check(chunks, rules, maxLines) {
      const checked = await reading(chunks, { kind: 'check', rules, maxLines }, {})
      if (checked === undefined) return undefined
      const lines = checked as CheckedLines
      return { ...lines, sha256: Buffer.from(lines.sha256) }
    },
    seal: async (chunks, order, parts) =>
      (await reading(chunks, { kind: 'seal', order }, parts)) as SealedRoot,
  }
}
