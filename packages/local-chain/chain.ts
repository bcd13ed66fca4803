import { Anvil, type Block } from './anvil.ts'
import { LocalChainError } from './errors.ts'
import { type Entry, type JournalContent, journalPath, type Snapshot } from './journal.ts'
import { RpcError } from './rpc.ts'

/** An Anvil with the state of its chain. */
export class Chain {
  readonly anvil: Anvil
  readonly #genesisTime: number
  /** The newest block. */
  head: Block
  /** Seconds that the chain's clock is ahead of the wall clock. */
  offset: number
  /**
   * The minimum time of the next block, which is that of the newest one, or the time to which
   * Anvil's clock was set.
   */
  notBefore: number
  /**
   * Accepted transactions that are not in a block, by hash; usually an earlier nonce is missing.
   * They are in the order of arrival, which decides among equal fees.
   */
  readonly #waiting = new Map<string, string>()

  private constructor(anvil: Anvil, { genesisTime, offset }: Snapshot, head: Block) {
    this.anvil = anvil
    this.#genesisTime = genesisTime
    this.offset = offset
    this.head = head
    this.notBefore = Number(head.timestamp)
  }

  /**
   * Starts an Anvil and restores the chain of a journal: the same blocks with the same hashes.
   * @throws {LocalChainError} `anvil_missing`, `anvil_failed`, `replay_failed`
   */
  static async open(dir: string, { snapshot, entries }: JournalContent): Promise<Chain> {
    const start = () => Anvil.start(dir, snapshot.genesisTime)
    // There are two attempts, because another program may take the port between choosing and using
    // it.
    const anvil = await start().catch(start)
    // The journal's line that is being replayed.
    let line = 1
    try {
      const state = Buffer.from(snapshot.state ?? '', 'base64').toString('hex')
      if (state !== '') await anvil.call('anvil_loadState', `0x${state}`)
      const head = await anvil.call<Block>('eth_getBlockByNumber', 'latest', true)
      const chain = new Chain(anvil, snapshot, head)
      chain.#assertAt(snapshot.head ?? head.hash)
      await chain.#send(snapshot.waiting)
      for (const entry of entries) {
        line += 1
        chain.#assertAt(entry.parent)
        await chain.apply(entry)
      }
      // A replay leaves Anvil's clock in the past, and calls on the pending block would see that.
      chain.notBefore = chain.now
      await anvil.call('evm_setTime', chain.now)
      return chain
    } catch (cause) {
      await anvil.end()
      throw new LocalChainError(
        'replay_failed',
        `Line ${line} of ${journalPath(dir)} does not reproduce its blocks: ${String(cause)}. The file was changed, or another version of Anvil wrote it: install that version, or move the directory away to begin with a new chain.`,
        { cause },
      )
    }
  }

  /** The time of the next block according to the clock. Equal times are allowed. */
  get now(): number {
    return Math.max(this.#clock, this.notBefore)
  }

  /**
   * The seconds until blocks follow the clock again, after it went back or the last blocks ran
   * ahead.
   */
  get ahead(): number {
    return Math.max(0, this.notBefore - this.#clock)
  }

  get #clock(): number {
    return Math.floor(Date.now() / 1000) + this.offset
  }

  /**
   * Applies a change, in the same way for a live request and a replay, so that both produce the
   * same blocks.
   *
   * @returns Anvil's results: a hash for each transaction, or an RpcError for a refused one
   * @throws if Anvil is gone, or its head differs from the journal's
   */
  async apply(entry: Entry): Promise<unknown[]> {
    const { method, params, time } = entry
    this.offset = entry.offset
    if (method === 'eth_sendRawTransaction') {
      const results = await this.#send(params)
      const accepted = results.filter((result) => !(result instanceof RpcError))
      await this.#mineAll(time, accepted.length)
      return results
    }
    if (method === 'anvil_setBalance') return [await this.#attempt(method, params)]
    const [count, interval] = method === 'evm_mine' ? params : [0, 0]
    for (let i = 0; i < count; i++) await this.#mine(time + i * interval)
    return []
  }

  /** Anvil's complete state. No change may run meanwhile. */
  async snapshot(): Promise<Snapshot> {
    const dump = await this.anvil.call<string>('anvil_dumpState')
    return {
      genesisTime: this.#genesisTime,
      offset: this.offset,
      head: this.head.hash,
      state: Buffer.from(dump.slice(2), 'hex').toString('base64'),
      waiting: [...this.#waiting.values()],
    }
  }

  async #send(raws: readonly string[]): Promise<unknown[]> {
    const results: unknown[] = []
    for (const raw of raws) {
      // Transactions are sent one after another, because with equal fees the order in the pool is
      // the order in the block.
      const result = await this.#attempt('eth_sendRawTransaction', [raw])
      if (typeof result === 'string') this.#waiting.set(result, raw)
      results.push(result)
    }
    return results
  }

  #attempt(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.anvil.call(method, ...params).catch((error) => {
      if (error instanceof RpcError) return error
      throw error
    })
  }

  /**
   * Mines until all executable transactions are in blocks: usually one block, two when one block's
   * gas is not enough. Transactions that wait for an earlier nonce stay in the pool.
   */
  async #mineAll(time: number, accepted: number): Promise<void> {
    let included = 0
    let last = 1
    while (included < accepted && last > 0) {
      await this.#mine(time)
      last = this.head.transactions.length
      included += last
    }
  }

  async #mine(time: number): Promise<void> {
    const [block] = await this.anvil.call<Block[]>('evm_mine_detailed', time)
    // A different parent means that someone changed the chain without the journal.
    if (block?.parentHash !== this.head.hash)
      throw new Error(`Anvil mined on ${block?.parentHash}, not on ${this.head.hash}`)
    this.head = block
    this.notBefore = time
    for (const { hash } of block.transactions) this.#waiting.delete(hash)
  }

  #assertAt(hash: string): void {
    if (this.head.hash !== hash)
      throw new Error(`block ${Number(this.head.number)} is ${this.head.hash} now and was ${hash}`)
  }
}
