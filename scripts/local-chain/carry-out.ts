import type { Anvil, Block } from './anvil.ts'
import type { BlockId, Entry, Outcome } from './journal.ts'
import { answerOf, requestFor } from './rpc.ts'

export type CarriedOut = {
  outcome: Outcome
  head: Block
  answer: Buffer | undefined
}

const ALREADY_IN_POOL = 'transaction already imported'

/** Mines on top of the block that the journal knows. Another one there means that someone wrote past the journal. */
const mineOn = async (
  anvil: Anvil,
  head: Block,
  time: number,
): Promise<Block> => {
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
 * Does to Anvil what an entry of the journal says: the one path for a live request and for a replay, so that both come to
 * the same blocks. `body` is the client's request, if there is one, so that Anvil answers it in its own words.
 * @throws if Anvil is gone or is not where the journal is; it then has to be brought back from the journal
 */
export const carryOut = async (
  anvil: Anvil,
  head: Block,
  entry: Entry,
  body?: Buffer | string,
): Promise<CarriedOut> => {
  if (entry.method === 'evm_increaseTime')
    return { outcome: { of: entry.n }, head, answer: undefined }

  if (entry.method === 'evm_mine') {
    const [count, interval] = entry.params as [number, number]
    let last = head
    for (let i = 0; i < count; i += 1)
      last = await mineOn(anvil, last, entry.time + i * interval)
    return {
      outcome: { of: entry.n, block: idOf(last) },
      head: last,
      answer: undefined,
    }
  }

  const { body: answer } = await anvil.post(
    body ?? requestFor(entry.method, entry.params),
  )
  const { error } = answerOf(answer)
  // In the pool already: it came there right before a crash, or was there before the last stop.
  if (error !== undefined && error.message !== ALREADY_IN_POOL) {
    return { outcome: { of: entry.n, refused: error.message }, head, answer }
  }
  if (entry.method === 'anvil_setBalance' || entry.waiting)
    return { outcome: { of: entry.n }, head, answer }
  const block = await mineOn(anvil, head, entry.time)
  return { outcome: { of: entry.n, block: idOf(block) }, head: block, answer }
}
