import type { Hex } from '#document/hex.ts'
import type { Anchored, Anchoring, Moved, Undone } from '#promise/anchoring.ts'
import { EVENTS } from '#promise/intent.ts'
import {
  isDone,
  keyOfPlace,
  type Place,
  placeOf,
  readTransactions,
  reasonAt,
  reasonIn,
} from '#promise/outcome.ts'
import type { Receipt } from '#promise/plan.ts'
import type { Blocks, RegistryReader } from '#promise/ports.ts'

/**
 * Where an intent is now, with the hash of its block if that is known, or why it is not on the
 * chain.
 */
export type Location = (Place & { blockHash?: Hex }) | Undone

/**
 * Locates intents that were anchored. A revision is where its transaction is, whatever came after
 * it. If no node still has the receipt, it is in its block as long as the chain has that block.
 * In all other cases, and for issued documents, the records decide: the result is `moot` when the
 * block is forgotten and somebody undid the revision later.
 */
export async function locate(
  registry: RegistryReader,
  blocks: Blocks,
  some: readonly Anchored[],
): Promise<Location[]> {
  const receipts = await receiptsOf(registry, some)
  const receiptFor = ({ transactionHash }: Anchoring) =>
    transactionHash ? receipts.get(transactionHash) : undefined
  const revised = some.filter(({ intent }) => intent.kind !== 'issue')
  const unread = revised.filter(({ anchoring }) => !receiptFor(anchoring))
  const hashes = await hashesOf(
    blocks,
    unread.map(({ anchoring }) => anchoring.blockNumber),
  )
  const located = new Map<Anchored, Location>()
  for (const one of revised) {
    const { intent, anchoring } = one
    const receipt = receiptFor(anchoring)
    const stands = receipt
      ? isDone(intent, receipt)
      : hashes.get(anchoring.blockNumber) === anchoring.blockHash
    if (!stands) continue
    const { blockNumber, blockHash } = receipt ?? anchoring
    const reason = receipt ? reasonIn(receipt, intent) : reasonAt(anchoring)
    located.set(one, { event: EVENTS[intent.kind], blockNumber, blockHash, ...reason })
  }
  const others = some.filter((one) => !located.has(one))
  const records = await registry.records(others.map(({ intent }) => intent))
  others.forEach((one, i) => {
    const { blockNumber } = one.anchoring
    // If no node still has its block, a later change came after it. After a reorg that is
    // unknown.
    const isForgotten = !receiptFor(one.anchoring) && hashes.get(blockNumber) === null
    located.set(one, placeOf(one.intent, records[i], isForgotten ? blockNumber : undefined))
  })
  return some.map((one) => located.get(one) ?? { status: 'absent' })
}

/** @returns The current hashes of these blocks, by number. */
export async function hashesOf(
  blocks: Blocks,
  numbers: readonly number[],
): Promise<Map<number, Hex | null>> {
  return new Map(
    await Promise.all(
      [...new Set(numbers)].map(
        async (number) => [number, await blocks.blockHash(number)] as const,
      ),
    ),
  )
}

/** @returns The receipts of the transactions that revised documents, by hash. */
async function receiptsOf(
  registry: RegistryReader,
  some: readonly Anchored[],
): Promise<Map<Hex, Receipt | undefined>> {
  const hashes = new Set(
    some
      .filter(({ intent }) => intent.kind !== 'issue')
      .map(({ anchoring }) => anchoring.transactionHash)
      .filter((hash) => hash !== null),
  )
  return new Map(
    await Promise.all(
      [...hashes].map(async (hash) => [hash, await registry.receiptOf(hash)] as const),
    ),
  )
}

/**
 * Adds the transactions that carry the intents now, or the previous ones if the node has no event.
 */
export async function withTransactions(
  registry: RegistryReader,
  moved: readonly (Moved & { place: Location })[],
): Promise<Moved[]> {
  const places = moved.map(({ place }) => place).filter(isUnread)
  const transactions = await readTransactions(registry, places)
  return moved.map(({ place, now, ...one }) => {
    const found = isUnread(place)
      ? transactions.get(keyOfPlace(place))?.get(one.intent.documentHash)
      : undefined
    const { transactionHash } = found ?? now
    return { ...one, now: { ...now, transactionHash } }
  })
}

/** @returns Whether the place comes from a record and the transaction has yet to be read. */
function isUnread(place: Location): place is Place {
  return 'blockNumber' in place && place.blockHash === undefined
}
