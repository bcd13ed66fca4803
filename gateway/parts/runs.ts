import { createDeadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import type { CheckDocument } from '#promise/check-document.ts'
import { createRowSealer } from '#runs/rows.ts'
import { createRuns, type Runs } from '#runs/runs.ts'
import { createRunWorker, type RunWorker } from '#runs/worker.ts'
import type { Config } from '#settings/config.ts'
import { createRunStore } from '#store/runs.ts'
import type { BatchParts } from './batches.ts'
import type { Identity } from './chain.ts'
import type { IssuingParts } from './issuing.ts'
import { type ApiKeys, grantOfOwner } from './keys.ts'
import type { Stores } from './stores.ts'

type Parts = {
  stores: Stores
  pipeline: IssuingParts
  batches: BatchParts
  apiKeys: ApiKeys
  checkDocument: CheckDocument
  quietFor: () => number
  logger: Log
}

/** How long after the request of somebody else few rows are under way. */
const QUIET_AFTER_MS = 60_000

/** Assembles runs, and the chore that issues their rows. */
export function openRuns(
  config: Config,
  { issuerSecrets }: Identity,
  { stores, pipeline, batches, apiKeys, checkDocument, quietFor, logger: log }: Parts,
): { runs: Runs; startRuns: RunWorker['start'] } {
  const store = createRunStore(stores.database)
  const sealer = createRowSealer(issuerSecrets)
  // Without a wait, rows would not be under way until they are in a block.
  const wait = config.wait || config.rpcTimeout
  const worker = createRunWorker({
    store,
    sealer,
    log,
    issuing: pipeline.issuing,
    batches: batches.batches,
    grantOf: (owner) => grantOfOwner(owner, stores, apiKeys),
    kinds: checkDocument.current,
    room: () =>
      pipeline.blockTime.interval() === undefined
        ? quietFor() < QUIET_AFTER_MS
          ? 'busy'
          : 'quiet'
        : 'regular',
    queued: () => pipeline.batcher.depth().queued,
    wait,
    newDeadline: () => createDeadline(wait),
  })
  return {
    runs: createRuns({ store, sealer, issuerSecrets, wake: worker.wake }),
    startRuns: worker.start,
  }
}
