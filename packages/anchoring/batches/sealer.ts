import type { Worker } from 'node:worker_threads'
import type { IssuerSubkeys } from '#document/keys.ts'
import type { RegistryId } from '#document/registry-id.ts'
import type { KnownBatch } from '#promise/batch-log.ts'
import type { Checked, Rules } from './lines.ts'
import type { PackedBlocks, PackedDocuments } from './packed.ts'
import { createThreadTasks } from './thread-tasks.ts'

/** Lines that have been checked. */
export type CheckedLines = Checked & {
  /** The numbers of the lines that are not documents, in ascending order. */
  badLines: Uint32Array
}

/** The documents to seal, and the tenant for whom they are sealed. */
export type SealOrder = {
  rules: Rules
  registry: RegistryId
  issuerId: number
  subkeys: IssuerSubkeys
  /** The tenant of the documents, for the index. */
  tenant: string
  /** The values from which the salts of the documents are derived; see `idempotentSalt`. */
  salt: { keyOwner: string; idempotencyKey: string }
}

export type SealedRoot = Pick<KnownBatch, 'root' | 'size' | 'manifest'>

/** Stores the parts of a batch. They are durable when the promises resolve. */
export type SealedParts = {
  keep(blocks: PackedBlocks): Promise<void>
  index(documents: PackedDocuments & { batch: SealedRoot }): Promise<void>
}

/** Checks and seals documents outside the event loop. */
export type Sealer = {
  /**
   * @param chunks The upload as NDJSON.
   * @returns `undefined` when it has more than `maxLines` lines.
   */
  check(
    chunks: AsyncIterable<Uint8Array>,
    rules: Rules,
    maxLines: number,
  ): Promise<CheckedLines | undefined>
  /**
   * Seals the documents of NDJSON and builds their batch.
   *
   * @returns The batch once all parts are stored. Rejects if storing a part rejects.
   */
  seal(chunks: AsyncIterable<Uint8Array>, order: SealOrder, parts: SealedParts): Promise<SealedRoot>
}

/** The tasks of the batch worker. */
export type Task =
  | { kind: 'check'; rules: Rules; maxLines: number }
  | { kind: 'seal'; order: SealOrder }

/** The functions of the main thread that a task calls. */
export type TaskCalls = SealedParts & {
  /** @returns The next chunk of the upload; `undefined` at its end. */
  read(nothing: undefined): Promise<Uint8Array | undefined>
}

/**
 * Checks and seals in a thread. This work takes most of the time of a batch; in a thread it does
 * not delay requests, and uses another core than the database.
 *
 * @param newThread Starts a thread that serves tasks; see sealing-work.ts.
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
      // Not awaited, because a client may be slow to send what is no longer read.
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
