import type { Hex } from '#document/hex.ts'
import { ABSENT, type Outcome } from '#promise/anchoring.ts'
import { outcomesOfSends, usedIn } from '#promise/outcome.ts'
import type { Account, Blocks, RegistryReader, Sends } from '#promise/ports.ts'
import type { Send, UsedIn } from '#promise/send.ts'
import type { BlockTime } from './block-time.ts'
import type { ForeignWatch } from './foreign.ts'
import type { InFlight } from './in-flight.ts'
import type { Conclude } from './waiters.ts'

/** How long a node may contradict itself before that counts as an outage. */
const UNCLEAR_TIMEOUT_MS = 2_000

/** Settles sends: reads the outcomes of their members, reports them, and writes them to disk. */
export type Settling = {
  /**
   * Settles all sends whose nonce is used, whichever transaction used it.
   *
   * @param next The nonce after the newest block.
   * @returns Whether all of them are settled. Right after a block, nodes may contradict themselves
   * for a moment (records without events, or a node behind a load balancer that lags), so it is
   * tried again then.
   * @throws {IssueError} when that takes too long.
   */
  settle(next: number): Promise<boolean>
}

type SettlingDeps = {
  inFlight: InFlight
  account: Pick<Account, 'nextNonce'>
  registry: RegistryReader
  blocks: Blocks
  outbox: Pick<Sends, 'settle'>
  blockTime: BlockTime
  foreign: Pick<ForeignWatch, 'suspect'>
  /** @returns The wei that a send cost, or may still cost. */
  costOf: (send: Send) => Promise<bigint>
  conclude: Conclude
  /** Called with sends whose outcome is on disk. */
  noted: (sends: readonly Send[]) => void
  /** Called when an outcome could not be written: the sends must be read and settled again. */
  failed: (error: unknown) => void
}

/** A send with the outcomes of its members, in their order. */
type Settled = { send: Send; outcomes: readonly Outcome[]; place: UsedIn }

export function createSettling(deps: SettlingDeps): Settling {
  const { inFlight, registry, blockTime, foreign, conclude } = deps
  let unclearSince: number | undefined

  async function trySettling(used: readonly Send[]): Promise<unknown> {
    try {
      await settleAll(used)
      return undefined
    } catch (error) {
      if (used.length === 1) return error
      // An error of one send must not keep the others from being settled.
      const settled = await Promise.allSettled(used.map((send) => settleAll([send])))
      return settled.find((one) => one.status === 'rejected')?.reason
    }
  }

  async function settleAll(used: readonly Send[]): Promise<void> {
    const outcomes = await outcomesOfSends(registry, used)
    const settled = await Promise.all(
      used.map(async (send, i) => {
        const own = outcomes[i] ?? []
        return { send, outcomes: own, place: await usedIn(deps, send, own) }
      }),
    )
    // What is anchored needs no write to stay so, and is answered before the disk.
    for (const one of settled) concludeSome(conclude, one, ({ status }) => status === 'anchored')
    for (const send of used) blockTime.included(inFlight.sendingOf(send).made)
    foreign.suspect(
      settled.filter(({ place }) => place.transactionHash === null).map(({ send }) => send),
    )
    inFlight.leave(used)
    writeAll(deps, settled).catch(deps.failed)
  }

  return {
    async settle(next) {
      const used = inFlight.sends().filter(({ nonce }) => nonce < next)
      const error = used.length === 0 ? undefined : await trySettling(used)
      if (error === undefined) {
        unclearSince = undefined
        return true
      }
      unclearSince ??= performance.now()
      if (performance.now() - unclearSince >= UNCLEAR_TIMEOUT_MS) throw error
      return false
    },
  }
}

/** Writes the outcomes of sends, and concludes what had to wait for this. */
async function writeAll(
  { inFlight, outbox, costOf, conclude, noted }: SettlingDeps,
  settled: readonly Settled[],
): Promise<void> {
  await Promise.all(
    settled.map(async ({ send, outcomes, place }) =>
      outbox.settle(send, outcomes, place, await costOf(send)),
    ),
  )
  const sends = settled.map(({ send }) => send)
  inFlight.drop(sends)
  for (const one of settled) concludeSome(conclude, one, ({ status }) => status !== 'anchored')
  noted(sends)
}

/** @param which Selects the outcomes to conclude with now. */
function concludeSome(
  conclude: Conclude,
  { send, outcomes }: Pick<Settled, 'send' | 'outcomes'>,
  which: (outcome: Outcome) => boolean,
): void {
  const transactions = new Set<Hex>(send.attempts.map(({ hash }) => hash))
  send.members.forEach(({ action }, i) => {
    const outcome = outcomes[i] ?? ABSENT
    if (which(outcome)) conclude(action, outcome, transactions)
  })
}
