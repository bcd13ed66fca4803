import { createDeadline } from '#base/deadline.ts'
import type { AppDeps } from '#http/deps.ts'
import { grantOfOwner } from '#parts/keys.ts'
import type { Core } from '#parts/module.ts'
import { createRowSealer } from './rows.ts'
import { createRuns, type Runs } from './runs.ts'
import { createRunStore } from './store.ts'
import { createRunWorker, type RunWorker } from './worker.ts'

type Needs = Pick<
  Core,
  'config' | 'identity' | 'stores' | 'apiKeys' | 'ports' | 'pipeline' | 'quietFor' | 'log'
>

/** How long after the request of somebody else few rows are under way. */
const QUIET_AFTER_MS = 60_000

/** Assembles runs, and the chore that issues their rows. */
export function openRuns(
  core: Needs,
  { batches, checkDocument }: Pick<AppDeps, 'batches' | 'checkDocument'>,
): { runs: Runs; worker: RunWorker } {
  const { config, identity, stores, pipeline, quietFor, log } = core
  const { issuerSecrets } = identity
  const store = createRunStore(stores.database)
  const sealer = createRowSealer(issuerSecrets)
  // Without a wait, rows would not be under way until they are in a block.
  const wait = config.wait || config.rpcTimeout
  const worker = createRunWorker({
    store,
    sealer,
    log,
    issuing: pipeline.issuing,
    batches,
    grantOf: (owner) => grantOfOwner(owner, core),
    kinds: checkDocument.current,
    room() {
      if (pipeline.blockTime.interval() !== undefined) return 'regular'
      return quietFor() < QUIET_AFTER_MS ? 'busy' : 'quiet'
    },
    queued: () => pipeline.batcher.depth().queued,
    wait,
    newDeadline: () => createDeadline(wait),
  })
  return { runs: createRuns({ store, sealer, issuerSecrets, wake: worker.wake }), worker }
}
