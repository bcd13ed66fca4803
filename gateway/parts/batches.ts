import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Log } from '#base/log.ts'
import type { Batches } from '#batches/batch.ts'
import { type BatchReader, createBatchReader } from '#batches/batch-reader.ts'
import { createBatches } from '#batches/batches.ts'
import { durationOf } from '#batches/duration.ts'
import { createThreadSealer } from '#batches/sealer.ts'
import { openSpoolFolder } from '#batches/spool.ts'
import type { CheckDocument } from '#promise/check-document.ts'
import { outcomeOf } from '#promise/outcome.ts'
import type { Config } from '#settings/config.ts'
import { subkeysOf } from '#settings/secrets.ts'
import type { Chain, Identity } from './chain.ts'
import type { IssuingParts } from './issuing.ts'
import type { Stores } from './stores.ts'

const newSealingThread = () =>
  new Worker(new URL('../../packages/anchoring/batches/sealing-work.ts', import.meta.url))

/** The parts of batches over REST. */
export type BatchParts = { batches: Batches; batchReader: BatchReader }

/** @param parts.signal Aborts when the service stops. */
export function openBatches(
  { dataDir }: Config,
  { registry, issuerId, issuerSecrets }: Identity,
  parts: {
    chain: Chain
    stores: Stores
    pipeline: IssuingParts
    checkDocument: CheckDocument
    signal: AbortSignal
    logger: Log
  },
): BatchParts {
  const { chain, stores, pipeline, checkDocument, signal, logger } = parts
  const { outbox, history, batchLog: log, batchDrafts: drafts } = stores
  return {
    batches: createBatches({
      registry,
      issuerId,
      log,
      drafts,
      signal,
      leader: pipeline.leader,
      locks: stores.shared.locks,
      discarded(result) {
        if (signal.aborted) return
        if ('error' in result)
          logger.warn('batch_drafts_not_discarded', { error: String(result.error) })
        else if (result.requests > 0) logger.info('batch_drafts_discarded', result)
      },
      allSubkeys: subkeysOf(issuerSecrets),
      kindsAt: checkDocument.at,
      sealer: createThreadSealer(newSealingThread, signal),
      newSpool: openSpoolFolder(join(dataDir, 'spool')),
      outcomeOf: (action) => outcomeOf(chain.registry, action),
      quote: chain.transactions.quote,
      async durationsOf(size) {
        // While nothing is issued, nobody else reads blocks.
        await pipeline.blockTime.look()
        const interval = pipeline.blockTime.interval()
        return {
          batch: durationOf('batch', size, interval),
          single: durationOf('single', size, interval),
        }
      },
    }),
    batchReader: createBatchReader({ log, registry: chain.registry, outbox, history }),
  }
}
