import { parentPort } from 'node:worker_threads'
import { turnAfter } from '#base/concurrency.ts'
import { hkdfWithNode } from '#base/node-crypto.ts'
import { createRows } from '#document/batch/rows.ts'
import type { DocumentFields } from '#document/document.ts'
import { createIndexEntryOf } from '#promise/blind-index.ts'
import { checkLines, type Rules, readLines } from './lines.ts'
import { ENTRY_BYTES, packBlocks, packDocuments, writeEntry } from './packed.ts'
import { createKeeper, type SealedDocument, sealBatch } from './seal-batch.ts'
import type { CheckedLines, SealedRoot, SealOrder, Task, TaskCalls } from './sealer.ts'
import { type Call, serveTasks } from './thread-tasks.ts'

// The batch worker. The upload and the database stay in the main thread.

/** The number of blocks or documents that are stored together. */
const GROUP_SIZE = 256
/** The maximum number of groups being stored while the next one is made. */
const MAX_AHEAD = 2

if (parentPort)
  serveTasks<Task, TaskCalls>(parentPort, (task, call) =>
    task.kind === 'check' ? check(task, call) : seal(task.order, call),
  )

class TooManyLines extends Error {}

async function check(
  { rules, maxLines }: { rules: Rules; maxLines: number },
  call: Call<TaskCalls>,
): Promise<CheckedLines | undefined> {
  const badLines: number[] = []
  try {
    const checked = await checkLines(chunksOf(call), rules, (line) => {
      if (line.line > maxLines) throw new TooManyLines()
      if ('problems' in line) badLines.push(line.line)
    })
    return { ...checked, badLines: Uint32Array.from(badLines) }
  } catch (error) {
    if (error instanceof TooManyLines) return undefined
    throw error
  }
}

async function seal(
  { rules, registry, issuerId, subkeys, tenant, salt }: SealOrder,
  call: Call<TaskCalls>,
): Promise<SealedRoot> {
  const send = createSend(call)
  const indexEntryOf = createIndexEntryOf(hkdfWithNode)
  const entries = createRows(ENTRY_BYTES)
  const row = new Uint8Array(ENTRY_BYTES)
  const view = new DataView(row.buffer)

  async function* documents(): AsyncGenerator<DocumentFields> {
    for await (const line of readLines(chunksOf(call), rules)) {
      await turnAfter(line.line)
      if ('problems' in line) continue
      const entry = indexEntryOf(subkeys, { ...line.fields, registry, issuerId }, tenant)
      writeEntry(entry, view)
      entries.push(row)
      yield line.fields
    }
  }

  const { batch, keepBlocks } = await sealBatch(
    {
      registry,
      issuerId,
      subkeys,
      keyOwner: salt.keyOwner,
      group: GROUP_SIZE,
      ahead: MAX_AHEAD,
      keep: (blocks) => send('keep', packBlocks(blocks)),
    },
    documents(),
    salt.idempotencyKey,
  )
  const { root, size, manifest } = batch
  const sealed = { root, size, manifest }
  const keeper = createKeeper<SealedDocument>(
    (some) => send('index', { ...packDocuments(some, tenant, entries.copyTo), batch: sealed }),
    GROUP_SIZE,
    MAX_AHEAD,
  )
  for await (const issued of keepBlocks()) {
    await keeper.add(issued)
    await turnAfter(issued.line)
  }
  await keeper.end()
  return sealed
}

/** @returns A function that passes groups on. Their arrays are moved to the main thread. */
function createSend(call: Call<TaskCalls>) {
  return <N extends 'keep' | 'index'>(name: N, group: Parameters<TaskCalls[N]>[0]) =>
    call(
      name,
      group,
      Object.values(group).flatMap((one) =>
        ArrayBuffer.isView(one) && one.buffer instanceof ArrayBuffer ? [one.buffer] : [],
      ),
    )
}

/** Requests the next chunk before it returns one, so that no chunk has to be waited for. */
async function* chunksOf(call: Call<TaskCalls>): AsyncGenerator<Uint8Array> {
  const read = () => {
    const chunk = call('read', undefined)
    // An error is reported when the chunk is awaited.
    chunk.catch(() => {})
    return chunk
  }
  for (let next = read(); ; ) {
    const chunk = await next
    if (chunk === undefined) return
    next = read()
    yield chunk
  }
}
