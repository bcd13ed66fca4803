import { type FileHandle, open, readFile } from 'node:fs/promises'
import { LocalChainError } from './errors.ts'

/** What the chain was when the journal began. */
export type Header = {
  journal: 1
  generation: number
  /** The time of block 0, in seconds. */
  genesisTime: number
  /** The newest block of the state that this journal goes on from; null for the genesis. */
  head: BlockId | null
  /** Seconds by which the chain's clock is ahead of the wall clock. */
  offset: number
}

export type BlockId = { number: number; hash: string }

/** A change of the chain, written down before Anvil hears of it. */
export type Entry = {
  n: number
  method: 'eth_sendRawTransaction' | 'anvil_setBalance' | 'evm_mine' | 'evm_increaseTime'
  /**
   * As for Anvil; those of `evm_mine` are [number of blocks, seconds between them], those of `eth_sendRawTransaction` all
   * transactions that came together, to share a block.
   */
  params: unknown
  /** The time of the block that it gets, in seconds. */
  time: number
  offset: number
  /** A transaction that waited in the pool when the state was written: back into the pool, and no block for it. */
  waiting?: true
}

/**
 * What became of an entry; not synced to disk, since a replay finds it again. `block` is the newest that it made; `refused`
 * are the positions of its transactions that Anvil did not take.
 */
export type Outcome = { of: number; block?: BlockId; refused?: number[] }

export type JournalContent = {
  header: Header
  entries: Entry[]
  outcomes: Map<number, Outcome>
  size: number
}

export const lineOf = (value: Header | Entry | Outcome): string => `${JSON.stringify(value)}\n`

const parseLine = (line: string): Header | Entry | Outcome | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' &&
      value !== null &&
      ('journal' in value || 'n' in value || 'of' in value)
      ? (value as Header | Entry | Outcome)
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads a journal. A last line that is not whole is left out: its write was torn, so nobody was told of it.
 * @throws `journal_corrupt` for any other line that cannot be read
 */
export const readJournal = async (path: string): Promise<JournalContent> => {
  const bytes = await readFile(path)
  const entries: Entry[] = []
  const outcomes = new Map<number, Outcome>()
  let header: Header | undefined
  let start = 0
  for (let number = 1; start < bytes.length; number += 1) {
    const end = bytes.indexOf(0x0a, start)
    const value = end < 0 ? undefined : parseLine(bytes.toString('utf8', start, end))
    const isLast = end < 0 || end === bytes.length - 1
    const isExpected =
      value !== undefined &&
      ('journal' in value
        ? number === 1
        : number > 1 && ('of' in value || value.n === (entries.at(-1)?.n ?? 0) + 1))
    if (value === undefined && isLast && header !== undefined) break
    if (!isExpected) {
      throw new LocalChainError(
        'journal_corrupt',
        `Line ${number} of ${path} cannot be read, and lines follow it, so the disk or a hand has changed the file. Put a copy of it back, or move its directory away to begin with a new chain.`,
      )
    }
    if ('journal' in value) header = value
    else if ('of' in value) outcomes.set(value.of, value)
    else entries.push(value)
    start = end + 1
  }
  if (header === undefined)
    throw new LocalChainError('journal_corrupt', `${path} has no first line.`)
  return { header, entries, outcomes, size: start }
}

/** An open journal. Not safe for concurrent use: the chain's one writer has it. */
export class Journal {
  readonly #file: FileHandle
  #size: number

  private constructor(file: FileHandle, size: number) {
    this.#file = file
    this.#size = size
  }

  /** Opens a journal to go on after `size` bytes; what lies behind them is a torn write and is cut off. */
  static async open(path: string, size: number): Promise<Journal> {
    const file = await open(path, 'r+')
    await file.truncate(size)
    return new Journal(file, size)
  }

  /** Returns when the entry would survive a loss of power. */
  async record(entry: Entry): Promise<void> {
    await this.#write(lineOf(entry), () => this.#file.datasync())
  }

  async note(outcome: Outcome): Promise<void> {
    await this.#write(lineOf(outcome), () => Promise.resolve())
  }

  async #write(line: string, settle: () => Promise<void>): Promise<void> {
    const bytes = Buffer.from(line)
    try {
      for (let done = 0; done < bytes.length; ) {
        done += (await this.#file.write(bytes, done, bytes.length - done, this.#size + done))
          .bytesWritten
      }
      await settle()
      this.#size += bytes.length
    } catch (cause) {
      // Half a line must not stay: the next one would make it a corrupt line in the middle.
      await this.#file.truncate(this.#size)
      throw cause
    }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
