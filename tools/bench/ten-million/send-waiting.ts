import { randomBytes } from 'node:crypto'
import { type Hex, toHex } from '#document/hex.ts'
import type { BlockId } from '#promise/anchoring.ts'
import type { LeaderOutbox } from '#store/outbox.ts'

const ACCOUNT: Hex = `0x${'bc'.repeat(20)}`
const TRANSACTION_BYTES = 7_000
let nonces = 0

/**
 * Sends what waits in one transaction, which is in this block at once, as the gateway that leads
 * would write it.
 */
export async function sendWaiting(
  outbox: LeaderOutbox,
  { blockNumber, limit }: { blockNumber: number; limit: number },
): Promise<BlockId> {
  const sender = { account: ACCOUNT, own: [ACCOUNT] }
  const members = await outbox.next(sender, { now: Date.now(), limit })
  const transaction = {
    nonce: nonces++,
    hash: toHex(randomBytes(32)),
    raw: toHex(randomBytes(TRANSACTION_BYTES)),
    gasLimit: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  }
  const send = await outbox.plan(sender, transaction, members)
  const block = { blockNumber, blockHash: toHex(randomBytes(32)) }
  const place = { ...block, transactionHash: transaction.hash }
  const outcomes = members.map(() => ({ status: 'anchored' as const, ...place }))
  await outbox.settle(send, outcomes, place, 1_000_000_000n)
  return block
}
