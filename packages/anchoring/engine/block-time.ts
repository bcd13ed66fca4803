import { clock } from '#base/clock.ts'
import type { Blocks, Head } from '#promise/ports.ts'

/** The interval of faster blocks is not needed, and reading it would cost more than it gains. */
const MIN_INTERVAL_MS = 2_000
/** The number of blocks that an estimate uses. */
const WINDOW = 8
/** The minimum number of blocks for an estimate. */
const MIN_BLOCKS = 3
/** The blocks before the first one seen that are read with it, for an estimate at once. */
const BLOCKS_BEFORE = 2
/** Blocks seen before a pause of this length count no more, unless they show a rhythm. */
const STALE_MS = 30_000
/** The tolerance for timestamps, which are whole seconds. */
const TIMESTAMP_TOLERANCE_MS = 1_000
/** The time between reads of the newest block, on chains with fast blocks and on others. */
const LOOK_INTERVAL_MS = { fast: 1_000, slow: 250 }
/**
 * Where slow blocks come by themselves, the newest one is read every `slow` milliseconds from
 * shortly before the next one is expected until it is late, and otherwise after these fractions of
 * the interval.
 */
const LOOK_PART = { late: 1 / 24, unknown: 1 / 9 }
/** When an expected block is late, as a fraction of the interval. */
const LATE = 1 / 8

/** Follows the newest block. Times are those of `performance.now()`. */
export type BlockTime = {
  /**
   * @returns The milliseconds between blocks; `undefined` when they are faster than two seconds, or
   * irregular.
   */
  interval(): number | undefined
  /**
   * Reads the newest block if a read is due.
   *
   * @returns Resolves, also after a failure, when no read is under way any more.
   */
  look(): Promise<void>
  /** Reports that a transaction signed at this time is now in a block. */
  included(made: number): void
  /**
   * @returns The number of the newest block that was seen, where blocks come by themselves; until
   * there is another one, no transaction can be included. `undefined` on other chains, and while the
   * node does not answer.
   */
  newest(): number | undefined
}

type Seen = Head & {
  /** When it was first seen; `notBefore` is when its predecessor was last seen. */
  at: number
  notBefore: number
}

/**
 * Distinguishes chains with a fixed block time from those that make a block for each transaction,
 * because only on the former a transaction that was sent early waits for long. On the latter,
 * regular users can look like a rhythm, so none is assumed.
 */
export function createBlockTime(
  blocks: Pick<Blocks, 'head' | 'block'>,
  now: () => number = () => performance.now(),
): BlockTime {
  let seen: Seen[] = []
  let rhythm: Rhythm | undefined
  let comesByItself = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined
  /** Whether the last read was answered. */
  let answers = true

  async function read(): Promise<void> {
    const head = await blocks.head()
    // Of no use: what shows no rhythm, long ago, or on another node or before a reorg.
    const isStale = rhythm === undefined && now() - lookedAt > STALE_MS
    if (isStale || head.number < (seen.at(-1)?.number ?? 0)) seen = []
    const last = seen.at(-1)
    if (!last || head.number > last.number) {
      const at = now()
      const notBefore = lookedAt
      const before = last ? seen : await readBefore(head)
      seen = [...before, { ...head, at, notBefore }].slice(-WINDOW)
      rhythm = rhythmOf(seen)
      if (!last) comesByItself = rhythm !== undefined && isRecent(head, rhythm.interval)
      if (rhythm === undefined) comesByItself = false
    }
    lookedAt = now()
  }

  /** @returns The blocks before; none if the node does not have them. Nobody saw when they came. */
  async function readBefore({ number }: Head): Promise<Seen[]> {
    const numbers = Array.from({ length: BLOCKS_BEFORE }, (_, i) => number - BLOCKS_BEFORE + i)
    const reads = Promise.all(numbers.filter((one) => one >= 0).map(blocks.block))
    const heads = await reads.catch(() => [])
    return heads.map((head) => ({ ...head, at: now(), notBefore: Number.NEGATIVE_INFINITY }))
  }

  const known = () => (comesByItself ? rhythm : undefined)

  /** @returns When the block after the newest one should be seen, if that is known. */
  function expected(): number | undefined {
    const last = seen.at(-1)
    const current = known()
    if (!last || current?.offset === undefined) return undefined
    return last.timestamp * 1000 + current.offset + current.interval
  }

  function nextLook(): number {
    const interval = known()?.interval
    if (interval === undefined)
      return lookedAt + (isFast(seen) ? LOOK_INTERVAL_MS.fast : LOOK_INTERVAL_MS.slow)
    const after = (part: number) => lookedAt + Math.max(LOOK_INTERVAL_MS.slow, part * interval)
    const next = expected()
    if (next === undefined || now() > next + interval / 2) return after(LOOK_PART.unknown)
    if (now() > next + LATE * interval) return after(LOOK_PART.late)
    return Math.max(after(0), next - LOOK_INTERVAL_MS.slow)
  }

  return {
    interval: () => rhythm?.interval,

    look() {
      if (looking === undefined && now() >= nextLook())
        looking = read()
          .then(
            () => {
              answers = true
            },
            () => {
              answers = false
            },
          )
          .finally(() => {
            looking = undefined
          })
      return looking ?? Promise.resolve()
    },

    newest: () => (answers && known() ? seen.at(-1)?.number : undefined),

    included(made) {
      if (!rhythm) return
      const took = now() - made
      if (took >= rhythm.interval / 2) comesByItself = true
      // It may have been made for the transaction.
      else if (rhythm.offset === undefined && took < rhythm.interval / 4) comesByItself = false
    },
  }
}

/**
 * The milliseconds between blocks, and those from a block's timestamp until it is seen, on the
 * clock of `now`; `undefined` until a block was seen soon after it came.
 */
type Rhythm = { interval: number; offset: number | undefined }

/** @returns `undefined` when blocks are too fast, or not at multiples of one interval. */
function rhythmOf(seen: readonly Seen[]): Rhythm | undefined {
  const steps = stepsOf(seen)
  const interval = intervalOf(steps)
  if (seen.length < MIN_BLOCKS || interval < MIN_INTERVAL_MS) return undefined
  const tolerance = Math.min(TIMESTAMP_TOLERANCE_MS, interval / 4)
  const isRegular = steps.every(({ time }) => {
    const whole = Math.round(time / interval) * interval
    return whole > 0 && Math.abs(time - whole) <= tolerance
  })
  if (!isRegular) return undefined
  // Only blocks that were seen soon after a read that did not find them are used.
  const offsets = seen
    .filter(({ at, notBefore }) => at - notBefore <= interval / 8)
    .map(({ at, timestamp }) => at - timestamp * 1000)
  return { interval, offset: offsets.length > 0 ? Math.min(...offsets) : undefined }
}

/** @returns Whether a block is one of a running chain: it came less than an interval ago, or so. */
function isRecent({ timestamp }: Head, interval: number): boolean {
  return Math.abs(clock.wall() - timestamp * 1000) < 1.25 * interval
}

function isFast(seen: readonly Seen[]): boolean {
  return seen.length > 1 && intervalOf(stepsOf(seen)) < MIN_INTERVAL_MS
}

/** The time and the number of blocks from one observed block to the next. */
type Step = { blocks: number; time: number }

function stepsOf(seen: readonly Seen[]): Step[] {
  return seen.slice(1).map((block, i) => {
    const before = seen[i] ?? block
    return {
      blocks: block.number - before.number,
      time: (block.timestamp - before.timestamp) * 1000,
    }
  })
}

/** @returns The median time between blocks in milliseconds. */
function intervalOf(steps: readonly Step[]): number {
  const times = steps.map(({ blocks, time }) => time / blocks).sort((one, other) => one - other)
  return times[Math.floor(times.length / 2)] ?? 0
}
