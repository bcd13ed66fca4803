import { setTimeout as sleep } from 'node:timers/promises'
import { Chain } from './chain.ts'
import { type Change, Journal } from './journal.ts'

export type Log = (line: string) => void

/** A change, with the seconds by which it moves the chain's clock ahead. */
type Wish = Change & { ahead?: number }

/** Transactions that share an entry. */
type Group = { raws: string[]; results: Promise<unknown[]> }

/** The pause between attempts to restart Anvil. */
const RETRY_INTERVAL_MS = 2_000
/** The minimum time between checkpoints, because clients wait during one. */
const CHECKPOINT_INTERVAL_MS = 60_000
/** A replay takes 1 ms per entry on a small chain, and 30 ms on one with 50,000 records. */
const MIN_ENTRIES_TO_CHECKPOINT = 300
/** How far the clock may go back without a warning, because time services correct it in steps. */
const MAX_AHEAD_SECONDS = 15
/** The maximum number of transactions in one journal entry, and so usually in one block. */
const MAX_TOGETHER = 64

/**
 * The only writer of the chain. Every change goes through here, one at a time, first into the
 * journal and then to Anvil. When Anvil ends, the writer restarts it from the journal.
 */
export class Writer {
  readonly #dir: string
  readonly #log: Log
  /** Absent while Anvil is down. */
  #running: { chain: Chain; journal: Journal } | undefined
  #stopped = false
  #queue: Promise<unknown> = Promise.resolve()
  /** Collects transactions while it waits for its turn. */
  #group: Group | undefined
  #nextCheckpointAt = 0
  #isAhead = false

  constructor(dir: string, log: Log) {
    this.#dir = dir
    this.#log = log
  }

  start(): Promise<void> {
    return this.#exclusive(() => this.#bringUp())
  }

  /** @throws while Anvil is down */
  get chain(): Chain {
    return this.#assertRunning().chain
  }

  /**
   * Makes a change after all earlier ones.
   *
   * @param plan Returns the change when its turn comes; `undefined` makes none
   * @returns Anvil's results, once the change is in a block (if it makes one) and on disk
   * @throws while Anvil is down; if Anvil fails meanwhile, the change may have been made, or a
   * replay may make it
   */
  submit(plan: () => Wish | undefined | Promise<Wish | undefined>): Promise<unknown[]> {
    this.#assertRunning()
    return this.#exclusive(async () => {
      const wish = await plan()
      return wish === undefined ? [] : this.#make(wish)
    })
  }

  /**
   * Sends a transaction. Transactions that arrive during another change share a block and one flush
   * of the journal.
   *
   * @returns Anvil's result, once the transaction is on disk and in a block (unless it waits for an
   * earlier nonce)
   * @throws as `submit`
   */
  async transact(raw: string): Promise<unknown> {
    this.#group ??= this.#openGroup()
    const { raws, results } = this.#group
    const i = raws.push(raw) - 1
    if (raws.length === MAX_TOGETHER) this.#group = undefined
    return (await results)[i]
  }

  /** Ends the chain after the waiting changes. Whatever fails, the journal is complete. */
  stop(): Promise<void> {
    this.#stopped = true
    return this.#exclusive(async () => {
      await this.#checkpoint(1)
      await this.#takeDown()
    })
  }

  #openGroup(): Group {
    const raws: string[] = []
    const results = this.submit(() => {
      if (this.#group?.raws === raws) this.#group = undefined
      return { method: 'eth_sendRawTransaction', params: raws }
    })
    return { raws, results }
  }

  async #make({ ahead = 0, ...change }: Wish): Promise<unknown[]> {
    const { chain, journal } = this.#assertRunning()
    this.#watchClock(chain)
    const { now, offset, head } = chain
    const entry = { ...change, parent: head.hash, time: now, offset: offset + ahead }
    await journal.append(entry)
    if (performance.now() >= this.#nextCheckpointAt)
      this.#exclusive(() => this.#checkpoint(MIN_ENTRIES_TO_CHECKPOINT))
    try {
      return await chain.apply(entry)
    } catch (cause) {
      await this.#bringBack(chain, String(cause))
      throw new Error('Anvil failed during this request', { cause })
    }
  }

  /**
   * Writes checkpoints, so that a start after a power cut is quick. They take at most a twentieth
   * of the time.
   */
  async #checkpoint(minEntries: number): Promise<void> {
    if (this.#running === undefined || this.#running.journal.entries < minEntries) return
    const { chain, journal } = this.#running
    const began = performance.now()
    try {
      await journal.restart(await chain.snapshot())
    } catch (error) {
      this.#log(`Checkpoint failed, the journal is unchanged: ${(error as Error).message}`)
    }
    const took = performance.now() - began
    this.#nextCheckpointAt = began + Math.max(CHECKPOINT_INTERVAL_MS, 20 * took)
  }

  async #bringUp(): Promise<void> {
    const began = performance.now()
    const { journal, content } = await Journal.open(this.#dir)
    const chain = await Chain.open(this.#dir, content).catch(async (error) => {
      await journal.close()
      throw error
    })
    const took = Math.round(performance.now() - began)
    if (content.entries.length > 0)
      this.#log(
        `Replayed ${content.entries.length} journal entries in ${took} ms; the chain is at block ${Number(chain.head.number)}.`,
      )
    this.#watchClock(chain)
    this.#running = { chain, journal }
    chain.anvil.ended.then((reason) => this.#exclusive(() => this.#bringBack(chain, reason)))
  }

  /** A block cannot be earlier than the previous one. */
  #watchClock({ ahead, now }: Chain): void {
    if (ahead > MAX_AHEAD_SECONDS === this.#isAhead) return
    this.#isAhead = !this.#isAhead
    const until = new Date(now * 1000).toISOString()
    this.#log(
      this.#isAhead
        ? `The newest block is ${ahead} s ahead of this machine's clock, which was set back or is slow. Until the clock has caught up, new blocks get the time ${until}, and documents that expire before then count as expired. Correct the clock if it is slow; otherwise wait, or begin with a new chain in another DATA_DIR.`
        : "New blocks follow this machine's clock again.",
    )
  }

  /** Tries until it succeeds, because the cause may go away. */
  async #bringBack(failed: Chain, reason: string): Promise<void> {
    if (this.#running?.chain !== failed) return
    this.#log(`Anvil failed (${reason}); restarting it from the journal.`)
    await this.#takeDown()
    while (this.#running === undefined && !this.#stopped) {
      try {
        await this.#bringUp()
        this.#log('Anvil is running again.')
      } catch (error) {
        this.#log(`Anvil cannot be restarted: ${(error as Error).message}`)
        await sleep(RETRY_INTERVAL_MS)
      }
    }
  }

  async #takeDown(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await running?.journal.close()
    await running?.chain.anvil.end()
  }

  #assertRunning() {
    if (this.#running === undefined) throw new Error('the local chain is starting or has failed')
    return this.#running
  }

  #exclusive<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(task)
    this.#queue = result.catch(() => undefined)
    return result
  }
}
