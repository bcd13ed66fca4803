import { existsSync } from 'node:fs'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { LocalChainError } from './errors.ts'

// A chain is one file: the first line is a snapshot, and each later line is a change.

const FORMAT = 2

/** The complete state of a chain at one moment. */
export type Snapshot = {
  /** The time of block 0, in seconds. */
  genesisTime: number
  /** Seconds that the chain's clock is ahead of the wall clock. */
  offset: number
  /** The hash of the newest block; absent for the genesis. */
  head?: string
  /** Anvil's dump, in Base64; absent for the genesis. */
  state?: string
  /** Transactions in Anvil's pool, which its dump leaves out; in the order of arrival. */
  waiting: string[]
}

export type Change =
  /** Transactions that share a block. */
  | { method: 'eth_sendRawTransaction'; params: string[] }
  /** Blocks, and the seconds between them. */
  | { method: 'evm_mine'; params: [count: number, interval: number] }
  | { method: 'evm_increaseTime'; params: [seconds: number] }
  | { method: 'anvil_setBalance'; params: [address: string, wei: unknown] }

/** A change of the chain; on disk before Anvil gets it. */
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
 * Copies a chain, also one in use, into another folder, which is created if missing. The copy has
 * everything answered so far; opening it cuts off an incomplete last line.
 */
export async function copyChain(from: string, to: string): Promise<void> {
  await fs.mkdir(to, { recursive: true, mode: 0o700 })
  await fs.copyFile(journalPath(from), journalPath(to))
}

/** An open journal. Not safe for concurrent use: only the chain's writer uses it. */
export class Journal {
  /** Number of entries since the snapshot. */
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
   * Opens the journal of a folder; an empty folder gets a new chain. Cuts off an incomplete last
   * line: that change was never acknowledged.
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

  /** Returns once the entry is flushed to disk. */
  async append(entry: Entry): Promise<void> {
    const line = `${JSON.stringify(entry)}\n`
    try {
      await this.#file.appendFile(line)
      await this.#file.datasync()
    } catch (cause) {
      // Remove a partial line: the next entry would turn it into a corrupt line.
      await this.#file.truncate(this.#bytes)
      throw cause
    }
    this.#bytes += Buffer.byteLength(line)
    this.entries += 1
  }

  /** Replaces all entries so far by a snapshot. */
  async restart(snapshot: Snapshot): Promise<void> {
    const file = await putInPlace(this.#dir, snapshot)
    await this.#file.close()
    // If this flush fails, a power cut could bring back the old file without later entries. So the
    // journal then closes.
    await syncFolder(this.#dir)
    this.#file = file
    this.#bytes = (await file.stat()).size
    this.entries = 0
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** @throws {LocalChainError} `other_version` for a chain of several files, the former format */
async function create(dir: string): Promise<void> {
  const names = await fs.readdir(dir)
  if (names.some((name) => /^journal-\d+\.jsonl$/.test(name))) throw otherVersion(dir)
  const genesisTime = Math.floor(Date.now() / 1000)
  const file = await putInPlace(dir, { genesisTime, offset: 0, waiting: [] })
  await file.close()
  await syncFolder(dir)
}

/** After a crash, the file is complete or the previous one. */
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
    // On a full disk, a partial file would waste room that others need.
    await fs.rm(temporary, { force: true })
    throw error
  }
}

/** Flushes a folder, so that the names in it survive a power cut. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await fs.open(dir, 'r')
  await folder.sync().finally(() => folder.close())
}

function parse(text: string, path: string): { content: JournalContent; bytes: number } {
  // Text after the last line break is incomplete; the line before it may be damaged too.
  const lines = text.split('\n').slice(0, -1)
  if (lines.length > 1 && parseLine(lines.at(-1)) === undefined) lines.pop()
  const values = lines.map(parseLine)
  const damaged = values.length === 0 ? 0 : values.indexOf(undefined)
  if (damaged >= 0)
    throw new LocalChainError(
      'journal_corrupt',
      `Line ${damaged + 1} of ${path} is damaged. Restore the file from a copy, or move its directory away to begin with a new chain.`,
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
    `Another version of this service wrote ${path}, and this one does not convert it: start with another DATA_DIR, or with the version that wrote it.`,
  )
}
