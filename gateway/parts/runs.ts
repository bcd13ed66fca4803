import { createDeadline } from '#base/deadline.ts'
import type { Log } from '#base/log.ts'
import type { Grant } from '#keys/grant.ts'
import { grantOf } from '#people/sessions.ts'
import { createRowSealer } from '#runs/rows.ts'
import { createRuns, type Runs } from '#runs/runs.ts'
import { createRunWorker, type RunWorker } from '#runs/worker.ts'
import type { Config } from '#settings/config.ts'
import type { BatchParts } from './batches.ts'
import type { Identity } from './chain.ts'
import type { IssuingParts } from './issuing.ts'
import type { ApiKeys } from './keys.ts'
import type { Stores } from './stores.ts'

type Parts = {
  stores: Stores
  pipeline: IssuingParts
  batches: BatchParts
  apiKeys: ApiKeys
  logger: Log
}

/** Assembles runs, and the chore that issues their rows. */
export function openRuns(
  config: Config,
  { issuerSecrets }: Identity,
  { stores, pipeline, batches, apiKeys, logger: log }: Parts,
): { runs: Runs; startRuns: RunWorker['start'] } {
  const { runs: store } = stores
  const sealer = createRowSealer(issuerSecrets)
  const worker = createRunWorker({
    ...{ store, sealer, log, issuing: pipeline.issuing, batches: batches.batches },
    grantOf: (owner) => grantOfOwner(owner, stores, apiKeys),
    wait: config.wait,
    newDeadline: () => createDeadline(config.wait || config.rpcTimeout),
  })
  return {
    runs: createRuns({ store, sealer, issuerSecrets, wake: worker.wake }),
    startRuns: worker.start,
  }
}

/** @param owner See `ownerOf`. */
async function grantOfOwner(
  owner: string,
  { people }: Stores,
  { keys }: ApiKeys,
): Promise<Grant | undefined> {
  const [kind, id = ''] = owner.split(' ')
  if (kind === 'person') {
    const person = await people.get(id)
    return person && grantOf(person)
  }
  const key = (await keys.list()).find((one) => one.id === id)
  const isOver = key?.expiresAt !== undefined && Date.parse(key.expiresAt) <= Date.now()
  return isOver ? undefined : key
}
