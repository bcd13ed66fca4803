import { randomBytes } from 'node:crypto'
import { alertsOf } from '#base/alerts.ts'
import { shareRead } from '#base/concurrency.ts'
import { toHex } from '#document/hex.ts'
import type { ServiceState } from '#http/deps.ts'
import type { IssuingParts } from '#parts/issuing.ts'
import type { Ports } from '#parts/ports.ts'
import type { Stores } from '#parts/stores.ts'
import type { Quotes } from '#promise/ports.ts'
import type { Config } from '#settings/config.ts'

/** People look at it often, and the price of gas costs a call to the node. */
const STATE_TTL_MS = 15_000

type StateParts = {
  quotes: Quotes
  stores: Pick<Stores, 'erasures' | 'backups'>
  ports: Ports
  pipeline: Pick<IssuingParts, 'batcher' | 'readiness' | 'headAge'>
}

/** @returns The state of the service. What cannot be read at the moment is unknown. */
export function openServiceState(
  { feeCaps, lowBalance, rpcUrls }: Config,
  { quotes, stores, ports, pipeline }: StateParts,
): () => Promise<ServiceState> {
  const { batcher, readiness, headAge } = pipeline
  // Every document costs the same.
  const sample = { kind: 'issue', documentHash: toHex(randomBytes(32)), validUntil: 0 } as const

  return shareRead(async () => {
    const [ready, age, quote, lastHour, webhooks, erasures, backupAt] = await Promise.all([
      known(readiness()),
      known(headAge()),
      known(quotes.quote([sample])),
      known(batcher.spentLastHour()),
      known(ports.webhookBacklog?.()),
      known(stores.erasures.unfinished()),
      known(stores.backups?.last()),
    ])
    const waiting = batcher.depth()
    const alerts = alertsOf({
      lowBalance,
      webhooks,
      queued: waiting.queued,
      stopped: batcher.stopped(),
      balance: ready?.balance,
      mayRevoke: ready?.mayRevoke,
      headAge: age,
      hasRegularBlocks: rpcUrls.length > 0,
      spentLastHour: lastHour,
      hourlyCap: feeCaps.hour,
      unfinishedErasures: erasures?.length,
    })
    return {
      waiting,
      alerts,
      backupAt: backupAt ?? null,
      account: { balance: ready?.balance ?? null, fee: quote?.fee ?? null },
      fees: { lastHour: lastHour ?? null, cap: feeCaps.hour ?? null },
    }
  }, STATE_TTL_MS)
}

/** @returns `undefined` when it cannot be read. */
async function known<T>(reading: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await reading
  } catch {
    return undefined
  }
}
