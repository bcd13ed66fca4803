import type { Log } from '#base/log.ts'
import type { Hex } from '#document/hex.ts'
import {
  type Anchored,
  type Anchoring,
  type BlockId,
  keyOfBlock,
  type Moved,
  UNSEEN,
} from '#promise/anchoring.ts'
import { keyOfIntent } from '#promise/intent.ts'
import { type Place, reasonAt } from '#promise/outcome.ts'
import type { Anchorings, Batcher, Blocks, RegistryReader } from '#promise/ports.ts'
import { hashesOf, type Location, locate, withTransactions } from './locate.ts'

/**
 * How long a transaction that a reorg dropped may stay in a node's pool before its intents are
 * planned again, in milliseconds.
 */
const POOLED_TIMEOUT_MS = 60_000

/** Moves anchored intents to the blocks in which the chain now has them. */
export type Reviewing = {
  /**
   * Reviews intents and writes the result.
   *
   * @param seen The block that now has the number of their block.
   * @returns Whether all of them moved or left; `false` when the node contradicts itself.
   */
  review(some: readonly Anchored[], finalized: number, seen?: BlockId): Promise<boolean>
  /** Forgets what was seen in the pool, because nothing waits for finality. */
  reset(): void
}

type Relocated = Moved & { place: Location }

/** The results of reading anchored intents on the chain. */
type Found = {
  /** Intents that are final in the block that was last reported. */
  final: Anchored[]
  /** Intents that can never be anchored, or that have nothing to do. */
  gone: Anchored[]
  moved: Relocated[]
  /** Intents that are not on the chain. */
  absent: Anchored[]
}

export function createReviewing(deps: {
  registry: RegistryReader
  blocks: Blocks
  outbox: Pick<Anchorings, 'review'>
  batcher: Pick<Batcher, 'wake'>
  final: (some: readonly Anchored[]) => void
  log: Log
}): Reviewing {
  const { registry, blocks, outbox, batcher, log } = deps
  const pooled = createPooled(registry)

  return {
    reset: pooled.reset,

    async review(some, finalized, seen) {
      const places = await locate(registry, blocks, some)
      const hashes = await hashesOf(blocks, finalNumbersIn(places, finalized))
      if (seen) hashes.set(seen.blockNumber, seen.blockHash)
      const { moved, absent, ...leaving } = sortByPlace(some, places, finalized, hashes)
      reportBroken(some, places, log)
      const dropped = await pooled.without(absent)
      const queued = await outbox.review({
        ...leaving,
        dropped,
        moved: await withTransactions(registry, moved),
      })
      deps.final(leaving.final)
      if (dropped.length > 0) {
        log.info('intents_requeued_after_reorg', { intents: queued.length })
        batcher.wake()
      }
      const isStuck = moved.some((one) => contradicts(one, finalized))
      return !isStuck && dropped.length === absent.length && queued.length >= dropped.length
    },
  }
}

/**
 * @param places The places of these intents, in the same order.
 * @param hashes The hashes of blocks, by number.
 */
function sortByPlace(
  some: readonly Anchored[],
  places: readonly Location[],
  finalized: number,
  hashes: ReadonlyMap<number, Hex | null>,
): Found {
  const found: Found = { final: [], gone: [], moved: [], absent: [] }
  some.forEach((one, i) => {
    const place = places[i] ?? { status: 'absent' }
    if ('status' in place) {
      found[place.status === 'absent' ? 'absent' : 'gone'].push(one)
      return
    }
    const now = anchoringAt(place, one.anchoring, hashes)
    const stays = keyOfBlock(now) === keyOfBlock(one.anchoring)
    // An intent leaves from the block that was last reported, because a move is reported first.
    if (stays && now.blockNumber <= finalized) found.final.push(one)
    else found.moved.push({ ...one, now, place })
  })
  return found
}

/**
 * @param hashes The hashes of blocks, by number. A block that the node does not have keeps its
 * known hash.
 */
function anchoringAt(
  place: Place & { blockHash?: Hex },
  { transactionHash, ...before }: Anchoring,
  hashes: ReadonlyMap<number, Hex | null>,
): Anchoring {
  const { blockNumber } = place
  const known = blockNumber === before.blockNumber ? before.blockHash : UNSEEN
  const blockHash = place.blockHash ?? hashes.get(blockNumber) ?? known
  return { blockNumber, blockHash, transactionHash, ...reasonAt(place) }
}

/**
 * @returns Whether the node contradicts itself: the intent moved out of a final block, or did not
 * move.
 */
function contradicts({ anchoring, now }: Moved, finalized: number): boolean {
  if (now.blockNumber <= finalized) return anchoring.blockHash !== UNSEEN
  return keyOfBlock(now) === keyOfBlock(anchoring)
}

/** @returns The numbers of the final blocks among these places. */
function finalNumbersIn(places: readonly Location[], finalized: number): number[] {
  const numbers = places.flatMap((place) => ('blockNumber' in place ? [place.blockNumber] : []))
  return numbers.filter((number) => number <= finalized)
}

/** Logs intents that were promised and can never be anchored. */
function reportBroken(some: readonly Anchored[], places: readonly Location[], log: Log): void {
  some.forEach(({ intent }, i) => {
    const place = places[i]
    if (place && 'status' in place && /^(conflict|distrusted)$/.test(place.status))
      log.error('promise_broken', { intent: keyOfIntent(intent), reason: place.status })
  })
}

/** Transactions that a reorg dropped and that are back in the pool of a node. */
type Pooled = {
  /**
   * @returns The intents without those whose transactions are back in the pool, which get into a
   * block without help.
   */
  without(dropped: readonly Anchored[]): Promise<Anchored[]>
  /** Forgets them, because nothing waits for finality. */
  reset(): void
}

function createPooled(registry: Pick<RegistryReader, 'isPooled'>): Pooled {
  /** When each transaction was first seen back in the pool, by hash and as `performance.now()`. */
  const firstSeen = new Map<Hex, number>()

  async function isWaiting(hash: Hex): Promise<boolean> {
    const since = firstSeen.get(hash) ?? performance.now()
    const isLate = performance.now() - since >= POOLED_TIMEOUT_MS
    if (isLate || !(await registry.isPooled(hash))) return false
    firstSeen.set(hash, since)
    return true
  }

  return {
    reset: () => firstSeen.clear(),
    async without(dropped) {
      const hashes = new Set(dropped.map((one) => one.anchoring.transactionHash))
      const waiting = new Set<Hex | null>()
      for (const hash of hashes) if (hash !== null && (await isWaiting(hash))) waiting.add(hash)
      return dropped.filter((one) => !waiting.has(one.anchoring.transactionHash))
    },
  }
}
