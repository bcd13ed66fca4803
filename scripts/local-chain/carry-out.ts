import type { Anvil, Block } from './anvil.ts'
import type { BlockId, Entry, Outcome } from './journal.ts'
import { answerOf, requestFor } from './rpc.ts'

export type CarriedOut = {
  outcome: Outcome
  head: Block
  /** Anvil's answer to each request that the entry is made of. */
  answers: Buffer[]
}

const ALREADY_IN_POOL = 'transaction already imported'

/** Mines on top of the block that the journal knows. Another one there means that someone wrote past the journal. */
const mineOn = async (anvil: Anvil, head: Block, time: number): Promise<Block> => {
  const block = await anvil.mine(time)
  if (block.parentHash !== head.hash || block.number !== head.number + 1) {
    throw new Error(
      `Anvil mined block ${block.number} on ${block.parentHash}, not on ${head.number}, ${head.hash}`,
    )
  }
  return block
}

export const idOf = ({ number, hash }: BlockId): BlockId => ({ number, hash })

/**
 * Mines until a block has nothing of what was accepted: as a rule one, two when the gas of one was not enough. What waits for an
 * earlier nonce stays in the pool.
 */
const mineAll = async (
  anvil: Anvil,
  head: Block,
  time: number,
  accepted: number,
): Promise<Block> => {
  let last = await mineOn(anvil, head, time)
  for (
    let included = last.transactions;
    included < accepted && last.transactions > 0;
    included += last.transactions
  )
    last = await mineOn(anvil, last, time)
  return last
}

/**
 * Does to Anvil what an entry of the journal says: the one path for a live request and for a replay, so that both come to
 * the same blocks.
 * @param bodies The clients' requests, if there are any, so that Anvil answers them in their own words
 * @param refused Which of the entry's transactions are known to be refused and are left out
 * @throws if Anvil is gone or is not where the journal is; it then has to be brought back from the journal
 */
export const carryOut = async (
  anvil: Anvil,
  head: Block,
  entry: Entry,
  bodies?: readonly string[],
  refused: readonly number[] = [],
): Promise<CarriedOut> => {
  const { n, method, time } = entry
  const answers: Buffer[] = []
  if (method === 'evm_increaseTime') return { outcome: { of: n }, head, answers }

  if (method === 'evm_mine') {
    const [count, interval] = entry.params as [number, number]
    let last = head
    for (let i = 0; i < count; i += 1) last = await mineOn(anvil, last, time + i * interval)
    return { outcome: { of: n, block: idOf(last) }, head: last, answers }
  }

  if (method === 'anvil_setBalance') {
    const body = bodies?.[0] ?? requestFor(method, entry.params)
    answers.push(await anvil.post(body))
    return { outcome: { of: n }, head, answers }
  }

  const out: number[] = []
  const transactions = entry.params as unknown[]
  for (const [i, raw] of transactions.entries()) {
    if (refused.includes(i)) continue
    // One after another: among equals, the order in the pool is the order in the block.
    const body = await anvil.post(bodies?.[i] ?? requestFor(method, [raw]))
    answers.push(body)
    const { error } = answerOf(body)
    // In the pool already: it came there right before a crash, or was there before the last stop.
    if (error !== undefined && error.message !== ALREADY_IN_POOL) out.push(i)
  }
  const all = [...refused, ...out]
  const outcome = { of: n, ...(all.length > 0 && { refused: all }) }
  const accepted = transactions.length - all.length
  if (accepted === 0 || entry.waiting) return { outcome, head, answers }
  const block = await mineAll(anvil, head, time, accepted)
  return { outcome: { ...outcome, block: idOf(block) }, head: block, answers }
}
