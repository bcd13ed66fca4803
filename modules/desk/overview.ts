import { randomBytes } from 'node:crypto'
import { type Alert, alertsOf } from '#base/alerts.ts'
import { shareRead } from '#base/concurrency.ts'
import { toHex } from '#document/hex.ts'
import type { Core } from '#parts/module.ts'

/** People look at it often, and the price of gas costs a call to the node. */
const STATE_TTL_MS = 15_000

/** The state of the service, the same for all tenants. Amounts are in wei, `null` = unknown. */
export type ServiceState = {
  waiting: { queued: number; refused: number; inFlight: number }
  account: { balance: bigint | null; fee: bigint | null }
  fees: { lastHour: bigint | null; cap: bigint | null }
  alerts: readonly Alert[]
  /** When the service made its last backup itself, in milliseconds of the Unix epoch. */
  backupAt: number | null
}

/** @returns The state of the service. What cannot be read at the moment is unknown. */
export function openServiceState({
  config: { feeCaps, lowBalance, rpcUrls },
  quotes,
  stores,
  ports,
  pipeline,
}: Pick<Core, 'config' | 'quotes' | 'stores' | 'ports' | 'pipeline'>): () => Promise<ServiceState> {
  const { leader, readiness, headAge } = pipeline
  // Every document costs the same.
  const sample = { kind: 'issue', documentHash: toHex(randomBytes(32)), validUntil: 0 } as const

  return shareRead(async () => {
    const [ready, age, quote, lastHour, webhooks, erasures, backupAt] = await Promise.all([
      known(readiness()),
      known(headAge()),
      known(quotes.quote([sample])),
      known(leader.spentLastHour()),
      known(ports.webhookBacklog?.()),
      known(stores.erasures.unfinished()),
      known(stores.backups?.last()),
    ])
    const waiting = leader.depth()
    const alerts = alertsOf({
      lowBalance,
      webhooks,
      queued: waiting.queued,
      stopped: leader.stopped(),
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
