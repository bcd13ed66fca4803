import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import type { Lease, Leases } from '#promise/lease.ts'

/** How often a gateway checks whether a chore is free. */
const LOOK_INTERVAL_MS = 2_000

/**
 * Starts work that runs in addition to the requests.
 *
 * @param assertHeld Rejects with `LeaseLost` when another gateway does the chore by now.
 * @returns A function that stops it.
 */
export type StartChore = (assertHeld: () => Promise<void>) => () => Promise<void>

/** Runs chores, which one gateway does for all that share its database. */
export type Chores = {
  /** @returns A function that stops it. */
  run(name: string, start: StartChore): () => Promise<void>
}

/**
 * @returns Chores, each of which runs in one gateway at a time. If that one dies, another
 * continues; for a moment, both may run it.
 */
export function createChores(leases: Leases, log: Log): Chores {
  return {
    run(name, start) {
      const stopping = new AbortController()
      const running = runLeased({ leases, name: `chore ${name}`, start, log }, stopping.signal)
      return async () => {
        stopping.abort()
        await running
      }
    },
  }
}

async function runLeased(
  { leases, name, start, log }: { leases: Leases; name: string; start: StartChore; log: Log },
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    const lease = await leases.take([name]).catch((error) => {
      log.debug('lease_not_taken', { name, error: String(error) })
      return undefined
    })
    if (lease) await runWith(lease, start, stopping)
    else await sleep(LOOK_INTERVAL_MS, undefined, { signal: stopping }).catch(() => {})
  }
}

async function runWith(lease: Lease, start: StartChore, stopping: AbortSignal): Promise<void> {
  const stop = start(lease.assertHeld)
  const over = AbortSignal.any([lease.ended, stopping])
  if (!over.aborted)
    await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }))
  await stop()
  await lease.release().catch(() => {})
}
