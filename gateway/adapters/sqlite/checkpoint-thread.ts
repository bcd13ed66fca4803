// Runs in the thread that checkpointer.ts starts.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Checkpointed, CheckpointMode } from './checkpointer.ts'

const sqlite = new DatabaseSync(workerData)
// Flushes the log and then the file, so that a power cut leaves a database that is whole.
sqlite.exec('PRAGMA synchronous = NORMAL')

function checkpoint(mode: CheckpointMode): Checkpointed {
  try {
    sqlite.prepare(`PRAGMA wal_checkpoint(${mode})`).get()
    return {}
  } catch (error) {
    return { error: String(error) }
  }
}

parentPort?.on('message', (mode: CheckpointMode | 'close') => {
  if (mode !== 'close') return parentPort?.postMessage(checkpoint(mode))
  sqlite.close()
  parentPort?.close()
})
