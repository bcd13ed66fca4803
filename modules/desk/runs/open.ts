import { createDeadline } from '#base/deadline.ts'
import type { AppDeps } from '#http/deps.ts'
import type { Core } from '#parts/module.ts'
import { createRowSealer } from './rows.ts'
import { createRuns, type Runs } from './runs.ts'
import { createRunWorker, type RunWorker, type WorkerDeps } from './worker.ts'

/** How long after the request of somebody else few rows are under way. */
const QUIET_AFTER_MS = 60_000

type Needs = Pick<Core, 'config' | 'identity' | 'pipeline' | 'quietFor' | 'log'>

/** What cleaning needs too. */
type Cleaned = Pick<WorkerDeps, 'store' | 'grantOf'>

/** Assembles runs, and what issues their rows. */
export function openRuns(
  { config, identity, pipeline, quietFor, log }: Needs,
  { store, grantOf }: Cleaned,
  { batches, checkDocument }: Pick<AppDeps, 'batches' | 'checkDocument'>,
): { runs: Runs; worker: RunWorker } {
  const { issuerSecrets } = identity
  const sealer = createRowSealer(issuerSecrets)
  // Without a wait, rows would not be under way until they are in a block.
  const wait = config.wait || config.rpcTimeout
  const worker = createRunWorker({
    store,
    sealer,
    log,
    issuing: pipeline.issuing,
    batches,
    grantOf,
    kinds: checkDocument.current,
    room() {
      if (pipeline.blockTime.interval() !== undefined) return 'regular'
      return quietFor() < QUIET_AFTER_MS ? 'busy' : 'quiet'
    },
    queued: () => pipeline.leader.depth().queued,
    wait,
    newDeadline: () => createDeadline(wait),
  })
  return { runs: createRuns({ store, sealer, issuerSecrets, wake: worker.wake }), worker }
}
