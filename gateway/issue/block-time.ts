import type { Blocks, Head } from './ports.ts'

/** Blocks that come faster are not waited for: what is gained is less than what a look at them costs. */
const MIN_INTERVAL_MS = 2_000
/** Blocks that the estimate is made of. */
const WINDOW = 8
/** Blocks before there is an estimate. */
const MIN_BLOCKS = 3
/** Timestamps are whole seconds. */
const TIMESTAMP_TOLERANCE_MS = 1_000
/** After so many intervals without a block there is no telling when the next one comes. */
const MAX_OVERDUE = 2.25
/**
 * How long before a block a transaction has to be made to be in it, in parts of the interval: at first, and at least and at most. It
 * is more than the way to the node: whoever makes a block begins before others see it. One that came too late raises it above what
 * that one had; each that came in time lowers it.
 */
const LEAD = { first: 0.08, min: 0.04, max: 0.4, raise: 1.25, lower: 0.97 }
/** Between looks at the newest block: where blocks are fast, and elsewhere. */
const LOOK_INTERVAL_MS = { fast: 1_000, slow: 250 }

/** When blocks come. Times are those of `performance.now()`. */
export type BlockTime = {
  /** Milliseconds between blocks; `undefined` when they are faster than two seconds, or come as they like. */
  interval(): number | undefined
  /** When the first block after a time is to be seen; `undefined` when that cannot be told. */
  nextAfter(time: number): number | undefined
  /** Looks at the newest block, when that is due. It does not wait for the answer, and a failure is no news. */
  look(): void
  /** How long before a block, in milliseconds, a transaction has to be made to be in it, by what became of the last ones. */
  lead(): number
  /** A transaction that was made then is in a block now. */
  included(made: number): void
}

type Seen = Head & {
  /** When it was seen first, and when its predecessor was seen last. */
  at: number
  notBefore: number
}

/**
 * Tells chains with a block every so many seconds from those that make one when there is a transaction: only there, one that was
 * sent early has waited for long. On the others no rhythm is believed, however regular their users are.
 */
export function createBlockTime(
  blocks: Blocks,
  now: () => number = () => performance.now(),
): BlockTime {
  let seen: Seen[] = []
  let rhythm: Rhythm | undefined
  let comesByItself = false
  let lead = LEAD.first
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking = false

  function saw(head: Head): void {
    const last = seen.at(-1)
    const at = now()
    // Another node, or a reorg: what was known may not hold.
    if (last && head.number < last.number) seen = []
    if (!last || head.number > last.number) {
      seen = [...seen, { ...head, at, notBefore: lookedAt }].slice(-WINDOW)
      rhythm = rhythmOf(seen)
      if (rhythm === undefined) comesByItself = false
    }
    lookedAt = at
  }

  const known = () => (comesByItself ? rhythm : undefined)

  return {
    interval: () => rhythm?.interval,

    nextAfter(time) {
      const last = seen.at(-1)
      const current = known()
      if (!last || !current) return undefined
      const { interval, offset } = current
      const arrival = last.timestamp * 1000 + offset
      if (now() - arrival > MAX_OVERDUE * interval) return undefined
      const next = Math.floor((time - arrival) / interval) + 1
      return arrival + Math.max(1, next) * interval
    },

    look() {
      const period = isFast(seen) ? LOOK_INTERVAL_MS.fast : LOOK_INTERVAL_MS.slow
      if (looking || now() - lookedAt < period) return
      looking = true
      blocks
        .head()
        .then(saw, () => {})
        .finally(() => {
          looking = false
        })
    },

    lead: () => lead * (rhythm?.interval ?? 0),

    included(made) {
      const last = seen.at(-1)
      if (!rhythm || !last) return
      const { interval, offset } = rhythm
      const took = now() - made
      if (took >= interval / 2) comesByItself = true
      const arrival = last.timestamp * 1000 + offset
      const given = 1 - modulo((made - arrival) / interval, 1)
      if (given > LEAD.max) return
      const missed = took > (given + 0.5) * interval
      const learned = missed ? Math.max(lead, given) * LEAD.raise : lead * LEAD.lower
      lead = Math.min(Math.max(learned, LEAD.min), LEAD.max)
    },
  }
}

/** Milliseconds between blocks, and from a block's timestamp until it is seen, on the clock of `now`. */
type Rhythm = { interval: number; offset: number }

/** @returns `undefined` when blocks come too fast, or not at multiples of one time. */
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
  // A block that was seen right after it was not there tells when blocks are to be seen.
  const offsets = seen
    .filter(({ at, notBefore }) => at - notBefore <= interval / 8)
    .map(({ at, timestamp }) => at - timestamp * 1000)
  return offsets.length > 0 ? { interval, offset: Math.min(...offsets) } : undefined
}

const modulo = (value: number, by: number) => ((value % by) + by) % by

function isFast(seen: readonly Seen[]): boolean {
  return seen.length > 1 && intervalOf(stepsOf(seen)) < MIN_INTERVAL_MS
}

/** From one block that was seen to the next. */
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

/** @returns The median time between blocks, milliseconds. */
function intervalOf(steps: readonly Step[]): number {
  const times = steps.map(({ blocks, time }) => time / blocks).sort((one, other) => one - other)
  return times[Math.floor(times.length / 2)] ?? 0
}
