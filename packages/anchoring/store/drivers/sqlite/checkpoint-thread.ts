// Runs in the thread that checkpoints.ts starts.
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Checkpointed, CheckpointWork } from './checkpoints.ts'

const sqlite = new DatabaseSync(workerData)
// Flushes the log and then the file, so that a power cut leaves a database that is whole.
sqlite.exec('PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON')

function run(work: CheckpointWork): Checkpointed {
  try {
    if (work === 'VACUUM') sqlite.exec('VACUUM')
    else {
      const state = sqlite.prepare(`PRAGMA wal_checkpoint(${work})`).get()
      if (state?.busy === 1 && work === 'TRUNCATE') return { error: 'the log is being read' }
    }
    return {}
  } catch (error) {
    return { error: String(error) }
  }
}

parentPort?.on('message', (work: CheckpointWork | 'close') => {
  if (work !== 'close') return parentPort?.postMessage(run(work))
  sqlite.close()
  parentPort?.close()
})
