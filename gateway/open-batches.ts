import { join } from 'node:path'
import { hkdfWithNode } from './adapters/node-hkdf.ts'
import { sealWithNode } from './adapters/node-seal.ts'
import type { Batches } from './bulk/batch.ts'
import { createBatches } from './bulk/batches.ts'
import { openSpoolFolder } from './bulk/spool.ts'
import type { Config } from './config.ts'
import { type BatchReader, createBatchReader } from './issue/batch-reader.ts'
import { outcomeOf } from './issue/outcome.ts'
import type { Chain, Identity } from './open-chain.ts'
import type { IssuingParts } from './open-issuing.ts'
import type { Stores } from './open-stores.ts'
import { subkeysOf } from './secrets.ts'

/** The parts behind batches over REST. */
export function openBatches(
  { dataDir }: Config,
  { registry, issuerId, issuerSecrets }: Identity,
  parts: { chain: Chain; stores: Stores; pipeline: IssuingParts },
): { batches: Batches; batchReader: BatchReader } {
  const { chain, stores, pipeline } = parts
  const { outbox, history, batchLog: log, putBlocks } = stores
  return {
    batches: createBatches({
      ...{ registry, issuerId, log, batcher: pipeline.batcher },
      allSubkeys: subkeysOf(issuerSecrets),
      seal: sealWithNode,
      hkdf: hkdfWithNode,
      keep: putBlocks,
      newSpool: openSpoolFolder(join(dataDir, 'spool')),
      outcomeOf: (intent) => outcomeOf(chain.registry, intent),
      quote: (intent) => chain.transactions.quote([intent]),
    }),
    batchReader: createBatchReader({ log, registry: chain.registry, outbox, history }),
  }
}
