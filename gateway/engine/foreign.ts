import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Plan } from '#promise/plan.ts'
import type { Account } from '#promise/ports.ts'

/** Between looks; each takes several calls. */
const LOOK_INTERVAL_MS = 1_000
/** Maximum nonces that wait for a look; more would add no information. */
const MAX_SUSPECTS = 16
/** Maximum remembered transactions: abandoned ones that may be mined later, or reported ones. */
const MAX_KNOWN = 1_000
/** This many foreign transactions within this time are not an accident. */
const SHARED = { count: 3, withinMs: 600_000 }

/** Finds transactions of the account that this gateway did not make. */
export type ForeignWatch = {
  /** Reports plans whose nonces are used, but perhaps not by their own transactions. */
  suspect(plans: readonly Plan[]): void
  /** Reports abandoned plans: their transactions may still be mined. */
  abandoned(plans: readonly Plan[]): void
  /**
   * From this nonce on, foreign transactions come from a running sender; earlier ones were in the
   * pool at the start.
   */
  begin(nonce: number): void
  /** @throws {IssueError} `account_shared` when foreign transactions keep coming. */
  assertAlone(): void
}

/** @param found Called for each foreign transaction. */
export function createForeignWatch(
  { account, log, found }: { account: Account; log: Log; found: () => void },
  intervalMs = LOOK_INTERVAL_MS,
): ForeignWatch {
  const known = new Set<Hex>()
  const suspects: Plan[] = []
  let times: number[] = []
  let since = 0
  let looking = false

  async function lookAtAll(): Promise<void> {
    looking = true
    for (let plan = suspects.shift(); plan; plan = suspects.shift()) {
      await lookAt(plan)
      await sleep(intervalMs, undefined, { ref: false })
    }
    looking = false
  }

  async function lookAt({ nonce, attempts }: Plan): Promise<void> {
    const transactionHash = await account.transactionWith(nonce).catch(() => undefined)
    // Unknown, or a reorg took it back.
    if (transactionHash === undefined) return
    const isOwn = attempts.some(({ hash }) => hash === transactionHash)
    if (isOwn || known.has(transactionHash)) return
    know(transactionHash)
    log.warn('foreign_transaction', { nonce, transactionHash })
    found()
    if (nonce >= since) times = [...times, performance.now()].slice(-SHARED.count)
  }

  function know(hash: Hex): void {
    known.add(hash)
    const [oldest] = known
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  }

  return {
    suspect(plans) {
      suspects.push(...plans.slice(0, Math.max(0, MAX_SUSPECTS - suspects.length)))
      if (!looking && suspects.length > 0) void lookAtAll()
    },

    abandoned(plans) {
      for (const { attempts } of plans) for (const { hash } of attempts) know(hash)
    },

    begin(nonce) {
      since = nonce
    },

    assertAlone() {
      const [first] = times
      if (times.length < SHARED.count || first === undefined) return
      if (performance.now() - first > SHARED.withinMs) return
      throw new IssueError(
        'account_shared',
        `the last ${SHARED.count} foreign transactions of the account came within ten minutes`,
      )
    },
  }
}
