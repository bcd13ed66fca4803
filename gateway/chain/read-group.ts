export type GroupedCalls<K, V> = {
  /** @returns The same text for keys that are read once for all their callers. */
  idOf(key: K): string
  /** @returns The same text for keys that one call can read. */
  callOf(key: K): string
  /** @returns The values, in the order of the keys. */
  readMany(keys: K[], signal: AbortSignal): Promise<V[]>
  readOne(key: K, signal: AbortSignal): Promise<V>
  /** Maximum number of keys in one call. */
  maxKeys: number
  /** Maximum number of calls at the same time. */
  maxCalls: number
}

type Caller<V> = {
  resolve: (value: V) => void
  reject: (reason: unknown) => void
}

/** One key, and all callers that wait for its value. */
type Read<K, V> = {
  key: K
  callers: Set<Caller<V>>
  /** Called when the last caller has left. */
  onAbandoned: () => void
}

/**
 * Groups reads: those of one turn of the event loop go out together, and so do those that gather
 * while {@link GroupedCalls.maxCalls} are under way. A read never joins a call that has gone out:
 * no value is older than its caller's request.
 *
 * When a call of many fails, each of its reads goes out alone, so that no key spoils another. A
 * caller leaves when its signal aborts; a call is aborted when all its callers have left.
 */
export class ReadGroup<K, V> {
  readonly #calls: GroupedCalls<K, V>
  /** By call, then by key. */
  readonly #waiting = new Map<string, Map<string, Read<K, V>>>()
  #underWay = 0
  #scheduled = false

  constructor(calls: GroupedCalls<K, V>) {
    this.#calls = calls
  }

  /** Rejects with the reason of the signal once it aborts. */
  read(key: K, signal?: AbortSignal): Promise<V> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const read = this.#join(key)
      const leave = () => {
        stay()
        read.callers.delete(caller)
        reject(signal?.reason)
        if (read.callers.size === 0) read.onAbandoned()
      }
      const stay = () => signal?.removeEventListener('abort', leave)
      const caller: Caller<V> = {
        resolve(value) {
          stay()
          resolve(value)
        },
        reject(reason) {
          stay()
          reject(reason)
        },
      }
      signal?.addEventListener('abort', leave)
      read.callers.add(caller)
      this.#schedule()
    })
  }

  #join(key: K): Read<K, V> {
    const { idOf, callOf } = this.#calls
    const [call, id] = [callOf(key), idOf(key)]
    const reads = this.#waiting.get(call) ?? new Map<string, Read<K, V>>()
    this.#waiting.set(call, reads)
    const onAbandoned = () => {
      reads.delete(id)
      if (reads.size === 0 && this.#waiting.get(call) === reads) this.#waiting.delete(call)
    }
    const read = reads.get(id) ?? { key, callers: new Set(), onAbandoned }
    reads.set(id, read)
    return read
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.size === 0) return
    if (this.#underWay >= this.#calls.maxCalls) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#waiting.size > 0 && this.#underWay < this.#calls.maxCalls)
        void this.#start(this.#take())
    })
  }

  async #start(reads: Read<K, V>[]): Promise<void> {
    this.#underWay++
    await this.#settle(reads)
    this.#underWay--
    this.#schedule()
  }

  /** @returns Reads of one call. */
  #take(): Read<K, V>[] {
    const taken: Read<K, V>[] = []
    const [next] = this.#waiting
    if (!next) return taken
    const [call, reads] = next
    for (const [id, read] of reads) {
      if (taken.length === this.#calls.maxKeys) return taken
      reads.delete(id)
      taken.push(read)
    }
    this.#waiting.delete(call)
    return taken
  }

  async #settle(reads: readonly Read<K, V>[]): Promise<void> {
    try {
      const values = await this.#call(reads)
      for (const [i, { callers }] of reads.entries())
        for (const { resolve } of callers) resolve(values[i] as V)
    } catch (error) {
      if (reads.length === 1) for (const { reject } of reads[0]?.callers ?? []) reject(error)
      else
        await Promise.all(
          reads.filter(({ callers }) => callers.size > 0).map((read) => this.#settle([read])),
        )
    }
  }

  async #call(reads: readonly Read<K, V>[]): Promise<V[]> {
    const { readOne, readMany } = this.#calls
    const abandoned = new AbortController()
    let left = 0
    for (const read of reads)
      read.onAbandoned = () => {
        if (++left === reads.length) abandoned.abort()
      }
    const keys = reads.map(({ key }) => key)
    const [first] = keys
    if (first !== undefined && keys.length === 1) return [await readOne(first, abandoned.signal)]
    const values = await readMany(keys, abandoned.signal)
    if (values.length !== keys.length)
      throw new Error(`${values.length} values for ${keys.length} keys`)
    return values
  }
}
