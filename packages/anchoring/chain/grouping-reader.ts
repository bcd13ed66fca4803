import { groupReads } from '#base/grouping.ts'
import { RecentMap } from '#base/recent-map.ts'
import type { ChainReader, ChainReading, DocumentKey, IssuedEvent } from '#verifier/ports.ts'
import { type FinalityReader, finalityBy } from '#verifier/readers/finality.ts'
import type { EventKey, ManyReader } from '#verifier/readers/many.ts'

/** A hundred records take about 4 million gas; nodes allow tens of millions per call. */
const MAX_KEYS = 100
/** The maximum number of calls at the same time. With fewer calls, more reads gather for each. */
const MAX_READS = 4
/**
 * Equal to the number of connections that the RPC pool has to an endpoint, because documents of
 * distant blocks share no call.
 */
const MAX_EVENT_READS = 8

/**
 * The maximum number of blocks whose events one call may read. Most nodes have higher limits of
 * their own.
 */
const MAX_BLOCKS = 100

/**
 * A chain reader for many concurrent callers. It groups reads of the newest block, reads finality
 * once for each block that was read, and caches events of final blocks. It returns the same values
 * as `chain`, because no reading is cached.
 *
 * @param chain Reads single keys: documents of a batch, older blocks, and each key of a failed
 * group.
 * @param many Reads groups of the same registry.
 */
export function createGroupingReader(
  chain: ChainReader,
  many: ManyReader,
  finality: Pick<FinalityReader, 'finalizedBlock' | 'safeBlock'>,
): ChainReader {
  const events = new FinalEvents()
  const byHead = createByHead()
  const readRecord = groupReads<DocumentKey, ChainReading>({
    idOf: ({ issuerId, documentHash }) => `${issuerId} ${documentHash}`,
    readMany: (keys, signal) => many.read(keys, { signal }),
    readOne: (key, signal) => chain.read(key, { signal }),
    maxKeys: MAX_KEYS,
    maxCalls: MAX_READS,
  })
  const readEvent = groupReads<EventKey, IssuedEvent | undefined>({
    idOf: ({ block, issuerId, batch, documentHash }) =>
      `${block} ${issuerId} ${batch?.root ?? documentHash}`,
    callOf: ({ block }) => String(Math.floor(block / MAX_BLOCKS)),
    readMany: (keys, signal) => many.issuedEvents(keys, { signal }),
    readOne: (key, signal) => chain.issuedEvent(key, key.block, { signal }),
    maxKeys: MAX_KEYS,
    maxCalls: MAX_EVENT_READS,
  })
  const finalizedBlock = byHead.share(async () => {
    const block = await finality.finalizedBlock()
    events.moveTo(block)
    return block
  })
  const safeBlock = byHead.share(() => finality.safeBlock())

  return {
    registry: chain.registry,

    async read(key, options = {}) {
      const alone = key.batch !== undefined || options.block !== undefined
      const reading = await (alone ? chain.read(key, options) : readRecord(key, options.signal))
      if (options.block === undefined) byHead.moveTo(reading)
      return reading
    },

    async issuedEvent(key, block, { fresh, signal } = {}) {
      const kept = fresh ? undefined : events.get(key, block)
      if (kept) return kept
      const isFinal = events.isFinal(block)
      const event = await (fresh
        ? chain.issuedEvent(key, block, { fresh, signal })
        : readEvent({ ...key, block }, signal))
      if (event && isFinal) events.add(key, block, event)
      return event
    },

    finalityOf: (block) => finalityBy(block, finalizedBlock, safeBlock),

    blockTime: (block, options) => chain.blockTime(block, options),
  }
}

/** For each newest block, reads once what changes only with it. */
function createByHead() {
  let head = ''
  return {
    moveTo({ blockNumber, blockTime }: ChainReading): void {
      head = `${blockNumber} ${blockTime}`
    },
    /** @returns The result of `read` at this head, or its promise; an error is not cached. */
    share<T>(read: () => Promise<T>): () => Promise<T> {
      let shared: { head: string; value: Promise<T> } | undefined
      return () => {
        if (shared?.head !== head || head === '') {
          const value = read()
          const mine = { head, value }
          shared = mine
          value.catch(() => {
            if (shared === mine) shared = undefined
          })
        }
        return shared.value
      }
    },
  }
}

/** The maximum number of cached events, of about 500 bytes each. */
const MAX_EVENTS = 64_000

/** A cache of events in final blocks, which do not change. */
class FinalEvents {
  readonly #events = new RecentMap<IssuedEvent>(MAX_EVENTS)
  #finalized = 0

  /** @param block The newest final block. When it goes back, it belongs to another chain. */
  moveTo(block: number): void {
    if (block < this.#finalized) this.#events.clear()
    this.#finalized = block
  }

  isFinal(block: number): boolean {
    return block <= this.#finalized
  }

  get(key: DocumentKey, block: number): IssuedEvent | undefined {
    return this.#events.get(idOf(key, block))
  }

  /** @param event The event, read when its block was already final. */
  add(key: DocumentKey, block: number, event: IssuedEvent): void {
    // An event that does not match its key is not cached, because the node may return a better
    // answer later.
    if (event.issuerId !== key.issuerId) return
    this.#events.add(idOf(key, block), event)
  }
}

function idOf({ issuerId, documentHash, batch }: DocumentKey, block: number) {
  return `${batch ? 'batch' : 'single'} ${issuerId} ${batch?.root ?? documentHash} ${block}`
}
