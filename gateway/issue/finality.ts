import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../document/hex.ts'
import type { Log } from '../log.ts'
import { type Anchored, type Anchoring, type BlockId, type Moved, UNSEEN } from './anchoring.ts'
import type { Batcher } from './batcher.ts'
import { EVENTS, keyOfIntent } from './intent.ts'
import { isDone, keyOfPlace, type Place, placeOf, readTransactions } from './outcome.ts'
import type { Receipt } from './plan.ts'
import type { AnchorBlocks, Anchorings, Blocks, RegistryReader } from './ports.ts'

const LOOK_INTERVAL_MS = 2_000
/** Maximum intents for one read of the chain, and for one write. */
const CHUNK = 500
/** Maximum blocks for one read and one write of the outbox. */
const BLOCKS_AT_ONCE = 500
/**
 * How long a transaction that a reorg dropped may stay in a node's pool before its intents are
 * planned again.
 */
const POOLED_TIMEOUT_MS = 60_000

/**
 * Removes intents from the outbox when their block is final, and queues those again that a reorg
 * dropped before.
 *
 * A look costs one call for each new block, one for each block that has become final, and one for
 * the newest known block, regardless of the number of intents: a block with an unchanged hash still has its transactions, and the
 * blocks before it. The known blocks are on disk, and read in parts. Records are read when intents
 * leave, and when their block is gone. So a reorg that hashes did not show (there and back between
 * two looks) is found before an intent leaves.
 *
 * @returns A function that stops it.
 */
export function watchFinality(deps: {
  registry: RegistryReader
  blocks: Blocks
  outbox: Anchorings & AnchorBlocks
  batcher: Batcher
  /** Nothing leaves the outbox before this resolves: its payloads may still be needed. */
  after: Promise<unknown>
  log: Log
}): () => Promise<void> {
  const { registry, outbox, batcher, log } = deps
  const stop = new AbortController()
  /** Blocks that the chain did not have at the last look. */
  let missing = new Set<string>()
  /** When transactions were first seen back in the pool, by hash; `performance.now()`. */
  let pooled = new Map<Hex, number>()

  async function look(): Promise<void> {
    if (await isIdle()) {
      pooled = new Map()
      return
    }
    const finalized = await finalizedBlock()
    await inChunks(
      () => outbox.anchoredUpTo(finalized, CHUNK),
      (some) => review(some, finalized),
    )
    await lookAtBlocks(finalized)
  }

  async function isIdle(): Promise<boolean> {
    const [unseen] = await outbox.unseen(undefined, 1)
    return unseen === undefined && (await outbox.newestSeen()) === undefined
  }

  /** When it is unknown, nothing leaves the outbox, but reorgs are still detected. */
  async function finalizedBlock(): Promise<number> {
    try {
      return await deps.blocks.finalizedBlock()
    } catch (error) {
      log.warn('finality_unknown', { error: String(error) })
      return 0
    }
  }

  async function lookAtBlocks(finalized: number): Promise<void> {
    const missed = missing
    missing = new Set()
    let last: BlockId | undefined
    do {
      const blocks = await outbox.unseen(last, BLOCKS_AT_ONCE)
      await lookAtNew(blocks, missed, finalized)
      last = blocks.at(-1)
    } while (last && !stop.signal.aborted)
    // Last, so that a block and its replacement are never both known.
    await forgetReplaced()
  }

  /** @param missed Blocks that were missing at the previous look. */
  async function lookAtNew(
    blocks: readonly BlockId[],
    missed: ReadonlySet<string>,
    finalized: number,
  ): Promise<void> {
    const found: BlockId[] = []
    for (const block of blocks) {
      if (stop.signal.aborted) return
      const key = keyOfBlock(block)
      const hash = await deps.blocks.blockHash(block.blockNumber)
      if (hash === block.blockHash) found.push(block)
      // The first time, the node may be behind, or the transactions about to enter another
      // block.
      else if (block.blockHash !== UNSEEN && !missed.has(key)) missing.add(key)
      else await reviewBlock(block, hash, finalized)
    }
    if (found.length > 0) await outbox.note(found, true)
  }

  async function forgetReplaced(): Promise<void> {
    for (let last = await outbox.newestSeen(); last; last = await outbox.newestSeen()) {
      const hash = await deps.blocks.blockHash(last.blockNumber)
      if (hash === last.blockHash || stop.signal.aborted) return
      missing.add(keyOfBlock(last))
      await outbox.note([last], false)
    }
  }

  /**
   * @param hash The block that has this number now; read before the records, so that it is never
   * newer than they are.
   */
  async function reviewBlock(block: BlockId, hash: Hex | null, finalized: number): Promise<void> {
    const { blockNumber } = block
    await inChunks(
      () => outbox.anchoredIn(block, CHUNK),
      (some) => review(some, finalized, { blockNumber, blockHash: hash ?? UNSEEN }),
    )
  }

  /** @param work Returns whether it moved all of them; if not, the rest wait for the next look. */
  async function inChunks(
    next: () => Promise<Anchored[]>,
    work: (some: readonly Anchored[]) => Promise<boolean>,
  ): Promise<void> {
    while (!stop.signal.aborted) {
      const some = await next()
      if (some.length === 0 || !(await work(some))) return
    }
  }

  /**
   * Moves some intents to where the chain has them now.
   *
   * @param seen The block that now has the number of their block.
   * @returns Whether all of them moved; false when the node contradicts itself.
   */
  async function review(
    some: readonly Anchored[],
    finalized: number,
    seen?: BlockId,
  ): Promise<boolean> {
    const places = await locate(registry, deps.blocks, some)
    const hashes = await hashesOf(deps.blocks, finalNumbersIn(places, finalized))
    if (seen) hashes.set(seen.blockNumber, seen.blockHash)
    const [final, gone, absent]: [Anchored[], Anchored[], Anchored[]] = [[], [], []]
    const moved: (Moved & { place: Location })[] = []
    let stuck = false
    some.forEach((one, i) => {
      const place = places[i] ?? { status: 'absent' }
      if ('status' in place) {
        if (place.status === 'absent') absent.push(one)
        else gone.push(one)
        if (place.status === 'conflict' || place.status === 'distrusted')
          log.error('promise_broken', {
            intent: keyOfIntent(one.intent),
            reason: place.status,
          })
      } else {
        const now = anchoringAt(place, one.anchoring, hashes)
        const isFinal = now.blockNumber <= finalized
        const stays = keyOfBlock(now) === keyOfBlock(one.anchoring)
        // It leaves from the block that was reported last: a move is reported first.
        if (isFinal && stays) final.push(one)
        else moved.push({ ...one, now, place })
        stuck ||= isFinal ? !stays && one.anchoring.blockHash !== UNSEEN : stays
      }
    })

    const dropped = await withoutPooled(absent)
    stuck ||= dropped.length < absent.length
    const requeued = await outbox.review({
      ...{ final, gone, dropped },
      moved: await withTransactions(registry, moved),
    })
    if (dropped.length > 0) {
      log.info('intents_requeued_after_reorg', { intents: requeued.length })
      batcher.enqueue(requeued)
      stuck ||= requeued.length < dropped.length
    }
    return !stuck
  }

  /**
   * Leaves out intents whose transactions a node has put back into its pool: these get into a block
   * without help.
   */
  async function withoutPooled(absent: readonly Anchored[]): Promise<Anchored[]> {
    const hashes = new Set(absent.map((one) => one.anchoring.transactionHash))
    const waiting = new Set<Hex | null>()
    for (const hash of hashes) {
      if (hash === null) continue
      const since = pooled.get(hash) ?? performance.now()
      const late = performance.now() - since >= POOLED_TIMEOUT_MS
      if (late || !(await registry.isPooled(hash))) continue
      pooled.set(hash, since)
      waiting.add(hash)
    }
    return absent.filter((one) => !waiting.has(one.anchoring.transactionHash))
  }

  async function run(): Promise<void> {
    await deps.after
    // Not at once: at the start, other work comes first.
    while (await sleep(LOOK_INTERVAL_MS, true, { signal: stop.signal }).catch(() => false))
      await look().catch((error) => log.warn('blocks_unread', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}

/** Where an intent is now, with its block's hash if known; or why it is not on the chain. */
type Location =
  | (Place & { blockHash?: Hex })
  | { status: 'conflict' | 'distrusted' | 'moot' | 'absent' }

/**
 * Locates intents that were anchored. A revision is where its transaction is, whatever came after
 * it; if no node keeps the receipt, it is in its block as long as the chain has that block. In all
 * other cases, and for issued documents, the records decide.
 */
async function locate(
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
    located.set(one, { event: EVENTS[intent.kind], blockNumber, blockHash })
  }
  const others = some.filter((one) => !located.has(one))
  const records = await registry.records(others.map(({ intent }) => intent.documentHash))
  others.forEach((one, i) => {
    located.set(one, placeOf(one.intent, records[i]))
  })
  return some.map((one) => located.get(one) ?? { status: 'absent' })
}

/**
 * @param hashes Of blocks, by their numbers; a block that the node does not have keeps the hash that
 * it was known by.
 */
function anchoringAt(
  { blockNumber, blockHash }: Place & { blockHash?: Hex },
  before: Anchoring,
  hashes: ReadonlyMap<number, Hex | null>,
): Anchoring {
  const known = blockNumber === before.blockNumber ? before.blockHash : UNSEEN
  return {
    ...before,
    blockNumber,
    blockHash: blockHash ?? hashes.get(blockNumber) ?? known,
  }
}

/** @returns The numbers of the final blocks among these places. */
function finalNumbersIn(places: readonly Location[], finalized: number): number[] {
  const numbers = places.flatMap((place) => ('blockNumber' in place ? [place.blockNumber] : []))
  return numbers.filter((number) => number <= finalized)
}

/** @returns The current hashes of these blocks. */
async function hashesOf(
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

/** Adds the transactions that carry them now; if the node has no event, the previous ones. */
async function withTransactions(
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

/** Whether the place comes from a record, and the transaction is yet to be read. */
function isUnread(place: Location): place is Place {
  return 'blockNumber' in place && place.blockHash === undefined
}

function keyOfBlock({ blockNumber, blockHash }: BlockId): string {
  return `${blockNumber} ${blockHash}`
}
