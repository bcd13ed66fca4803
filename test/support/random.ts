/** Pseudorandom numbers from a seed, so that a run can be repeated. */
export type Random = {
  /** @returns A number from 0 to below 1. */
  next(): number
  /** @returns A whole number from 0 to below `end`. */
  below(end: number): number
  pick<T>(items: readonly [T, ...T[]]): T
}

/** mulberry32: 32 bits of state, good enough to choose faults. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    below,
    pick: (items) => items[below(items.length)] ?? items[0],
  }
}

/** @returns A random seed. */
export function freshSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0
}

/**
 * @returns The first step of a test that takes every `stride`th step: a random number from 1 on.
 */
export function randomStep(stride: number): number {
  return 1 + seededRandom(freshSeed()).below(stride)
}
