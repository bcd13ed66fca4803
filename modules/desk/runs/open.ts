import { createDeadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import type { BatchParts } from '#parts/batches.ts'
import type { Identity } from '#parts/chain.ts'
import type { IssuingParts } from '#parts/issuing.ts'
import { type ApiKeys, grantOfOwner } from '#parts/keys.ts'
import type { Stores } from '#parts/stores.ts'
import type { CheckDocument } from '#promise/check-document.ts'
import type { Config } from '#settings/config.ts'
import { createRowSealer } from './rows.ts'
import { createRuns, type Runs } from './runs.ts'
import { createRunStore } from './store.ts'
import { createRunWorker, type RunWorker } from './worker.ts'

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
