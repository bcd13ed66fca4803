/**
 * A map of the entries that were added or read last, in two generations: when the young one is
 * full, the old one is dropped. A map in order of use would need a write for each read.
 */
export class RecentMap<V> {
  readonly #maxWeight: number
  readonly #weightOf: (value: V) => number
  #young = new Map<string, V>()
  #old = new Map<string, V>()
  #youngWeight = 0

  /**
   * @param maxWeight The maximum weight of all values together.
   * @param weightOf The weight of a value; absent = 1 for each.
   */
  constructor(maxWeight: number, weightOf: (value: V) => number = () => 1) {
    this.#maxWeight = maxWeight
    this.#weightOf = weightOf
  }

  isEmpty(): boolean {
    return this.#young.size === 0 && this.#old.size === 0
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.add(key, old)
    return old
  }

  add(key: string, value: V): void {
    const weight = this.#weightOf(value)
    if (this.#youngWeight + weight > this.#maxWeight / 2) this.age()
    this.#youngWeight += weight
    this.#young.set(key, value)
  }

  /** Drops entries that were neither added nor read since the last call. */
  age(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#youngWeight = 0
  }

  clear(): void {
    this.age()
    this.age()
  }
}
