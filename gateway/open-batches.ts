import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Batches } from './bulk/batch.ts'
import { createBatches } from './bulk/batches.ts'
import { openSpoolFolder } from './bulk/spool.ts'
import { createThreadSealer } from './bulk/thread-sealer.ts'
import type { Config } from './config.ts'
import { type BatchReader, createBatchReader } from './issue/batch-reader.ts'
import { outcomeOf } from './issue/outcome.ts'
import type { Log } from './log.ts'
import type { Chain, Identity } from './open-chain.ts'
import type { IssuingParts } from './open-issuing.ts'
import type { Stores } from './open-stores.ts'
import { subkeysOf } from './secrets.ts'

const newSealingThread = () => new Worker(new URL('./sealing-thread.ts', import.meta.url))

/** The parts behind batches over REST. */
export type BatchParts = { batches: Batches; batchReader: BatchReader }

/** @param parts.signal Aborts when the service stops. */
export function openBatches(
  { dataDir }: Config,
  { registry, issuerId, issuerSecrets }: Identity,
  parts: { chain: Chain; stores: Stores; pipeline: IssuingParts; signal: AbortSignal; logger: Log },
): BatchParts {
  const { chain, stores, pipeline, signal, logger } = parts
  const { outbox, history, batchLog: log, batchDrafts: drafts } = stores
  return {
    batches: createBatches({
      ...{ registry, issuerId, log, drafts, signal, batcher: pipeline.batcher },
      leases: stores.shared?.leases,
      discarded(result) {
        if (signal.aborted) return
        if ('error' in result)
          logger.warn('batch_drafts_not_discarded', { error: String(result.error) })
        else if (result.requests > 0) logger.info('batch_drafts_discarded', result)
      },
      allSubkeys: subkeysOf(issuerSecrets),
      sealer: createThreadSealer(newSealingThread, signal),
      newSpool: openSpoolFolder(join(dataDir, 'spool')),
      outcomeOf: (intent) => outcomeOf(chain.registry, intent),
      quote: (intent) => chain.transactions.quote([intent]),
    }),
    batchReader: createBatchReader({ log, registry: chain.registry, outbox, history }),
  }
}
