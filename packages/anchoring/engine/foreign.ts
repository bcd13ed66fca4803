import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import { IssueError } from '#promise/errors.ts'
import type { Account } from '#promise/ports.ts'
import type { Send } from '#promise/send.ts'

/** The time between checks, each of which takes several calls. */
const LOOK_INTERVAL_MS = 1_000
/** The maximum number of nonces that wait for a check. More would add no information. */
const MAX_SUSPECTS = 16
/** The maximum number of remembered transactions, which were reported. */
const MAX_KNOWN = 1_000
/** This many foreign transactions within this time are not an accident. */
const SHARED = { count: 3, withinMs: 600_000 }

/** Durations in milliseconds. */
type StartTiming = {
  /** The time between checks of the account. */
  poll: number
  /** The start fails if new foreign transactions still arrive after this time. */
  grace: number
  /**
   * The account counts as quiet after this time without a new transaction and without a mined one.
   */
  quiet: number
  /** How long to wait for foreign transactions in the pool. */
  limit: number
}

/** A clock in milliseconds. */
type Clock = { now(): number; sleep(duration: number): Promise<void> }

const TIMING: StartTiming = { poll: 250, grace: 10_000, quiet: 3_000, limit: 30_000 }

/** The account's next nonces: after its transactions in blocks, and after those in the pool. */
type Counts = { next: number; pooled: number }

async function readCounts(account: Account): Promise<Counts> {
  // In this order, a transaction that is mined in between does not seem to be in the pool.
  const pooled = await account.pooledNonce()
  const next = await account.nextNonce()
  return { next, pooled: Math.max(next, pooled) }
}

/**
 * Checks whether something else sends transactions from the account. The transactions of a gateway
 * that is gone (lost, or before a backup was restored) get into blocks and end, so this waits for
 * them. A running gateway sends more.
 *
 * @param own The nonces of the transactions in the outbox.
 * @returns The nonce after the foreign transactions.
 * @throws {IssueError} `account_shared` when new ones keep coming.
 */
export async function waitForForeign(
  { account, own, log }: { account: Account; own: ReadonlySet<number>; log: Log },
  timing = TIMING,
  clock: Clock = { now: () => performance.now(), sleep },
): Promise<number> {
  const first = await readCounts(account)
  const started = clock.now()
  let top = first.next
  let next = first.next
  let risenAt: number | undefined
  // A running gateway may send its next transaction only once these are mined.
  let changedAt = started

  function see(counts: Counts): void {
    const before = { top, next }
    let last = counts.pooled - 1
    while (last >= top && own.has(last)) last--
    top = Math.max(top, last + 1)
    next = Math.max(next, counts.next)
    if (counts === first) return
    if (top > before.top) risenAt = clock.now()
    if (top > before.top || next > before.next) changedAt = clock.now()
  }

  async function look(): Promise<void> {
    // An outage says nothing about the account.
    const counts = await readCounts(account).catch(() => undefined)
    if (counts) see(counts)
  }

  see(first)
  await look()
  if (top === first.next) return top
  log.warn('foreign_transactions_found', { from: first.next, to: top - 1 })
  while (clock.now() - started < timing.limit) {
    if (risenAt !== undefined && risenAt - started >= timing.grace) throw shared()
    const quiet = clock.now() - changedAt >= timing.quiet
    if (next >= top && quiet) {
      log.info('foreign_transactions_mined', { to: top - 1 })
      return top
    }
    await clock.sleep(timing.poll)
    await look()
  }
  log.warn('foreign_transactions_stuck', { next, to: top - 1 })
  return top
}

function shared(): IssueError {
  return new IssueError(
    'account_shared',
    'another program sends transactions with this account: stop it, or set a different account (ISSUER_KEY) for each gateway',
  )
}

/** Finds transactions of the account that this gateway did not make. */
export type ForeignWatch = {
  /** Reports sends whose nonces are used, but perhaps not by their own transactions. */
  suspect(sends: readonly Send[]): void
  /**
   * Tells the first nonce from which foreign transactions come from a running sender. Earlier ones
   * were in the pool at the start.
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
  const suspects: Send[] = []
  let times: number[] = []
  let since = 0
  let looking = false

  async function lookAtAll(): Promise<void> {
    looking = true
    for (let send = suspects.shift(); send; send = suspects.shift()) {
      await lookAt(send)
      await sleep(intervalMs, undefined, { ref: false })
    }
    looking = false
  }

  async function lookAt({ nonce, attempts }: Send): Promise<void> {
    const transactionHash = await account.transactionWith(nonce).catch(() => undefined)
    // The transaction is unknown, or a reorg removed it.
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
    suspect(sends) {
      suspects.push(...sends.slice(0, Math.max(0, MAX_SUSPECTS - suspects.length)))
      if (!looking && suspects.length > 0) void lookAtAll()
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
        `another program sends transactions with this account: ${SHARED.count} of them within ten minutes`,
      )
    },
  }
}
