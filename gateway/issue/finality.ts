import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '../../document/hex.ts'
import type { Log } from '../log.ts'
import type { Batcher } from './batcher.ts'
import { EVENTS, keyOfIntent } from './intent.ts'
import { isDone, keyOfPlace, type Place, placeOf, readTransactions } from './outcome.ts'
import {
  type Anchored,
  type Anchoring,
  type Anchorings,
  type BlockId,
  type Blocks,
  type Moved,
  type Receipt,
  type RegistryReader,
  UNSEEN,
} from './ports.ts'

const PERIOD = 2_000
/** Intents that are read in one call, and changed in one write. */
const CHUNK = 500
/** How long a transaction that a reorg dropped may wait in a node's pool for another block, before its intents are planned again. */
const POOLED_TIMEOUT_MS = 60_000

/**
 * Lets intents leave the outbox when their block is final, and has those anchored again that a reorg dropped before.
 *
 * However many intents wait, a look costs one call for each new block and one for the newest that is known: a block that has its
 * hash still has its transactions, and the blocks before it. Records are read when intents leave, and when their block is gone;
 * so what hashes may have hidden (a reorg there and back between two looks) is found before it is too late.
 *
 * @returns A function that ends it.
 */
export function watchFinality(deps: {
  registry: RegistryReader
  blocks: Blocks
  outbox: Anchorings
  batcher: Batcher
  log: Log
}): () => Promise<void> {
  const { registry, outbox, batcher, log } = deps
  const stop = new AbortController()
  /** Blocks that the chain had at the last look, by number. */
  let known: BlockId[] = []
  /** Blocks that it did not have then. */
  let missing = new Set<string>()
  /** By hash, when transactions were first seen back in the pool; `performance.now()`. */
  let pooled = new Map<Hex, number>()

  async function look(): Promise<void> {
    if ((await outbox.blocks()).length === 0) {
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

  /** What is unknown lets nothing leave the outbox, and does not keep reorgs from being seen. */
  async function finalizedBlock(): Promise<number> {
    try {
      return await deps.blocks.finalizedBlock()
    } catch (error) {
      log.warn('finality_unknown', { error: String(error) })
      return 0
    }
  }

  async function lookAtBlocks(finalized: number): Promise<void> {
    const rows = await outbox.blocks()
    const blocks = new Map(rows.map((one) => [keyOfBlock(one), one]))
    known = known.filter((block) => blocks.delete(keyOfBlock(block)))
    const missed = missing
    missing = new Set()
    const found: BlockId[] = []
    for (const [key, block] of blocks) {
      if (stop.signal.aborted) return
      const hash = await deps.blocks.blockHash(block.blockNumber)
      if (hash === block.blockHash) found.push(block)
      // The first time, the node may be behind, or the transactions on their way into another block.
      else if (block.blockHash !== UNSEEN && !missed.has(key)) missing.add(key)
      else await reviewBlock(block, hash, finalized)
    }
    // Last, so that no block is known beside one that has taken its place.
    await forgetReplaced()
    known = [...known, ...found].sort((one, other) => one.blockNumber - other.blockNumber)
  }

  async function forgetReplaced(): Promise<void> {
    for (let last = known.at(-1); last; last = known.at(-1)) {
      const hash = await deps.blocks.blockHash(last.blockNumber)
      if (hash === last.blockHash) return
      missing.add(keyOfBlock(last))
      known.pop()
    }
  }

  /** @param hash What has the block's number now; asked for before the records are, so that it is never newer than they. */
  async function reviewBlock(block: BlockId, hash: Hex | null, finalized: number): Promise<void> {
    const { blockNumber } = block
    await inChunks(
      () => outbox.anchoredIn(block, CHUNK),
      (some) => review(some, finalized, { blockNumber, blockHash: hash ?? UNSEEN }),
    )
  }

  /** @param work Says whether it moved all of them on; if not, they wait for the next look. */
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
   * Acts on what the records of some intents say.
   *
   * @param seen The block that has the number of theirs now.
   * @returns Whether all of them are elsewhere now; not so when the node contradicts itself.
   */
  async function review(
    some: readonly Anchored[],
    finalized: number,
    seen?: BlockId,
  ): Promise<boolean> {
    const places = await locate(registry, deps.blocks, some)
    const [gone, absent]: [Anchored[], Anchored[]] = [[], []]
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
      } else if (place.blockNumber <= finalized) gone.push(one)
      else {
        const { blockNumber } = place
        const known = blockNumber === seen?.blockNumber
        const blockHash = place.blockHash ?? (known ? seen.blockHash : UNSEEN)
        const now = { ...one.anchoring, blockNumber, blockHash }
        moved.push({ ...one, now, place })
        stuck ||= keyOfBlock(now) === keyOfBlock(one.anchoring)
      }
    })

    const dropped = await withoutPooled(absent)
    stuck ||= dropped.length < absent.length
    const requeued = await outbox.review({
      ...{ gone, dropped },
      moved: await withTransactions(registry, moved),
    })
    if (dropped.length > 0) {
      log.info('intents_requeued_after_reorg', { intents: requeued.length })
      batcher.enqueue(requeued)
      stuck ||= requeued.length < dropped.length
    }
    return !stuck
  }

  /** Those whose transactions a node has not put back into its pool: the others get into a block by themselves. */
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
    // Not at once: at the start there is enough to do until the first request can be taken.
    while (await sleep(PERIOD, true, { signal: stop.signal }).catch(() => false))
      await look().catch((error) => log.warn('blocks_unread', { error: String(error) }))
  }

  const running = run()
  return async () => {
    stop.abort()
    await running
  }
}

/** Where an intent is now, its block's hash where that is known; or why it is nowhere. */
type Location =
  | (Place & { blockHash?: Hex })
  | { status: 'conflict' | 'distrusted' | 'moot' | 'absent' }

/**
 * Where intents are that were anchored once. A revision is where its transaction is, whatever others
 * did after it, and in its block where no node keeps the receipt; if that is not on the chain, and for
 * what was issued, the records decide.
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
  const hashes = await hashesOf(blocks, unread)
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

/** @returns The hashes that the chain has now for the blocks of these, by number. */
async function hashesOf(
  blocks: Blocks,
  some: readonly Anchored[],
): Promise<Map<number, Hex | null>> {
  const numbers = new Set(some.map(({ anchoring }) => anchoring.blockNumber))
  return new Map(
    await Promise.all(
      [...numbers].map(async (number) => [number, await blocks.blockHash(number)] as const),
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

/** The transactions that carry them now; where the node has no event, the ones that did. */
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

/** Whether a record says so, and not the transaction itself. */
function isUnread(place: Location): place is Place {
  return 'blockNumber' in place && place.blockHash === undefined
}

function keyOfBlock({ blockNumber, blockHash }: BlockId): string {
  return `${blockNumber} ${blockHash}`
}
