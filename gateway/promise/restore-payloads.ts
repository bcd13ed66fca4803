import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import { fromHex, toHex } from '#document/hex.ts'
import type { PromisedPayload } from './payload.ts'
import type { PayloadStore, PromisedPayloads } from './ports.ts'

const RETRY_INTERVAL_MS = 5_000

/**
 * Restores lost payloads of documents that were promised, or not final yet, when this was called.
 * The batcher and the finality watch read the same rows and check them on the chain.
 *
 * @param deps.signal Stops it.
 * @returns When it is done, or stopped. Never rejects: it retries until the store answers.
 */
export async function restorePayloads(deps: {
  outbox: Pick<PromisedPayloads, 'payloads'>
  store: PayloadStore
  signal: AbortSignal
  log: Log
}): Promise<void> {
  const { outbox, store, signal, log } = deps
  let restored = 0

  async function restoreLost(some: readonly PromisedPayload[]): Promise<void> {
    const hashes = some.map(({ documentHash }) => fromHex(documentHash))
    const lost = new Set((await store.missing(hashes)).map(toHex))
    const puts = some.filter(({ documentHash }) => lost.has(documentHash))
    await Promise.all(puts.map((one) => store.put(fromHex(one.documentHash), one.sealed)))
    restored += lost.size
  }

  async function restoreAll(): Promise<boolean> {
    try {
      for await (const some of outbox.payloads()) {
        if (signal.aborted) break
        await restoreLost(some)
      }
      return true
    } catch (error) {
      log.warn('payloads_not_checked', { error: String(error) })
      return false
    }
  }

  while (!(await restoreAll()) && !signal.aborted)
    await sleep(RETRY_INTERVAL_MS, undefined, { signal }).catch(() => {})
  if (restored > 0) log.info('payloads_restored', { blocks: restored })
}
