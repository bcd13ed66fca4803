import { setTimeout as sleep } from 'node:timers/promises'
import type { Anvil, Block } from './anvil.ts'
import { endAnvil } from './anvil-process.ts'
import { type CarriedOut, carryOut } from './carry-out.ts'
import { checkpoint } from './checkpoint.ts'
import { copyChain } from './copy.ts'
import type { Entry } from './journal.ts'
import { recover } from './recover.ts'
import { answerOf, requestFor } from './rpc.ts'
import type { Log, Running } from './running.ts'

const IDLE_MS = 1_000
const WATCH_MS = 1_000
const HUNG_MS = 30_000
const ATTEMPTS = 3
/** A replay takes 1 ms an entry on a small chain, and 30 ms on one with 50,000 records. */
const ENTRIES_BEFORE_CHECKPOINT = 300
/** Between attempts to bring Anvil back. */
const RETRY_MS = 5_000

/** Transactions that one entry of the journal, and so as a rule one block, takes. */
const MOST_TOGETHER = 64

/** What a change asks for; the writer adds its number and time. */
export type Change = {
  method: Entry['method']
  params: unknown
  /** The time that its block must have; otherwise the chain's clock says. */
  at?: number
  offset?: number
}

/** A transaction that waits for its turn, and who waits for Anvil's answer. */
type Waiting = {
  raw: string
  body: string
  resolve: (answer: Buffer) => void
  reject: (error: unknown) => void
}

/** The chain is not there at the moment; the log says why. */
export class ChainDown extends Error {}

/**
 * Whether the last transactions are final, and the finalized block can be asked: of an older state than the one that it
 * loaded Anvil knows the blocks only.
 */
const isFinal = async (anvil: Anvil, head: Block): Promise<boolean> => {
  if (head.number === 0) return true
  const before = await anvil.block(head.number - 1)
  const { error } = answerOf(
    await anvil.post(requestFor('eth_getBalance', [`0x${'0'.repeat(40)}`, 'finalized'])),
  )
  return head.transactions + before.transactions === 0 && error === undefined
}

/**
 * The one writer of the chain: everything that changes it goes through here, one at a time, into the journal first and to
 * Anvil then. It also watches Anvil, and brings it back from the journal when it is gone.
 */
export class Writer {
  readonly #dir: string
  readonly #log: Log
  readonly #checkpointEvery: number
  #running: Running | undefined
  #queue: Promise<unknown> = Promise.resolve()
  #waiting: Waiting[] = []
  /** No block may be older: the time of the newest one, or what Anvil's clock was set to. */
  #notBefore = 0
  #idle: NodeJS.Timeout | undefined
  #watch: NodeJS.Timeout | undefined
  #stopped = false
  /** When the last checkpoint was made or tried, and how long it took; milliseconds. */
  #checkpointAt = performance.now()
  #checkpointTook = 0
  /** When it was last tried to bring Anvil back. */
  #triedAt = 0

  /** @param checkpointEvery Milliseconds, for a chain that is never idle. */
  constructor(dir: string, log: Log, checkpointEvery: number) {
    this.#dir = dir
    this.#log = log
    this.#checkpointEvery = checkpointEvery
  }

  async start(): Promise<void> {
    await this.#exclusive(() => this.#bringUp())
    this.#watch = setInterval(() => {
      this.#check().catch((error: Error) => this.#log(`Anvil cannot be watched: ${error.message}`))
    }, WATCH_MS).unref()
  }

  /** @throws {ChainDown} */
  get anvil(): Anvil {
    if (this.#running === undefined)
      throw new ChainDown('the local chain is being started or has failed')
    return this.#running.anvil
  }

  /** Seconds by which the chain's clock is ahead of the wall clock. */
  get offset(): number {
    return this.#running?.offset ?? 0
  }

  /** No block may be older than this. */
  get notBefore(): number {
    return this.#notBefore
  }

  /** The time that the next block gets: the clock's, and never before the last block. Equal times are allowed. */
  get now(): number {
    return Math.max(Math.floor(Date.now() / 1000) + this.offset, this.#notBefore)
  }

  /**
   * Runs `plan` when all changes before it are done, and makes the change that it asks for.
   * Returns when the change is in a block (if it makes one) and would survive a loss of power.
   * @throws {ChainDown} if Anvil is gone; the change may have been made, or be made by the replay
   */
  submit<T>(
    plan: (make: (change: Change, bodies?: readonly string[]) => Promise<CarriedOut>) => Promise<T>,
  ): Promise<T> {
    return this.#exclusive(() => plan((change, bodies) => this.#make(change, bodies)))
  }

  /**
   * Sends a transaction. Those that come while another change is made share a block, and one flush of the journal.
   * @param body The client's request, for Anvil to answer
   * @returns Anvil's answer, when the transaction is in a block (unless it waits for an earlier nonce) and would survive a
   * loss of power
   * @throws {ChainDown} as for `submit`
   */
  transact(raw: string, body: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, body, resolve, reject })
      if (this.#waiting.length > 1) return
      this.#exclusive(() => this.#transactAll()).catch(() => undefined)
    })
  }

  async #transactAll(): Promise<void> {
    const group = this.#waiting.splice(0, MOST_TOGETHER)
    if (this.#waiting.length > 0) this.#exclusive(() => this.#transactAll()).catch(() => undefined)
    try {
      const { answers } = await this.#make(
        {
          method: 'eth_sendRawTransaction',
          params: group.map(({ raw }) => raw),
        },
        group.map(({ body }) => body),
      )
      for (const [i, { resolve }] of group.entries()) resolve(answers[i] ?? Buffer.alloc(0))
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  async #make(
    { method, params, at, offset }: Change,
    bodies?: readonly string[],
  ): Promise<CarriedOut> {
    const running = this.#running
    if (running === undefined || this.#stopped)
      throw new ChainDown('the local chain is being stopped or has failed')
    const entry = {
      n: running.next,
      method,
      params,
      time: at ?? this.now,
      offset: offset ?? running.offset,
    }
    await running.journal.record(entry)
    running.next += 1
    try {
      const carried = await carryOut(running.anvil, running.head, entry, bodies)
      // A replay finds it again, so that a disk that just filled up stops nothing.
      await running.journal.note(carried.outcome).catch((error: Error) => {
        this.#log(`The outcome of entry ${entry.n} was not noted: ${error.message}`)
      })
      running.offset = entry.offset
      if (carried.head !== running.head) {
        running.head = carried.head
        this.#notBefore = carried.head.time
        if (method === 'eth_sendRawTransaction') this.#finalizeIn(IDLE_MS)
        this.#checkpointWhileBusy()
      }
      return carried
    } catch (cause) {
      await this.#bringBack(cause)
      throw new ChainDown('Anvil failed while it handled this request, and was brought back', {
        cause,
      })
    }
  }

  /** Copies the chain as it is between two changes; others wait meanwhile. */
  copyTo(dir: string): Promise<void> {
    return this.#exclusive(() => copyChain(this.#dir, dir))
  }

  #exclusive<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(task)
    this.#queue = result.catch(() => undefined)
    return result
  }

  async #bringUp(): Promise<void> {
    const running = await recover(this.#dir, this.#log)
    const { head } = running
    this.#notBefore = head.time
    this.#running = running
    // A replay leaves Anvil's clock in the past; calls on the pending block would see that.
    this.#notBefore = this.now
    await running.anvil.call('evm_setTime', this.#notBefore)
    if (!(await isFinal(running.anvil, head))) this.#finalizeIn(0)
  }

  /** `finalized` is two blocks behind and nothing moves it on an idle chain: two empty blocks do. */
  #finalizeIn(ms: number): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => {
      this.submit(async (make) => {
        await make({ method: 'evm_mine', params: [2, 0] })
        await this.#shortenJournal()
      }).catch((error: Error) => this.#log(`No finalizing blocks: ${error.message}`))
    }, ms).unref()
  }

  /** A chain that is never idle is checkpointed between two changes, for at most a twentieth of the time. */
  #checkpointWhileBusy(): void {
    const due = Math.max(this.#checkpointEvery, 20 * this.#checkpointTook)
    if (performance.now() - this.#checkpointAt < due) return
    this.#checkpointAt = performance.now()
    this.#exclusive(() => this.#shortenJournal()).catch((error: Error) =>
      this.#log(`The journal could not be shortened: ${error.message}`),
    )
  }

  /** So that a start after a power cut stays quick although the chain was never stopped. */
  async #shortenJournal(): Promise<void> {
    if (this.#running === undefined || this.#running.next <= ENTRIES_BEFORE_CHECKPOINT) return
    const began = performance.now()
    this.#running = await checkpoint(this.#dir, this.#running)
    this.#checkpointAt = performance.now()
    this.#checkpointTook = this.#checkpointAt - began
  }

  async #check(): Promise<void> {
    if (this.#running === undefined) return this.#retry()
    const { anvil } = this.#running
    if ((await anvil.answers(HUNG_MS)) || this.#stopped) return
    await this.#exclusive(async () => {
      if (this.#running?.anvil === anvil) await this.#bringBack(new Error('it does not answer'))
    })
  }

  /** What kept Anvil down may be over: a disk has room again. */
  async #retry(): Promise<void> {
    if (performance.now() - this.#triedAt < RETRY_MS) return
    this.#triedAt = performance.now()
    await this.#exclusive(async () => {
      if (this.#running !== undefined || this.#stopped) return
      await this.#bringUp()
      this.#log('Anvil was brought back.')
    }).finally(() => {
      this.#triedAt = performance.now()
    })
  }

  /** Brings Anvil back from the journal. If that fails, requests are refused until it can be. */
  async #bringBack(cause: unknown): Promise<void> {
    const running = this.#running
    this.#running = undefined
    clearTimeout(this.#idle)
    this.#log(`Anvil failed (${String(cause)}); it is brought back from the journal.`)
    await running?.journal.close()
    await running?.anvil.disconnect()
    for (
      let attempt = 1;
      attempt <= ATTEMPTS && this.#running === undefined && !this.#stopped;
      attempt += 1
    ) {
      if (attempt > 1) await sleep(1_000)
      await this.#bringUp().catch((error: Error) =>
        this.#log(`Attempt ${attempt} to bring Anvil back failed: ${error.message}`),
      )
    }
  }

  /** Ends the chain in a clean state. Whatever goes wrong here, the journal has everything. */
  async stop(): Promise<void> {
    await this.#queue
    this.#stopped = true
    clearTimeout(this.#idle)
    clearInterval(this.#watch)
    await this.#exclusive(async () => {
      const running = this.#running
      if (running === undefined) return
      this.#running = undefined
      const ended = running.next === 1 ? running : await this.#leaveCleanState(running)
      await ended.journal.close()
      await endAnvil(this.#dir, running.anvil)
    })
  }

  #leaveCleanState(running: Running): Promise<Running> {
    return checkpoint(this.#dir, running).catch((error: Error) => {
      this.#log(
        `No clean state could be written: ${error.message}. The next start replays the journal.`,
      )
      return running
    })
  }
}
