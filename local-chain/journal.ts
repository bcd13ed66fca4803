import { existsSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { LocalChainError } from './errors.ts'

// A chain is one file: a snapshot in the first line, and a line for each change after it.

const FORMAT = 2

/** All that a chain is at one moment. */
export type Snapshot = {
  /** The time of block 0, in seconds. */
  genesisTime: number
  /** Seconds by which the chain's clock is ahead of the wall clock. */
  offset: number
  /** The hash of the newest block; absent for the genesis. */
  head?: string
  /** Anvil's own dump, in Base64; absent for the genesis. */
  state?: string
  /** Transactions in Anvil's pool, which its dump leaves out; in the order they came. */
  waiting: string[]
}

export type Change =
  /** Transactions that came together, to share a block. */
  | { method: 'eth_sendRawTransaction'; params: string[] }
  /** Blocks, and the seconds between them. */
  | { method: 'evm_mine'; params: [count: number, interval: number] }
  | { method: 'evm_increaseTime'; params: [seconds: number] }
  | { method: 'anvil_setBalance'; params: [address: string, wei: unknown] }

/** A change of the chain, on the disk before Anvil gets it. */
export type Entry = Change & {
  /** The hash of the block before it. */
  parent: string
  /** The time of its block, in seconds. */
  time: number
  offset: number
}

export type JournalContent = { snapshot: Snapshot; entries: Entry[] }

export function journalPath(dir: string): string {
  return join(dir, 'chain.jsonl')
}

/**
 * Copies a chain into another folder, which is made if it is missing: with everything answered so
 * far, also while it is written to. A line that was being written is cut off when the copy is opened.
 */
export async function copyChain(from: string, to: string): Promise<void> {
  await fs.mkdir(to, { recursive: true, mode: 0o700 })
  await fs.copyFile(journalPath(from), journalPath(to))
}

/** An open journal. Not safe for concurrent use: the chain's one writer has it. */
export class Journal {
  /** How many there are since the snapshot. */
  entries: number
  readonly #dir: string
  #file: fs.FileHandle
  #bytes: number

  private constructor(dir: string, file: fs.FileHandle, bytes: number, entries: number) {
    this.#dir = dir
    this.#file = file
    this.#bytes = bytes
    this.entries = entries
  }

  /**
   * Opens the journal of a folder; an empty folder gets a new chain. A last line that is not whole
   * is cut off: nobody got an answer to it.
   * @throws {LocalChainError} `journal_corrupt`, `other_version`
   */
  static async open(dir: string): Promise<{ journal: Journal; content: JournalContent }> {
    const path = journalPath(dir)
    if (!existsSync(path)) await create(dir)
    const { content, bytes } = parse(await fs.readFile(path, 'utf8'), path)
    const file = await fs.open(path, 'a')
    await file.truncate(bytes)
    return { journal: new Journal(dir, file, bytes, content.entries.length), content }
  }

  /** Returns when the entry would survive a loss of power. */
  async append(entry: Entry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`
    try {
      await this.#file.appendFile(line)
      await this.#file.datasync()
    } catch (cause) {
      // Half a line must not stay: the next one would make it a corrupt line in the middle.
      await this.#file.truncate(this.#bytes)
      throw cause
    }
    this.#bytes += Buffer.byteLength(line)
    this.entries += 1
  }

  /** Begins again with a snapshot, which stands for all entries so far. */
  async restart(snapshot: Snapshot): Promise<void> {
    const file = await putInPlace(this.#dir, snapshot)
    await this.#file.close()
    // If this fails, a power cut could bring back the old file, without what comes next. The
    // journal is closed then, and takes no more.
    await syncFolder(this.#dir)
    this.#file = file
    this.#bytes = (await file.stat()).size
    this.entries = 0
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** @throws {LocalChainError} `other_version` for a chain of several files, as it once was */
async function create(dir: string): Promise<void> {
  const names = await fs.readdir(dir)
  if (names.some((name) => /^journal-\d+\.jsonl$/.test(name))) throw otherVersion(dir)
  const genesisTime = Math.floor(Date.now() / 1000)
  const file = await putInPlace(dir, { genesisTime, offset: 0, waiting: [] })
  await file.close()
  await syncFolder(dir)
}

/** After a crash there is the whole of the file, or what was there before. */
async function putInPlace(dir: string, snapshot: Snapshot): Promise<fs.FileHandle> {
  const temporary = `${journalPath(dir)}.tmp`
  await fs.rm(temporary, { force: true })
  const file = await fs.open(temporary, 'a', 0o600)
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, ...snapshot })}\n`)
    await file.sync()
    await fs.rename(temporary, journalPath(dir))
    return file
  } catch (error) {
    await file.close()
    // On a full disk, half a file would take the room that others need.
    await fs.rm(temporary, { force: true })
    throw error
  }
}

/** So that the names in it survive a loss of power. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await fs.open(dir, 'r')
  await folder.sync().finally(() => folder.close())
}

function parse(text: string, path: string): { content: JournalContent; bytes: number } {
  // What follows the last line break was torn, and so may be the line before it.
  const lines = text.split('\n').slice(0, -1)
  if (lines.length > 1 && parseLine(lines.at(-1)) === undefined) lines.pop()
  const values = lines.map(parseLine)
  const damaged = values.length === 0 ? 0 : values.indexOf(undefined)
  if (damaged >= 0)
    throw new LocalChainError(
      'journal_corrupt',
      `Line ${damaged + 1} of ${path} cannot be read, so the disk or a hand has changed the file. Put a copy of it back, or move its directory away to begin with a new chain.`,
    )
  const [{ format, ...snapshot }, ...entries] = values as [
    Snapshot & { format: number },
    ...Entry[],
  ]
  if (format !== FORMAT) throw otherVersion(path)
  return { content: { snapshot, entries }, bytes: Buffer.byteLength(`${lines.join('\n')}\n`) }
}

function parseLine(line = ''): object | undefined {
  try {
    return JSON.parse(line) ?? undefined
  } catch {
    return undefined
  }
}

function otherVersion(path: string): LocalChainError {
  return new LocalChainError(
    'other_version',
    `${path} was written by another version of this service, and is not converted: start with another DATA_DIR, or with the version that wrote it.`,
  )
}
